/** @file Words, names and phrases that requests and instructions of the generator are filled with. */

import { phrasesIn } from '../../util/words.ts'

/** Words that an answer may be asked to use, whatever it is about. */
export const COMMON_WORDS = phrasesIn(
  `river|happy|simple|green|friend|quiet|story|bright|always|idea|garden|morning|secret|journey|gentle|promise|answer|window|number|music|careful|remember|future|village|silver`,
)

/** Words that answers to nearly all requests would use. */
export const LIKELY_WORDS = phrasesIn(
  `also|just|make|very|good|great|help|important|life|many|people|really|thing|time|will|with|first|feel|world|because|different|small|know|find|place`,
)
export const END_PHRASES = phrasesIn(
  `That is the whole story.|Good luck with it!|See you next week.|And that was that.|What would you have done?|More about this tomorrow.|Over to you.|Now it is your turn!|Take care of yourself.|Nobody knows for sure.|Best wishes from all of us.|Ask me anything.|This is where I stop.|Thanks for your time.|So it goes.|Until then, goodbye.|Try it and tell me how it went.|I hope this helps a little.`,
)

/** Of parts of a text, before their numbers. */
export const SECTION_NAMES = phrasesIn(`Part|Section|Chapter|Step|Day|PART|SECTION|Lesson|Scene|Point`)
export const INSTRUCTION_NAMES = phrasesIn(
  `Anna|Ben|Clara|David|Elena|Frank|Grace|Hugo|Irene|James|Karin|Lucas|Maria|Noah|Olga|Peter|Amir|Chen|Fatima|Jonas|Priya|Rosa|Tomas|Yuki`,
)
export const INSTRUCTION_DAYS = phrasesIn(`Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday`)
export const INSTRUCTION_PLACES = phrasesIn(
  `the library|the town hall|the school gym|the old station|room 12|the garden|the museum|the beach|the office|the park|the harbour|the community centre`,
)
export const EVENTS = phrasesIn(
  `meeting|picnic|concert|dinner|workshop|book club|chess evening|training session|birthday party|reading|film night|flea market`,
)
export const THINGS = phrasesIn(
  `desk lamp|bicycle|backpack|wooden chair|kettle|guitar|rain jacket|camera|tent|coffee machine|headphones case|toaster`,
)
export const INSTRUCTION_COLOURS = phrasesIn(`red|blue|green|black|white|yellow|grey|orange`)
export const INSTRUCTION_JOBS = phrasesIn(
  `nurse|carpenter|bus driver|teacher|gardener|shop assistant|software developer|cook|librarian|electrician`,
)

/** Before a request: who asks, or who is to answer. */
export const LEADS = phrasesIn(
  `I am a {job}.|You are a {job}.|Answer as a {job} would.|Imagine that you are a pirate.|Hello!|Hi there.|Quick question.|I have a favour to ask.|This is for my homework.|You are a patient grandfather.|My English is not perfect.|I am twelve years old.|Good morning.|I am preparing for an exam.|You write for a small newspaper.|I need this by tonight.|You are a robot that wants to be a poet.|We are a small company.`,
)
export const INSTRUCTION_READERS = phrasesIn(
  `a five-year-old|my grandmother|a new colleague|a tourist|my class|a busy manager|someone who has never heard of it|our neighbours|a teenager`,
)
export const TONES = phrasesIn(
  `funny|serious|cheerful|sad|formal|friendly|mysterious|old-fashioned|calm|enthusiastic|sarcastic`,
)

/** To be rewritten, answered or asked about. */
export const PASSAGES = phrasesIn(`
The shop on the corner closes early on Sundays because the owner sings in a choir.
Your parcel could not be delivered, as nobody opened the door of the house.
We regret that the lift will be out of order until the technicians have found the fault.
The children painted the wall of the garage yellow while their father was asleep.
Please remember to water the tomatoes and close the greenhouse before it gets dark.
Our team lost the final, but the coach was proud of every single player.
The soup was cold, the waiter was friendly, and the dessert made up for everything.
It has rained for nine days, and the river has reached the second step of the bridge.
I forgot my umbrella on the train, and the conductor sent it back with a drawing of the driver.
The museum will show two hundred letters that a soldier wrote to his sister.
The meeting took three hours and ended without a decision about the new printers.
Mr. Alvarez grows the largest pumpkins in the county and gives most of them away.
A fox has moved into the old cinema, and the neighbours bring it leftovers at night.
The ferry leaves at dawn, crosses the strait in forty minutes, and returns with fish and newspapers.
Students who hand in their essays late lose one point for each day, unless they were ill.
My phone fell into the lake, and a diver found it, still ringing, a week later.`)
