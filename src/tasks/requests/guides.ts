/** @file How things are done, in steps; tips; lines for short notes. */

export interface Guide {
  /** After "how do I". */
  doing: string
  steps: readonly string[]
}

export const GUIDES: readonly Guide[] = [
  {
    doing: 'make tea',
    steps: ['Boil water', 'Put the tea into a cup', 'Pour the water over it', 'Wait three minutes'],
  },
  {
    doing: 'boil an egg',
    steps: ['Boil water in a pot', 'Put the egg into it', 'Wait six minutes', 'Cool the egg'],
  },
  {
    doing: 'make a sandwich',
    steps: ['Cut the bread', 'Put butter on it', 'Add cheese', 'Close the sandwich'],
  },
  { doing: 'wash my hands', steps: ['Wet your hands', 'Take soap', 'Rub them well', 'Dry them'] },
  {
    doing: 'plant a tree',
    steps: ['Dig a hole', 'Set the tree into it', 'Fill the hole with soil', 'Water the tree'],
  },
  {
    doing: 'clean a window',
    steps: ['Fill a bucket with water', 'Add some soap', 'Wipe the glass', 'Dry it with a cloth'],
  },
  {
    doing: 'cook rice',
    steps: ['Wash the rice', 'Add water and salt', 'Let it boil', 'Wait until it is soft'],
  },
  {
    doing: 'make a salad',
    steps: ['Wash the leaves', 'Cut the vegetables', 'Mix them in a bowl', 'Add oil and salt'],
  },
  {
    doing: 'light a candle',
    steps: ['Set the candle on a plate', 'Light a match', 'Hold it to the candle', 'Put the match out'],
  },
  {
    doing: 'send a letter',
    steps: ['Write the letter', 'Put it into an envelope', 'Add a stamp', 'Take it to the post'],
  },
  {
    doing: 'change a light bulb',
    steps: ['Switch off the light', 'Take out the old bulb', 'Put in the new one', 'Switch on the light'],
  },
  {
    doing: 'bake bread',
    steps: ['Mix flour, water and yeast', 'Let the dough rise', 'Heat the oven', 'Bake it for an hour'],
  },
  {
    doing: 'water a plant',
    steps: ['Fill a can with water', 'Touch the soil', 'Pour water if it is dry', 'Stop when it is wet'],
  },
  {
    doing: 'pack a bag',
    steps: ['Make a list', 'Lay out your things', 'Put heavy things below', 'Close the bag'],
  },
  {
    doing: 'learn a language',
    steps: ['Learn ten words a day', 'Read short texts', 'Listen to people', 'Speak often'],
  },
  {
    doing: 'sleep better',
    steps: ['Go to bed early', 'Drink no coffee at night', 'Keep the room dark', 'Put the phone away'],
  },
  {
    doing: 'keep basil alive',
    steps: ['Give it light', 'Water it when it is dry', 'Cut the top leaves', 'Keep it warm'],
  },
  {
    doing: 'save money',
    steps: ['Write down what you spend', 'Cook at home', 'Buy less', 'Wait before you buy'],
  },
  { doing: 'stay healthy', steps: ['Eat vegetables', 'Walk every day', 'Sleep enough', 'Drink water'] },
  { doing: 'calm down', steps: ['Sit down', 'Breathe slowly', 'Think of something nice', 'Take your time'] },
]

/** What somebody may be sorry for, after "for". */
export const FAULTS = [
  'being late',
  'the long wait',
  'the wrong order',
  'the broken cup',
  'the noise',
  'the mistake',
  'the delay',
  'missing the call',
  'forgetting the book',
  'the lost parcel',
  'the cold soup',
  'the short notice',
] as const

/** What somebody may be invited to, after "to". */
export const INVITATION_OCCASIONS = [
  'the party',
  'the meeting',
  'the dinner',
  'the concert',
  'the wedding',
  'the trip',
  'the game',
  'the picnic',
  'the show',
  'the lunch',
  'the walk',
  'the course',
] as const

/** Orders that can be put politely: what is to be done. */
export const ORDERS = [
  'close the door',
  'open the window',
  'send me the file',
  'call me back',
  'turn off the light',
  'bring me some water',
  'help me with this',
  'wait for me',
  'speak more slowly',
  'pay the bill',
  'clean the kitchen',
  'write to Anna',
  'move your car',
  'give me the key',
  'sit down',
  'read the report',
] as const

/** Long sentences with what they come to. */
export const WORDY: readonly (readonly [long: string, short: string])[] = [
  ['The weather today is really very nice and warm outside', 'The weather is nice'],
  ['I would like to let you know that the meeting is at ten', 'The meeting is at ten'],
  ['It seems to me that we should perhaps leave quite soon', 'We should leave soon'],
  ['As far as I know the train is going to be late again', 'The train is late'],
  ['I just wanted to say that I really like your new house', 'I like your house'],
  ['There is a very big black dog in the middle of the garden', 'A dog is in the garden'],
  ['At this point in time the shop is not open any more', 'The shop is closed'],
  ['We are all very happy about the fact that you are here', 'We are happy you are here'],
  ['To be honest I have to say that the soup is much too cold', 'The soup is too cold'],
  ['My old car, which I bought years ago, is broken again', 'My car is broken'],
  ['In my opinion this is one of the best books of all', 'This book is very good'],
  ['Due to the heavy rain the game will not take place', 'The game is off'],
]
