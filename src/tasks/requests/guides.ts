/** @file How things are done, in steps; tips; lines for short notes. */

import { phraseRows, phrasesIn } from '../../util/words.ts'

export interface Guide {
  /** After "how do I". */
  doing: string
  steps: readonly string[]
}

export const GUIDES: readonly Guide[] = phraseRows(`
make tea | Boil water | Put the tea into a cup | Pour the water over it | Wait three minutes
boil an egg | Boil water in a pot | Put the egg into it | Wait six minutes | Cool the egg
make a sandwich | Cut the bread | Put butter on it | Add cheese | Close the sandwich
wash my hands | Wet your hands | Take soap | Rub them well | Dry them
plant a tree | Dig a hole | Set the tree into it | Fill the hole with soil | Water the tree
clean a window | Fill a bucket with water | Add some soap | Wipe the glass | Dry it with a cloth
cook rice | Wash the rice | Add water and salt | Let it boil | Wait until it is soft
make a salad | Wash the leaves | Cut the vegetables | Mix them in a bowl | Add oil and salt
light a candle | Set the candle on a plate | Light a match | Hold it to the candle | Put the match out
send a letter | Write the letter | Put it into an envelope | Add a stamp | Take it to the post
change a light bulb | Switch off the light | Take out the old bulb | Put in the new one | Switch on the light
bake bread | Mix flour, water and yeast | Let the dough rise | Heat the oven | Bake it for an hour
water a plant | Fill a can with water | Touch the soil | Pour water if it is dry | Stop when it is wet
pack a bag | Make a list | Lay out your things | Put heavy things below | Close the bag
learn a language | Learn ten words a day | Read short texts | Listen to people | Speak often
sleep better | Go to bed early | Drink no coffee at night | Keep the room dark | Put the phone away
keep basil alive | Give it light | Water it when it is dry | Cut the top leaves | Keep it warm
save money | Write down what you spend | Cook at home | Buy less | Wait before you buy
stay healthy | Eat vegetables | Walk every day | Sleep enough | Drink water
calm down | Sit down | Breathe slowly | Think of something nice | Take your time
`).map(([doing, ...steps]) => ({ doing, steps }))

/** What somebody may be sorry for, after "for". */
export const FAULTS = phrasesIn(`
  being late | the long wait | the wrong order | the broken cup | the noise | the mistake | the delay
  missing the call | forgetting the book | the lost parcel | the cold soup | the short notice
`)

/** What somebody may be invited to, after "to". */
export const INVITATION_OCCASIONS = phrasesIn(`
  the party | the meeting | the dinner | the concert | the wedding | the trip | the game | the picnic
  the show | the lunch | the walk | the course
`)

/** Orders that can be put politely: what is to be done. */
export const ORDERS = phrasesIn(`
  close the door | open the window | send me the file | call me back | turn off the light
  bring me some water | help me with this | wait for me | speak more slowly | pay the bill
  clean the kitchen | write to Anna | move your car | give me the key | sit down | read the report
`)

/** Long sentences with what they come to. */
export const WORDY = phraseRows(`
The weather today is really very nice and warm outside | The weather is nice
I would like to let you know that the meeting is at ten | The meeting is at ten
It seems to me that we should perhaps leave quite soon | We should leave soon
As far as I know the train is going to be late again | The train is late
I just wanted to say that I really like your new house | I like your house
There is a very big black dog in the middle of the garden | A dog is in the garden
At this point in time the shop is not open any more | The shop is closed
We are all very happy about the fact that you are here | We are happy you are here
To be honest I have to say that the soup is much too cold | The soup is too cold
My old car, which I bought years ago, is broken again | My car is broken
In my opinion this is one of the best books of all | This book is very good
Due to the heavy rain the game will not take place | The game is off
`)
