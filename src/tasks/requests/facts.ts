/** @file Facts about everyday things, and questions of yes or no with their reasons. */

import { phraseRows, wordsIn } from '../../util/words.ts'

/** A question with its answer in few words, as a sentence, and one sentence more. */
export interface FactQuestion {
  questions: readonly string[]
  short: string
  sentence: string
  more: string
}

const fact = (questions: readonly string[], short: string, sentence: string, more: string): FactQuestion => ({
  questions,
  short,
  sentence,
  more,
})

const capital = (country: string, city: string, more: string): FactQuestion =>
  fact(
    [`What is the capital of ${country}?`, `Which city is the capital of ${country}?`],
    city,
    `The capital of ${country} is ${city}.`,
    more,
  )
const sound = (animal: string, verb: string): FactQuestion =>
  fact(
    [`What sound does a ${animal} make?`, `How does a ${animal} sound?`],
    `It ${verb}`,
    `A ${animal} ${verb}.`,
    'Every animal has its own voice.',
  )
const legs = (animal: string, count: string): FactQuestion =>
  fact(
    [`How many legs does a ${animal} have?`, `How many legs has a ${animal}?`],
    count,
    `A ${animal} has ${count.toLowerCase()} legs.`,
    'It needs them to walk.',
  )
const opposite = (a: string, b: string): FactQuestion =>
  fact(
    [`What is the opposite of ${a}?`, `Which word means the opposite of ${a}?`],
    `${b.charAt(0).toUpperCase()}${b.slice(1)}`,
    `The opposite of ${a} is ${b}.`,
    'Both words are used every day.',
  )
const colour = (thing: string, said: string, more: string): FactQuestion =>
  fact(
    [`What colour is ${thing}?`, `Which colour does ${thing} have?`],
    `${said.charAt(0).toUpperCase()}${said.slice(1)}`,
    `${thing.charAt(0).toUpperCase()}${thing.slice(1)} is ${said}.`,
    more,
  )

/** Two questions, the answer in few words and as a sentence, and one sentence more. */
const PLAIN_FACTS = `
How many days are in a week? | How many days does a week have? | Seven | A week has seven days. | Monday is the first of them.
How many months are in a year? | How many months does a year have? | Twelve | A year has twelve months. | January is the first of them.
How many hours are in a day? | How many hours does a day have? | Twenty-four | A day has twenty-four hours. | Most people sleep for eight of them.
How many minutes are in an hour? | How many minutes does an hour have? | Sixty | An hour has sixty minutes. | Every minute has sixty seconds.
What is ice made of? | What does ice become when it melts? | Water | Ice is frozen water. | It melts when it gets warm.
What do bees make? | What do we get from bees? | Honey | Bees make honey. | They live together in a hive.
What do cows give us? | What do we drink that comes from cows? | Milk | Cows give us milk. | Cheese is made of it.
What do plants need to grow? | What does a plant need? | Water and light | Plants need water and light to grow. | Most of them need soil, too.
Which season comes after winter? | What comes after winter? | Spring | Spring comes after winter. | Then the days get longer.
Which season comes after summer? | What comes after summer? | Autumn | Autumn comes after summer. | Then the leaves fall.
Which day comes after Monday? | What day is it after Monday? | Tuesday | Tuesday comes after Monday. | It is the second day of the week.
Which day comes after Friday? | What day is it after Friday? | Saturday | Saturday comes after Friday. | Then the weekend begins.
Which animal is the largest? | What is the largest animal? | The blue whale | The largest animal is the blue whale. | It lives in the sea.
Which animal has a long trunk? | What animal has a trunk? | The elephant | The elephant has a long trunk. | It drinks and eats with it.
Where do fish live? | Where does a fish live? | In water | Fish live in water. | They breathe with gills.
What do we see with? | What do people see with? | Our eyes | We see with our eyes. | Some people wear glasses.
What do we hear with? | What do people hear with? | Our ears | We hear with our ears. | Loud noise can hurt them.
What is bread made of? | What do you need for bread? | Flour and water | Bread is made of flour and water. | Yeast makes it rise.
What is an umbrella for? | What do you use an umbrella for? | To stay dry | An umbrella keeps you dry in the rain. | Take one when the sky is dark.
What is a clock for? | What do you use a clock for? | To tell the time | A clock tells you the time. | Most clocks have two hands.
What is a key for? | What do you use a key for? | To open a lock | A key opens a lock. | Keep it in a safe place.
What is soap for? | What do you use soap for? | To wash | Soap is for washing. | It takes away dirt.
Which planet do we live on? | What is the name of our planet? | Earth | We live on the planet Earth. | It goes round the sun in a year.
What shines at night? | What do you see in the sky at night? | The moon and the stars | The moon and the stars shine at night. | The moon goes round the Earth.
`

export const FACTS: readonly FactQuestion[] = [
  colour('the sky', 'blue', 'At night it is dark.'),
  colour('grass', 'green', 'In a dry summer it turns yellow.'),
  colour('snow', 'white', 'It melts when it gets warm.'),
  colour('coal', 'black', 'People burn it for heat.'),
  colour('a lemon', 'yellow', 'It tastes sour.'),
  colour('blood', 'red', 'The heart pumps it through the body.'),
  capital('France', 'Paris', 'It lies on the Seine.'),
  capital('Germany', 'Berlin', 'It lies on the Spree.'),
  capital('Italy', 'Rome', 'It is a very old city.'),
  capital('Spain', 'Madrid', 'It lies in the middle of the country.'),
  capital('Japan', 'Tokyo', 'It is one of the largest cities.'),
  capital('Norway', 'Oslo', 'It lies by the sea.'),
  capital('Egypt', 'Cairo', 'It lies on the Nile.'),
  capital('Austria', 'Vienna', 'It lies on the Danube.'),
  capital('Portugal', 'Lisbon', 'It lies by the sea.'),
  capital('Greece', 'Athens', 'It is a very old city.'),
  capital('Peru', 'Lima', 'It lies by the sea.'),
  capital('England', 'London', 'It lies on the Thames.'),
  sound('dog', 'barks'),
  sound('cat', 'meows'),
  sound('cow', 'moos'),
  sound('horse', 'neighs'),
  sound('duck', 'quacks'),
  sound('lion', 'roars'),
  legs('spider', 'Eight'),
  legs('dog', 'Four'),
  legs('bird', 'Two'),
  legs('bee', 'Six'),
  legs('snake', 'No'),
  opposite('hot', 'cold'),
  opposite('big', 'small'),
  opposite('old', 'young'),
  opposite('fast', 'slow'),
  opposite('light', 'dark'),
  opposite('early', 'late'),
  opposite('happy', 'sad'),
  opposite('full', 'empty'),
  ...phraseRows(PLAIN_FACTS).map(([ask, again, short, sentence, more]) =>
    fact([ask, again], short, sentence, more),
  ),
]

/** A question of yes or no, the answer, and why. */
export interface YesNo {
  question: string
  yes: boolean
  reason: string
}

export const YES_NO: readonly YesNo[] = phraseRows(`
Is a whale a fish? | no | a whale is a mammal
Can penguins fly? | no | their wings are too small
Is ice cold? | yes | it is frozen water
Is the sun a star? | yes | it makes its own light
Can a dog read? | no | dogs do not know letters
Is a tomato a fruit? | yes | it has seeds inside
Is water dry? | no | water is wet
Do birds lay eggs? | yes | their young hatch from them
Can fish breathe in water? | yes | they have gills
Is a spider an insect? | no | it has eight legs
Is gold a metal? | yes | it is hard and shines
Can you eat stones? | no | they are too hard
Is milk black? | no | milk is white
Is winter cold? | yes | the sun is low
Is fire hot? | yes | it burns
Should I wear a coat in winter? | yes | it is cold outside
Should I drive when I am tired? | no | it is dangerous
Should I drink water every day? | yes | your body needs it
Should I look into the sun? | no | it hurts your eyes
Should I sleep at night? | yes | your body needs rest
Is a bike faster than a car? | no | a car has an engine
Do trees have leaves? | yes | they catch light with them
Can cats climb trees? | yes | they have sharp claws
Is sugar sour? | no | sugar is sweet
`).map(([question, answer, reason]) => ({ question, yes: answer === 'yes', reason }))

/** Things by size, from small to large. */
export const BY_SIZE = wordsIn('ant bee mouse frog rabbit cat dog goat lion horse bear elephant whale')
