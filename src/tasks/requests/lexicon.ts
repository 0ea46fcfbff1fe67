/** @file Things by category, for requests that ask for some of them. */

import type { Rng } from '../../util/rng.ts'
import { phraseRows, wordsIn } from '../../util/words.ts'

export interface Category {
  /** What one of them is called, and several. */
  one: string
  many: string
  members: readonly string[]
}

export const CATEGORIES: readonly Category[] = phraseRows(`
fruit | fruits | apple pear plum banana cherry orange lemon grape peach mango melon kiwi fig strawberry
vegetable | vegetables | carrot onion potato tomato cabbage leek pea bean spinach pumpkin radish cucumber celery
animal | animals | dog cat horse cow sheep lion bear wolf fox mouse rabbit elephant tiger goat whale frog
bird | birds | robin owl eagle crow swan duck goose sparrow parrot penguin hawk stork pigeon
colour | colours | red blue green yellow black white brown pink purple grey orange silver
country | countries | France Spain Italy Germany Japan China India Brazil Canada Mexico Egypt Kenya Norway Peru
city | cities | Paris London Rome Berlin Madrid Tokyo Delhi Cairo Lima Oslo Vienna Lisbon Athens Boston
river | rivers | Nile Rhine Danube Amazon Thames Seine Volga Ganges Congo Loire Elbe Mississippi
sport | sports | tennis football rowing swimming running chess hockey boxing skiing golf cycling judo
tool | tools | hammer saw drill axe spade rake file knife ruler brush ladder wrench pliers
drink | drinks | water milk tea coffee juice lemonade cocoa cider soda beer wine
piece of furniture | pieces of furniture | table chair bed sofa desk shelf bench stool wardrobe cupboard lamp
musical instrument | musical instruments | piano guitar violin flute drum trumpet harp cello organ banjo clarinet
job | jobs | teacher doctor baker farmer nurse driver painter cook pilot judge plumber writer sailor
flower | flowers | rose tulip lily daisy violet poppy orchid iris dahlia sunflower carnation
tree | trees | oak birch pine maple elm ash beech willow cedar palm larch poplar
thing to wear | things to wear | coat hat scarf shirt dress skirt socks shoes boots gloves jacket belt
thing to pack for a trip | things to pack for a trip | tent torch map rope soap towel water bread blanket compass candle matches lantern camera
thing for school | things for school | pen pencil paper book ruler bag eraser glue scissors notebook crayons
dish | dishes | soup pasta pizza salad curry stew rice omelette pancakes risotto pie burger
`).map(([one, many, members]) => ({ one, many, members: wordsIn(members) }))

/** First names in texts and stories. */
export const NAMES: readonly string[] = wordsIn(`
  Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Karla Leo Mia Nils Olga Paul Rosa Sam Tina Vera Wim
  Yara
`)

/** Things that somebody in a story has, with the colour that stands before them. */
export const BELONGINGS = wordsIn('bike car house boat hat coat bag cup chair door scarf ball book kite tent')

export const PETS = wordsIn('dog cat horse rabbit parrot goat mouse duck frog goose')

export const PLACES: readonly string[] = wordsIn(`
  Paris London Rome Berlin Madrid Tokyo Delhi Cairo Lima Oslo Vienna Lisbon Athens Boston
`)

export const COLOURS = wordsIn('red blue green yellow black white brown pink grey')

export const FOODS = wordsIn('soup pasta pizza salad curry rice bread cheese apples cake pears pancakes')

export const JOBS = wordsIn('teacher doctor baker farmer nurse driver painter cook pilot plumber writer')

export const DAYS = wordsIn('Monday Tuesday Wednesday Thursday Friday Saturday Sunday')

/** The number in words, from none to twelve. */
export const NUMBER_WORDS = wordsIn('zero one two three four five six seven eight nine ten eleven twelve')

const SYLLABLES = wordsIn('ba do fi ga lu me no po ra su ti vo ze ku wa han kel mor sin tul bri gra plo')

/** A word that means nothing. */
export const madeUp = (rng: Rng): string =>
  Array.from({ length: 2 + rng.int(2) }, () => rng.pick(SYLLABLES)).join('')

/** "a, b and c". */
export const joined = (items: readonly string[], last = 'and'): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

/** "a" or "an" before a word, by its first letter. */
export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`
