/** @file Predicates about the question's own content, and those that read the end: the outcome under another name. */

import { fixed, worded } from '../../../thinking-grammar/predicate.ts'
import { isOpposite, sameStatement } from '../steps.ts'
import type { LogicEvidence, LogicPredicate } from './predicate.ts'

/** What the last step says, if anything. */
const last = ({ thinking: { steps } }: LogicEvidence) => steps.at(-1)?.statement ?? null

export const LOGIC_OTHER: readonly LogicPredicate[] = [
  fixed('other', 'good', 'ends with the queried statement or its opposite', evidence => {
    const { query } = evidence
    const end = last(evidence)
    return query !== null && end !== null && (sameStatement(end, query) || isOpposite(end, query))
  }),
  fixed('other', 'bad', 'ends with a rule', evidence => last(evidence)?.fact === false),
  fixed(
    'other',
    'good',
    'mentions the queried word',
    ({ query, words }) => query !== null && words.has(query.object),
  ),
  worded('other', 'neutral', 'mentions {name}', ({ words }, name) => words.has(name)),
  worded('other', 'neutral', 'mentions the kind {kind}', ({ words }, kind) => words.has(kind)),
  worded('other', 'neutral', 'never mentions the kind {kind}', ({ words }, kind) => !words.has(kind)),
  worded('other', 'good', 'shows that the name is of the kind {kind}', ({ read }, kind) =>
    read.some(({ statement }) => statement.fact && !statement.negated && statement.object === kind),
  ),
  fixed('other', 'neutral', 'says not', ({ words }) => words.has('not')),
  fixed('other', 'neutral', 'never says not', ({ words }) => !words.has('not')),
  fixed('other', 'neutral', 'has an even number of steps', ({ thinking }) => thinking.steps.length % 2 === 0),
]

/** Predicates that read the end of the thinking or the answer. Off unless asked for. */
export const LOGIC_OUTCOME: readonly LogicPredicate[] = [
  fixed<LogicEvidence>('other', 'neutral', 'ends with the queried statement', evidence => {
    const end = last(evidence)
    return evidence.query !== null && end !== null && sameStatement(end, evidence.query)
  }),
  fixed<LogicEvidence>('other', 'neutral', 'ends with the opposite of the queried statement', evidence => {
    const end = last(evidence)
    return evidence.query !== null && end !== null && isOpposite(end, evidence.query)
  }),
  fixed<LogicEvidence>(
    'other',
    'good',
    'every step follows',
    ({ thinking: { steps } }) => steps.length > 0 && steps.every(({ follows }) => follows),
  ),
  fixed<LogicEvidence>('other', 'neutral', 'the answer is true', ({ answer }) => answer === 'True'),
  fixed<LogicEvidence>('other', 'neutral', 'the answer is false', ({ answer }) => answer === 'False'),
].map(predicate => ({ ...predicate, outcome: true }))
