/**
 * @file Demonstrations of instructions: a model's own answer to the request alone, with instructions that were drawn to fit it, edited
 * until it follows them. Whether it does is decided by the instructions' own rules.
 */

import { checkRule } from '../../grade/rules/registry.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { EDITS, type EditContext } from './edits.ts'
import { IFEVAL_COUNTS } from './kinds.ts'
import { drawRequest, type Request } from './requests.ts'
import { countOf, type Instructed, instructed, OWN_WORDS, VARIED } from './rows.ts'
import { withinWords, wordCount } from './text.ts'

/** Instructions and a response that follows them. */
export interface InstructionDemonstration extends Instructed {
  response: string
  /** Whether the answer had in it what was asked for. */
  isAbout: boolean
}

/** The answer as the instructions want it. */
const edited = (
  answer: string,
  { kinds, asked }: Instructed,
  context: Omit<EditContext, 'kwargs'>,
): string => {
  const kwargs = new Map(kinds.map(({ id }, i) => [id, asked[i].kwargs ?? {}]))
  return Object.entries(EDITS)
    .filter(([id]) => kwargs.has(id))
    .reduce((text, [id, edit]) => edit(text, { ...context, kwargs: kwargs.get(id)! }), answer)
}

const isMet = ({ verifier }: Criterion, prompt: string, response: string): boolean =>
  checkRule(verifier!.fn, verifier!.params, { prompt: [{ role: 'user', content: prompt }], response }).met ===
  true

/** Follows its instructions, and is as long as its request wants unless they want less. */
const follows = (
  { kinds, asked, criteria, prompt, response }: InstructionDemonstration,
  request: Request,
) => {
  const most = Math.min(...asked.map(({ most: limit = Number.POSITIVE_INFINITY }) => limit))
  const mayEcho = request.quotes || kinds.some(({ echoes }) => echoes)
  return (
    wordCount(response) >= Math.min(request.words, most / 3) &&
    [...criteria, VARIED, ...(mayEcho ? [] : [OWN_WORDS])].every(each => isMet(each, prompt, response))
  )
}

/** Little but words: small models sometimes answer in pictures. */
const isText = (answer: string): boolean => (answer.match(/\p{Extended_Pictographic}/gu) ?? []).length <= 3

const OF_ITSELF =
  /\b(?:chatbot|AI (?:assistant|model)|language model|(?:as|I'm) an AI|digital assistant|I'm (?:here to (?:help|assist)|unable to|sorry for (?:the|any)))\b/i

/** Says nothing about the request: small models refuse or introduce themselves at times, and would learn to by their own answers. */
const isOfItself = (answer: string): boolean => OF_ITSELF.test(answer)

/** What an answer is tried with, and how many of those that it follows are kept, for `inProportion` to choose from. */
const TRIES = 60
const KEPT = 30
/** Most words of an answer to a request for something short, of which one is drawn: an instruction is learnt from few words, a length from many. */
const SHORT = [60, 110, 180] as const

/** Most words of each of two answers in one. */
const EACH_OF_TWO = 120

/** Of an answer: as the request allows, and no more than what one is drawn that is short. */
const mostWords = ({ words, most, isLong }: Request, rng: Rng): number =>
  isLong ? most : Math.min(most, Math.max(words + 10, rng.pick(SHORT)))

/**
 * @param answers that a model gave to the request alone, in whole sentences
 */
export const demonstrationsOf = (
  request: Request,
  answers: readonly string[],
  rng: Rng,
): InstructionDemonstration[] => {
  const usable = answers
    .map(answer => withinWords(answer.trim(), mostWords(request, rng)))
    .filter(
      answer =>
        wordCount(answer) >= request.words &&
        isText(answer) &&
        !isOfItself(answer) &&
        isMet(VARIED, request.ask, answer),
    )
  return usable.flatMap((answer, i) => {
    const other = withinWords(usable[(i + 1) % usable.length], EACH_OF_TWO)
    const isAbout = isMet(request.content([]), request.ask, answer)
    return Array.from({ length: TRIES }, (): InstructionDemonstration => {
      const row = instructed(rng, request, answer)
      const isOneOfTwo = row.kinds.some(({ id }) => id === 'combination:two_responses')
      const begun = isOneOfTwo ? withinWords(answer, EACH_OF_TWO) : answer
      return { ...row, isAbout, response: edited(begun, row, { rng, subject: request.about, other }) }
    })
      .filter(tried => follows(tried, request))
      .slice(0, KEPT)
  })
}

/** Most demonstrations of one request. */
const OF_ONE_REQUEST = 12

/**
 * So many of them that kinds are shown in the proportions in which rows ask for them, as far as there are enough: of the kind that is
 * shown least for its share comes the next, one that is about what was asked before one that is not.
 * @param all of each request
 */
export const inProportion = (
  all: readonly (readonly InstructionDemonstration[])[],
  count: number,
  rng: Rng,
): InstructionDemonstration[] => {
  const shuffled = rng.shuffle(all.flatMap((each, request) => each.map(one => ({ one, request }))))
  const candidates = shuffled.toSorted((a, b) => Number(b.one.isAbout) - Number(a.one.isAbout))
  const has = (one: InstructionDemonstration, id: string) => one.kinds.some(kind => kind.id === id)
  const ids = Object.keys(IFEVAL_COUNTS)
  const pools = new Map(ids.map(id => [id, candidates.filter(({ one }) => has(one, id))]))
  const prompts = new Set<string>()
  const used = all.map(() => 0)
  const shown = new Map(ids.map(id => [id, 0]))
  const share = (id: string) => shown.get(id)! / IFEVAL_COUNTS[id]
  const chosen: InstructionDemonstration[] = []
  while (chosen.length < count && pools.size > 0) {
    const id = [...pools.keys()].reduce((least, each) => (share(each) < share(least) ? each : least))
    const size = countOf(rng)
    const left = pools
      .get(id)!
      .filter(({ one, request }) => used[request] < OF_ONE_REQUEST && !prompts.has(one.prompt))
    const fits = left.find(({ one }) => one.kinds.length === size)
    const next = fits?.one.isAbout === left[0]?.one.isAbout ? fits : left[0]
    if (next === undefined) {
      pools.delete(id)
      continue
    }
    chosen.push(next.one)
    prompts.add(next.one.prompt)
    used[next.request]++
    for (const kind of next.one.kinds) shown.set(kind.id, shown.get(kind.id)! + 1)
  }
  return chosen
}

/** Of so many requests one asks for something long. */
const LONG_EVERY = 12

/** Requests without instructions, each another one. @param seed the same seed gives the same requests */
export const plainRequests = (count: number, seed: number | string): Request[] => {
  const rng = new Rng(`plain requests/${seed}`)
  const requests = new Map<string, Request>()
  while (requests.size < count) {
    const request = drawRequest(rng, requests.size % LONG_EVERY === 0)
    requests.set(request.ask, request)
  }
  return [...requests.values()]
}
