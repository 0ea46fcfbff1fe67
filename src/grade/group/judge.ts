/** @file Scores of all responses to one prompt, relative to each other, from one call of a judge; what is not known is null. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Criterion, JudgeCall, Rubric, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { canonicalJson, shortHash } from '../../util/canonical.ts'
import { Rng } from '../../util/rng.ts'
import { meanKnown } from '../../util/statistics.ts'
import type { GradeOptions, Grader } from '../grader.ts'
import type { GroupSettings } from './config.ts'
import { cutMiddle, fairLength, LEAST_CHARACTERS } from './cut.ts'

/** A rubric, a criterion in words, or null: what is good in general. */
export type Standards = Pick<Rubric, 'criteria'> | string | null

/** RULER's points in our words: whoever reaches the goal first, detours cost, part of the way earns part of the score. */
const GENERAL = [
  'What the request is after decides: whoever reaches it stands clearly above whoever does not.',
  'Of those that reach it, the more direct and the more correct way is the better one.',
  'Whoever does not reach it is the better the further they came.',
].join('\n')

const points = (worth: number): string =>
  worth > 0 ? `merit, ${worth} points` : `flaw, ${-worth} points off`

/** The text that a call shows. */
export const standardsText = (by: Standards): string => {
  if (by === null) return GENERAL
  if (typeof by === 'string') return by
  return by.criteria.map(({ text, points: worth }, i) => `${i + 1}. (${points(worth)}) ${text}`).join('\n')
}

/** One response with the conversation that it answers. */
export interface GroupResponse {
  prompt: readonly ChatMessage[]
  response: string
}

export interface ResponseGroup {
  responses: readonly GroupResponse[]
  by: Standards
}

/** One entry a response, in their order. */
export interface GroupScores {
  /** In [0, 1]; null where the judge gave none. */
  scores: (number | null)[]
  /** Why, where the judge said so. */
  explanations: (string | null)[]
  /** The calls that these came from, where the judge tells. */
  calls?: (JudgeCall | undefined)[]
  /** Why scores are missing; null where none is. */
  problem: string | null
  /** Different responses that were shown, and how many of them were cut. */
  shown: number
  cut: number
}

export interface GroupOptions extends GradeOptions, Omit<GroupSettings, 'criterion'> {
  /** Names the orders in which responses are shown. */
  seed: number | string
}

/** The messages that all conversations begin with. */
export const sharedMessages = (prompts: readonly (readonly ChatMessage[])[]): ChatMessage[] => {
  const [first = [], ...others] = prompts
  const differs = first.findIndex((message, i) =>
    others.some(prompt => canonicalJson(prompt[i] ?? null) !== canonicalJson(message)),
  )
  return first.slice(0, differs < 0 ? first.length : differs)
}

/** What of a response is its own: it alone, or, where its conversation goes on beyond what all share, all of that as JSON. */
const ownText = ({ prompt, response }: GroupResponse, shared: number): string =>
  prompt.length === shared
    ? response
    : JSON.stringify([...prompt.slice(shared), { role: 'assistant', content: response }], null, 1)

/**
 * Scores a group. Equal responses are shown once and get the same score. The order is drawn from the seed and from what is shown,
 * so that the same group is the same question, whatever order it comes in.
 * @param grader a judge of form `GROUP_JUDGE`, asked about the whole group in one call
 * @throws what the grader throws: errors that every call would meet, an aborted signal
 */
export const scoreGroup = async (
  grader: Grader,
  { responses, by }: ResponseGroup,
  { seed, looks, maxResponses, maxCharacters, ...options }: GroupOptions,
): Promise<GroupScores> => {
  const shared = sharedMessages(responses.map(({ prompt }) => prompt))
  const texts = responses.map(own => ownText(own, shared.length))
  const different = [...new Set(texts)].sort()
  const most = fairLength(
    different.map(({ length }) => length),
    maxCharacters,
  )
  const counts = { shown: different.length, cut: different.filter(({ length }) => length > most).length }
  const refusal = refusalOf(different.length, most, counts.cut, { maxResponses, maxCharacters })
  if (refusal !== null) return { ...nothingKnown(responses.length, refusal), ...counts }
  const item = { prompt: shared, response: standardsText(by) }
  const digest = shortHash({ shared, standards: item.response, different })
  const seen = await Promise.all(
    Array.from({ length: different.length === 0 ? 0 : looks }, async (_, look) => {
      const order = new Rng(`group order/${seed}/${look}/${digest}`).shuffle(different)
      const shown = order.map(
        (text, i): Criterion => ({ id: `response ${i + 1}`, text: cutMiddle(text, most), points: 1 }),
      )
      const sampleIndex = (options.sampleIndex ?? 0) + look
      const verdicts = await grader.grade(item, shown, { ...options, sampleIndex })
      return new Map(order.map((text, i) => [text, verdicts[i]]))
    }),
  )
  return { ...merged(texts, seen), ...counts }
}

/** Why a group cannot be shown; null where it can. */
const refusalOf = (
  different: number,
  most: number,
  cut: number,
  { maxResponses, maxCharacters }: Pick<GroupOptions, 'maxResponses' | 'maxCharacters'>,
): string | null => {
  if (different > maxResponses)
    return `expected at most ${maxResponses} different responses a call, got ${different}; raise maxResponses, or judge smaller groups: scores of two calls are not on one scale`
  return cut > 0 && most < LEAST_CHARACTERS
    ? `expected room for ${LEAST_CHARACTERS} characters of each of ${different} responses, got ${most} of ${maxCharacters} in all; raise maxCharacters`
    : null
}

const nothingKnown = (count: number, problem: string) => ({
  scores: Array.from({ length: count }, () => null),
  explanations: Array.from({ length: count }, () => null),
  problem,
})

/** The mean of what was said of each text; what was said of it nowhere is null. */
const merged = (
  texts: readonly string[],
  looks: readonly ReadonlyMap<string, Verdict>[],
): Pick<GroupScores, 'scores' | 'explanations' | 'calls' | 'problem'> => {
  const said = texts.map(text => looks.map(look => look.get(text)!))
  const known = said.map(own => own.filter(verdict => creditOf(verdict) !== null))
  const lacking = said.flat().find(verdict => creditOf(verdict) === null)
  return {
    scores: known.map(own => meanKnown(own.map(creditOf))),
    explanations: known.map(own => own[0]?.explanation ?? null),
    ...(said.flat().some(({ call }) => call !== undefined) && {
      calls: known.map((own, i) => (own[0] ?? said[i][0])?.call),
    }),
    problem: lacking === undefined ? null : (lacking.explanation ?? 'the judge gave no score'),
  }
}
