/** @file Things by category, for requests that ask for some of them. */

import type { Rng } from '../../util/rng.ts'

export interface Category {
  /** What one of them is called, and several. */
  one: string
  many: string
  members: readonly string[]
}

const words = (text: string): string[] => text.trim().split(/\s*,\s*/)

export const CATEGORIES: readonly Category[] = [
  {
    ...{ one: 'fruit', many: 'fruits' },
    members: words(
      'apple, pear, plum, banana, cherry, orange, lemon, grape, peach, mango, melon, kiwi, fig, strawberry',
    ),
  },
  {
    ...{ one: 'vegetable', many: 'vegetables' },
    members: words(
      'carrot, onion, potato, tomato, cabbage, leek, pea, bean, spinach, pumpkin, radish, cucumber, celery',
    ),
  },
  {
    ...{ one: 'animal', many: 'animals' },
    members: words(
      'dog, cat, horse, cow, sheep, lion, bear, wolf, fox, mouse, rabbit, elephant, tiger, goat, whale, frog',
    ),
  },
  {
    ...{ one: 'bird', many: 'birds' },
    members: words(
      'robin, owl, eagle, crow, swan, duck, goose, sparrow, parrot, penguin, hawk, stork, pigeon',
    ),
  },
  {
    ...{ one: 'colour', many: 'colours' },
    members: words('red, blue, green, yellow, black, white, brown, pink, purple, grey, orange, silver'),
  },
  {
    ...{ one: 'country', many: 'countries' },
    members: words(
      'France, Spain, Italy, Germany, Japan, China, India, Brazil, Canada, Mexico, Egypt, Kenya, Norway, Peru',
    ),
  },
  {
    ...{ one: 'city', many: 'cities' },
    members: words(
      'Paris, London, Rome, Berlin, Madrid, Tokyo, Delhi, Cairo, Lima, Oslo, Vienna, Lisbon, Athens, Boston',
    ),
  },
  {
    ...{ one: 'river', many: 'rivers' },
    members: words(
      'Nile, Rhine, Danube, Amazon, Thames, Seine, Volga, Ganges, Congo, Loire, Elbe, Mississippi',
    ),
  },
  {
    ...{ one: 'sport', many: 'sports' },
    members: words(
      'tennis, football, rowing, swimming, running, chess, hockey, boxing, skiing, golf, cycling, judo',
    ),
  },
  {
    ...{ one: 'tool', many: 'tools' },
    members: words('hammer, saw, drill, axe, spade, rake, file, knife, ruler, brush, ladder, wrench, pliers'),
  },
  {
    ...{ one: 'drink', many: 'drinks' },
    members: words('water, milk, tea, coffee, juice, lemonade, cocoa, cider, soda, beer, wine'),
  },
  {
    ...{ one: 'piece of furniture', many: 'pieces of furniture' },
    members: words('table, chair, bed, sofa, desk, shelf, bench, stool, wardrobe, cupboard, lamp'),
  },
  {
    ...{ one: 'musical instrument', many: 'musical instruments' },
    members: words('piano, guitar, violin, flute, drum, trumpet, harp, cello, organ, banjo, clarinet'),
  },
  {
    ...{ one: 'job', many: 'jobs' },
    members: words(
      'teacher, doctor, baker, farmer, nurse, driver, painter, cook, pilot, judge, plumber, writer, sailor',
    ),
  },
  {
    ...{ one: 'flower', many: 'flowers' },
    members: words('rose, tulip, lily, daisy, violet, poppy, orchid, iris, dahlia, sunflower, carnation'),
  },
  {
    ...{ one: 'tree', many: 'trees' },
    members: words('oak, birch, pine, maple, elm, ash, beech, willow, cedar, palm, larch, poplar'),
  },
  {
    ...{ one: 'thing to wear', many: 'things to wear' },
    members: words('coat, hat, scarf, shirt, dress, skirt, socks, shoes, boots, gloves, jacket, belt'),
  },
  {
    ...{ one: 'thing to pack for a trip', many: 'things to pack for a trip' },
    members: words(
      'tent, torch, map, rope, soap, towel, water, bread, blanket, compass, candle, matches, lantern, camera',
    ),
  },
  {
    ...{ one: 'thing for school', many: 'things for school' },
    members: words('pen, pencil, paper, book, ruler, bag, eraser, glue, scissors, notebook, crayons'),
  },
  {
    ...{ one: 'dish', many: 'dishes' },
    members: words('soup, pasta, pizza, salad, curry, stew, rice, omelette, pancakes, risotto, pie, burger'),
  },
]

/** First names in texts and stories. */
export const NAMES = words(
  'Anna, Ben, Clara, David, Emma, Felix, Greta, Hugo, Ida, Jonas, Karla, Leo, Mia, Nils, Olga, Paul, Rosa, Sam, Tina, Vera, Wim, Yara',
)

/** Things that somebody in a story has, with the colour that stands before them. */
export const BELONGINGS = words(
  'bike, car, house, boat, hat, coat, bag, cup, chair, door, scarf, ball, book, kite, tent',
)

export const PETS = words('dog, cat, horse, rabbit, parrot, goat, mouse, duck, frog, goose')

export const PLACES = words(
  'Paris, London, Rome, Berlin, Madrid, Tokyo, Delhi, Cairo, Lima, Oslo, Vienna, Lisbon, Athens, Boston',
)

export const COLOURS = words('red, blue, green, yellow, black, white, brown, pink, grey')

export const FOODS = words(
  'soup, pasta, pizza, salad, curry, rice, bread, cheese, apples, cake, pears, pancakes',
)

export const JOBS = words(
  'teacher, doctor, baker, farmer, nurse, driver, painter, cook, pilot, plumber, writer',
)

export const DAYS = words('Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday')

/** The number in words, from none to twelve. */
export const NUMBER_WORDS = words(
  'zero, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve',
)

const SYLLABLES = words(
  'ba, do, fi, ga, lu, me, no, po, ra, su, ti, vo, ze, ku, wa, han, kel, mor, sin, tul, bri, gra, plo',
)

/** A word that means nothing. */
export const madeUp = (rng: Rng): string =>
  Array.from({ length: 2 + rng.int(2) }, () => rng.pick(SYLLABLES)).join('')

/** "a, b and c". */
export const joined = (items: readonly string[], last = 'and'): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

/** "a" or "an" before a word, by its first letter. */
export const withArticle = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`
