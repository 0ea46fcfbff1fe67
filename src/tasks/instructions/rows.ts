/**
 * @file Rows for trainings on instructions that a rule checks: a request, one to three instructions, and a rubric that also
 * asks for what no instruction says: that the answer is one. In this project's own words; no row of a benchmark is among them.
 */

import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { type AskedInstruction, type InstructionKind, randomKinds } from './kinds.ts'
import { drawRequest, type Request } from './requests.ts'
import { promptOf, sayingOf } from './wording.ts'

export interface InstructionRow {
  id: string
  prompt: string
  criteria: Criterion[]
}

/** Chances of one, two and three instructions; IFEval's 541 prompts have 305, 179 and 57. */
const COUNTS = [0.55, 0.33, 0.12] as const

export const countOf = (rng: Rng): number => {
  const at = rng.next()
  return at < COUNTS[0] ? 1 : at < COUNTS[0] + COUNTS[1] ? 2 : 3
}

/** Kinds that go together, in a random order. */
const drawKinds = (rng: Rng, count: number): InstructionKind[] => {
  const chosen: InstructionKind[] = []
  for (const kind of randomKinds(rng)) {
    if (chosen.length === count) break
    const taken = new Set(chosen.flatMap(({ decides }) => decides))
    if (!kind.decides.some(part => taken.has(part))) chosen.push(kind)
  }
  return chosen
}

const rule = (fn: string, params: Record<string, unknown>) => ({ kind: 'rule', fn, params }) as const

/** A request with instructions: the text, and of each instruction what it is and asks for. */
export interface Instructed {
  prompt: string
  kinds: readonly InstructionKind[]
  asked: readonly AskedInstruction[]
  /** One of each instruction. */
  criteria: readonly Criterion[]
}

/** @param answer that is to follow the instructions, once it is edited: they are drawn to fit it */
export const instructed = (rng: Rng, request: Request, answer?: string): Instructed => {
  const kinds = drawKinds(rng, countOf(rng)).sort((a, b) => Number(b.echoes ?? 0) - Number(a.echoes ?? 0))
  const asked = kinds.map(kind => kind.draw(rng, request, answer))
  const sayings = kinds.map(({ id }, i) => sayingOf(rng, id, asked[i].gaps ?? {}))
  const { prompt, says } = promptOf(rng, request.ask, sayings, kinds[0].echoes ?? false)
  const criteria = kinds.map(({ id }, i) => ({
    ...{ id: id.split(':')[1], text: says[i], points: 1 },
    verifier: rule('instruction', { id, kwargs: asked[i].kwargs ?? {} }),
  }))
  return { prompt, kinds, asked, criteria }
}

/** So few words a token of the limit that an answer which runs into it has more: to be cut off is never paid. */
const WORDS_PER_TOKEN = 0.6

/**
 * Words of an answer: at least those of its form, unless instructions allow fewer, or want more; and at most what comes to an end
 * before the limit, or twice what it has to have.
 */
const lengthOf = (
  { words }: Request,
  asked: readonly AskedInstruction[],
  maxTokens: number,
): { min: number; max: number } => {
  const most = Math.min(...asked.map(({ most: limit }) => limit ?? Number.POSITIVE_INFINITY))
  const least = Math.max(words, ...asked.map(({ fewest = 0 }) => fewest))
  const min = Math.min(least, Math.floor(most / 2))
  return { min, max: Math.max(least + 25, Math.floor(WORDS_PER_TOKEN * maxTokens)) }
}

/**
 * Together less than an instruction's point: what most answers have already, and what is only to be kept. Where they weighed more than
 * twice as much, 30 steps made answers end and be about the request, and no instruction was followed more often.
 */
const CONTENT_POINTS = 0.15

/** More, since half of a small model's answers never come to an end, and many instructions fail with that. */
const LENGTH_POINTS = 0.25

const content = (
  id: string,
  text: string,
  fn: string,
  params: Record<string, unknown>,
  points = CONTENT_POINTS,
): Criterion => ({ id, text, points, verifier: rule(fn, params) })

export const VARIED = content('varied', 'Does not say the same again and again.', 'repetition', {
  n: 4,
  maxShare: 0.15,
})
export const OWN_WORDS = content('own_words', 'Does not repeat the request.', 'echo', { maxShare: 0.3 })

/** What every answer should be; the rubric of all rows. */
export const SHARED_CRITERIA: readonly Criterion[] = [
  VARIED,
  content('language', 'Is language that the starting model finds likely.', 'likelihood', { min: -2.3 }),
]

/** Marks that kinds of instructions ask for, and that a model which has learnt them sets everywhere. */
const MARKS: Readonly<Record<string, string>> = {
  'detectable_content:number_placeholders': '\\[[^\\]\\n]+\\]',
  'detectable_format:title': '<<[^>\\n]+>>',
  'detectable_content:postscript': '\\bP\\.\\s?(?:P\\.\\s?)?S\\b',
  'detectable_format:number_highlighted_sections': '(?<![*\\w])\\*[^\\s*][^*\\n]*\\*(?!\\*)',
}

const unaskedMarks = (kinds: readonly InstructionKind[]): Criterion => {
  const unasked = Object.entries(MARKS).filter(([id]) => kinds.every(kind => kind.id !== id))
  const pattern = unasked.map(([, mark]) => mark).join('|')
  return content(
    'unasked_marks',
    'Has no placeholder, title, postscript or highlight that was not asked for.',
    'regex',
    {
      ...{ pattern, max: 0 },
    },
  )
}

/** What makes an answer of text that follows: what was asked for is there, in words of its own, neither too little nor without end. */
const contentCriteria = (
  request: Request,
  kinds: readonly InstructionKind[],
  asked: readonly AskedInstruction[],
  maxTokens: number,
): Criterion[] => {
  const { min, max } = lengthOf(request, asked, maxTokens)
  const echoed = request.quotes || kinds.some(({ echoes }) => echoes)
  return [
    { ...request.content(asked.flatMap(({ without = [] }) => without)), points: CONTENT_POINTS },
    ...(echoed ? [] : [OWN_WORDS]),
    unaskedMarks(kinds),
    content('length_fits', `Has ${min} to ${max} words.`, 'length', { min, max }, LENGTH_POINTS),
  ]
}

/** A row whose request is answered in few words. */
const drawRow = (rng: Rng, maxTokens: number): Omit<InstructionRow, 'id'> => {
  const request = drawRequest(rng)
  const { prompt, kinds, asked, criteria } = instructed(rng, request)
  return { prompt, criteria: [...criteria, ...contentCriteria(request, kinds, asked, maxTokens)] }
}

/**
 * @param seed the same seed gives the same rows; different rows each
 * @param maxTokens limit of a response
 */
export const instructionRows = (
  count: number,
  seed: number | string,
  maxTokens: number,
): InstructionRow[] => {
  const rng = new Rng(`instruction rows/${seed}`)
  const rows = new Map<string, InstructionRow>()
  while (rows.size < count) {
    const row = drawRow(rng, maxTokens)
    if (!rows.has(row.prompt)) rows.set(row.prompt, { id: `row-${rows.size + 1}`, ...row })
  }
  return [...rows.values()]
}
