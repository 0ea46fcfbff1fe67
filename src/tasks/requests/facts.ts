/** @file Facts about everyday things, and questions of yes or no with their reasons. */

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
  fact(
    ['How many days are in a week?', 'How many days does a week have?'],
    'Seven',
    'A week has seven days.',
    'Monday is the first of them.',
  ),
  fact(
    ['How many months are in a year?', 'How many months does a year have?'],
    'Twelve',
    'A year has twelve months.',
    'January is the first of them.',
  ),
  fact(
    ['How many hours are in a day?', 'How many hours does a day have?'],
    'Twenty-four',
    'A day has twenty-four hours.',
    'Most people sleep for eight of them.',
  ),
  fact(
    ['How many minutes are in an hour?', 'How many minutes does an hour have?'],
    'Sixty',
    'An hour has sixty minutes.',
    'Every minute has sixty seconds.',
  ),
  fact(
    ['What is ice made of?', 'What does ice become when it melts?'],
    'Water',
    'Ice is frozen water.',
    'It melts when it gets warm.',
  ),
  fact(
    ['What do bees make?', 'What do we get from bees?'],
    'Honey',
    'Bees make honey.',
    'They live together in a hive.',
  ),
  fact(
    ['What do cows give us?', 'What do we drink that comes from cows?'],
    'Milk',
    'Cows give us milk.',
    'Cheese is made of it.',
  ),
  fact(
    ['What do plants need to grow?', 'What does a plant need?'],
    'Water and light',
    'Plants need water and light to grow.',
    'Most of them need soil, too.',
  ),
  fact(
    ['Which season comes after winter?', 'What comes after winter?'],
    'Spring',
    'Spring comes after winter.',
    'Then the days get longer.',
  ),
  fact(
    ['Which season comes after summer?', 'What comes after summer?'],
    'Autumn',
    'Autumn comes after summer.',
    'Then the leaves fall.',
  ),
  fact(
    ['Which day comes after Monday?', 'What day is it after Monday?'],
    'Tuesday',
    'Tuesday comes after Monday.',
    'It is the second day of the week.',
  ),
  fact(
    ['Which day comes after Friday?', 'What day is it after Friday?'],
    'Saturday',
    'Saturday comes after Friday.',
    'Then the weekend begins.',
  ),
  fact(
    ['Which animal is the largest?', 'What is the largest animal?'],
    'The blue whale',
    'The largest animal is the blue whale.',
    'It lives in the sea.',
  ),
  fact(
    ['Which animal has a long trunk?', 'What animal has a trunk?'],
    'The elephant',
    'The elephant has a long trunk.',
    'It drinks and eats with it.',
  ),
  fact(
    ['Where do fish live?', 'Where does a fish live?'],
    'In water',
    'Fish live in water.',
    'They breathe with gills.',
  ),
  fact(
    ['What do we see with?', 'What do people see with?'],
    'Our eyes',
    'We see with our eyes.',
    'Some people wear glasses.',
  ),
  fact(
    ['What do we hear with?', 'What do people hear with?'],
    'Our ears',
    'We hear with our ears.',
    'Loud noise can hurt them.',
  ),
  fact(
    ['What is bread made of?', 'What do you need for bread?'],
    'Flour and water',
    'Bread is made of flour and water.',
    'Yeast makes it rise.',
  ),
  fact(
    ['What is an umbrella for?', 'What do you use an umbrella for?'],
    'To stay dry',
    'An umbrella keeps you dry in the rain.',
    'Take one when the sky is dark.',
  ),
  fact(
    ['What is a clock for?', 'What do you use a clock for?'],
    'To tell the time',
    'A clock tells you the time.',
    'Most clocks have two hands.',
  ),
  fact(
    ['What is a key for?', 'What do you use a key for?'],
    'To open a lock',
    'A key opens a lock.',
    'Keep it in a safe place.',
  ),
  fact(
    ['What is soap for?', 'What do you use soap for?'],
    'To wash',
    'Soap is for washing.',
    'It takes away dirt.',
  ),
  fact(
    ['Which planet do we live on?', 'What is the name of our planet?'],
    'Earth',
    'We live on the planet Earth.',
    'It goes round the sun in a year.',
  ),
  fact(
    ['What shines at night?', 'What do you see in the sky at night?'],
    'The moon and the stars',
    'The moon and the stars shine at night.',
    'The moon goes round the Earth.',
  ),
]

/** A question of yes or no, the answer, and why. */
export interface YesNo {
  question: string
  yes: boolean
  reason: string
}

const yesNo = (question: string, yes: boolean, reason: string): YesNo => ({ question, yes, reason })

export const YES_NO: readonly YesNo[] = [
  yesNo('Is a whale a fish?', false, 'a whale is a mammal'),
  yesNo('Can penguins fly?', false, 'their wings are too small'),
  yesNo('Is ice cold?', true, 'it is frozen water'),
  yesNo('Is the sun a star?', true, 'it makes its own light'),
  yesNo('Can a dog read?', false, 'dogs do not know letters'),
  yesNo('Is a tomato a fruit?', true, 'it has seeds inside'),
  yesNo('Is water dry?', false, 'water is wet'),
  yesNo('Do birds lay eggs?', true, 'their young hatch from them'),
  yesNo('Can fish breathe in water?', true, 'they have gills'),
  yesNo('Is a spider an insect?', false, 'it has eight legs'),
  yesNo('Is gold a metal?', true, 'it is hard and shines'),
  yesNo('Can you eat stones?', false, 'they are too hard'),
  yesNo('Is milk black?', false, 'milk is white'),
  yesNo('Is winter cold?', true, 'the sun is low'),
  yesNo('Is fire hot?', true, 'it burns'),
  yesNo('Should I wear a coat in winter?', true, 'it is cold outside'),
  yesNo('Should I drive when I am tired?', false, 'it is dangerous'),
  yesNo('Should I drink water every day?', true, 'your body needs it'),
  yesNo('Should I look into the sun?', false, 'it hurts your eyes'),
  yesNo('Should I sleep at night?', true, 'your body needs rest'),
  yesNo('Is a bike faster than a car?', false, 'a car has an engine'),
  yesNo('Do trees have leaves?', true, 'they catch light with them'),
  yesNo('Can cats climb trees?', true, 'they have sharp claws'),
  yesNo('Is sugar sour?', false, 'sugar is sweet'),
]

/** Things by size, from small to large. */
export const BY_SIZE: readonly string[] = [
  'ant',
  'bee',
  'mouse',
  'frog',
  'rabbit',
  'cat',
  'dog',
  'goat',
  'lion',
  'horse',
  'bear',
  'elephant',
  'whale',
]
