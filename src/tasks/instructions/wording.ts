/** @file Prompts: what kinds of instructions ask for, said in one of many ways, before, after or within a request. */

import { capitalised } from '../../util/format.ts'
import type { Rng } from '../../util/rng.ts'
import { phrasesIn } from '../../util/words.ts'
import phrasings from './phrasings.json' with { type: 'json' }

/** Ways to ask for a kind of instruction. */
interface Phrasings {
  /** What to do: `use no commas`. */
  doing: readonly string[]
  /** What should be so: `commas are forbidden`. */
  being: readonly string[]
  /** How: `without a single comma`. */
  how: readonly string[]
}

/** By public id, in this project's own words. */
const PHRASINGS: ReadonlyMap<string, Phrasings> = new Map(Object.entries(phrasings))

type Gaps = Readonly<Record<string, string>>

/** An instruction as a sentence of its own, and as a part of another one where it can be that. */
export interface Saying {
  sentence: string
  /** `without a single comma`; null where it has to be a sentence. */
  how: string | null
}

/** Around what to do, around what should be so, and around how; a blank frame counts as often as it stands there. */
const FRAMES = {
  doing:
    '{}|{}|{}|{}|please {}|please {}|make sure you {}|it is important that you {}|I ask that you {}|remember: {}|one condition: {}|see to it that you {}|important: {}|if you can, {}|it would help me if you could {}|one more thing: {}',
  being:
    '{}|{}|{}|{}|note that {}|one rule: {}|keep in mind that {}|the condition is that {}|please note: {}|mind you, {}|it matters that {}|I forgot to say that {}|for technical reasons {}|my teacher says that {}',
  how: 'answer {}|please answer {}|I want it {}|do it {}|I need this {}|write {}|it should come {}|{}, please',
}

/** With a mark at its end; what ends in an example on a line of its own, or in a mark, stays as it is. */
const ended = (text: string): string => (text.includes('\n') || /[.!?]["')]?$/.test(text) ? text : `${text}.`)

const filled = (text: string, gaps: Gaps): string =>
  text.replace(/\{(\w+)\}/g, (whole, gap: string) => gaps[gap] ?? whole)

/** Not all frames go with all texts: those behind which more comes, that want a verb's first form, or a whole sentence. */
const suits = (frame: string, text: string): boolean =>
  (frame.endsWith('{}') || !/\n|\W$/.test(text)) &&
  !(frame.includes('could') && /^(?:do not|never)\b/.test(text)) &&
  !(frame.includes(' that ') && /^[\w ]+: /.test(text))

const framed = (rng: Rng, form: keyof typeof FRAMES, text: string): string => {
  const frames = FRAMES[form].split('|').filter(frame => suits(frame, text))
  return ended(capitalised(rng.pick(frames).replace('{}', () => text)))
}

/** @param gaps what the phrasing's gaps are filled with */
export const sayingOf = (rng: Rng, id: string, gaps: Gaps): Saying => {
  const ways = PHRASINGS.get(id)!
  const forms = (['doing', 'being', 'how'] as const).filter(form => ways[form].length > 0)
  const form = rng.pick(forms)
  const text = filled(rng.pick(ways[form]), gaps)
  return { sentence: framed(rng, form, text), how: form === 'how' ? text : null }
}

/** One after the other; what comes behind several lines begins a line. */
const inLine = (parts: readonly string[]): string =>
  parts.reduce((text, part) => `${text}${text.includes('\n') ? '\n' : ' '}${part}`)

const LIST_HEADS = phrasesIn(
  'Rules:|Please note:|Conditions:|Requirements:|What matters:|Keep to this:|I have some wishes:|Mind the following:',
)

const listed = (rng: Rng, ask: string, sentences: readonly string[]): string => {
  const mark = rng.pick(['-', '1', '•'])
  const items = sentences.map((sentence, i) => `${mark === '1' ? `${i + 1}.` : mark} ${sentence}`)
  return `${ask}\n\n${rng.pick(LIST_HEADS)}\n${items.join('\n')}`
}

/** Where instructions stand, with how often. */
const LAYOUTS: readonly (readonly [
  weight: number,
  layout: (rng: Rng, ask: string, says: string[]) => string,
])[] = [
  [6, (_, ask, says) => inLine([ask, ...says])],
  [2, (_, ask, says) => `${ask}\n\n${inLine(says)}`],
  [1, (_, ask, says) => `${ask}\n${says.join('\n')}`],
  [2, (_, ask, says) => inLine([...says, ask])],
  [1, (_, ask, says) => `${inLine(says)}\n\n${ask}`],
  [1, (_, ask, [first, ...rest]) => inLine([first, ask, ...rest])],
  [1, listed],
  [1, (rng, ask, says) => `${rng.pick(['Task', 'Request', 'To do'])}: ${ask}\n${inLine(says)}`],
]

const BY_WEIGHT = LAYOUTS.flatMap(([weight, layout]) => Array<typeof layout>(weight).fill(layout))

/** One sentence with a full stop, which can end in how it is to be done: not a question, nothing quoted or listed. */
const WEAVABLE = /^[A-Z][^.?!:;"\n]*\.$/

/** The request with how it is to be done in it; null where one of the two does not go into the other. */
const woven = (rng: Rng, ask: string, { how }: Saying): string | null => {
  if (how === null || !WEAVABLE.test(ask)) return null
  const goesFirst = /^(?:Write|Describe|Explain|Tell|Give|Draft|Compose|Invent)/.test(ask)
  if (goesFirst && rng.next() < 0.3)
    return `${capitalised(how)}, ${ask.charAt(0).toLowerCase()}${ask.slice(1)}`
  const bare = ask.slice(0, -1)
  return rng.next() < 0.5 ? ended(`${bare} ${how}`) : ended(`${bare}, ${how}`)
}

/**
 * The request and its instructions as one text.
 * @param repeated the first one asks for the request to be repeated, which therefore stays whole and beside it
 */
export const promptOf = (
  rng: Rng,
  ask: string,
  sayings: readonly Saying[],
  repeated: boolean,
): { prompt: string; says: string[] } => {
  const says = sayings.map(({ sentence }) => sentence)
  if (repeated) {
    const isBelow = rng.next() < 0.5
    const [echo, ...rest] = says.map(say => say.replaceAll('{where}', isBelow ? 'below' : 'above'))
    const prompt = isBelow ? `${inLine([...rest, echo])}\n\n${ask}` : inLine([ask, echo, ...rest])
    return { prompt, says: [echo, ...rest] }
  }
  const at = sayings.findIndex(({ how }) => how !== null)
  const request = at < 0 ? null : woven(rng, ask, sayings[at])
  if (request === null) return { prompt: rng.pick(BY_WEIGHT)(rng, ask, says), says }
  const rest = says.filter((_, i) => i !== at)
  return { prompt: rest.length > 0 ? rng.pick(BY_WEIGHT)(rng, request, rest) : request, says }
}
