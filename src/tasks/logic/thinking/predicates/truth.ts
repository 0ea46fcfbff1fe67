/** @file Predicates about validation and efficiency: what follows from the premises, and what is said to no purpose. */

import { fixed, numbered } from '../../../thinking-grammar/predicate.ts'
import { isOpposite } from '../steps.ts'
import type { LogicEvidence, LogicPredicate, StatedStep } from './predicate.ts'

/** Steps before the last one: the last is the answer in all but name. */
const inner = ({ thinking: { steps } }: LogicEvidence) => steps.slice(0, -1)

const rules = ({ read }: LogicEvidence): StatedStep[] => read.filter(({ statement }) => !statement.fact)

/** Rules about a property of which neither the query nor a step's kind is: what the chain does not need. */
const astray = ({ read, query }: LogicEvidence): boolean =>
  read.some(
    ({ statement }, i) =>
      !statement.fact &&
      statement.object !== query?.object &&
      !read.slice(i + 1).some(later => !later.statement.fact && later.statement.subject === statement.object),
  )

export const LOGIC_VALIDATION: readonly LogicPredicate[] = [
  fixed('validation', 'neutral', 'states a premise word for word', ({ thinking }) =>
    thinking.steps.some(({ verbatim }) => verbatim),
  ),
  fixed('validation', 'good', 'every rule that it states is a premise', evidence => {
    const own = rules(evidence)
    return own.length > 0 && own.every(({ premise }) => premise)
  }),
  fixed('validation', 'bad', 'states a rule that is no premise', evidence =>
    rules(evidence).some(({ premise }) => !premise),
  ),
  fixed('validation', 'bad', 'states something that is no premise and does not follow', evidence =>
    inner(evidence).some(({ premise, follows }) => !premise && !follows),
  ),
  fixed('validation', 'good', 'every step before the last follows', evidence => {
    const own = inner(evidence)
    return own.length > 0 && own.every(({ follows }) => follows)
  }),
  fixed('validation', 'good', 'every step before the last comes from those before it', evidence => {
    const own = inner(evidence)
    return own.length > 0 && own.every(({ supported }) => supported)
  }),
  numbered(
    'validation',
    'good',
    'step {place} follows',
    (evidence, n) => inner(evidence)[n - 1]?.follows ?? false,
  ),
  numbered('validation', 'bad', 'step {place} does not follow', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && !step.follows
  }),
  fixed('validation', 'bad', 'contradicts itself', ({ read }) =>
    read.some((step, i) => read.slice(0, i).some(before => isOpposite(step.statement, before.statement))),
  ),
]

export const LOGIC_EFFICIENCY: readonly LogicPredicate[] = [
  fixed('efficiency', 'bad', 'repeats a step', ({ thinking }) =>
    thinking.steps.some(({ repeats }) => repeats),
  ),
  fixed('efficiency', 'good', 'repeats nothing', ({ thinking }) =>
    thinking.steps.every(({ repeats }) => !repeats),
  ),
  fixed('efficiency', 'bad', 'states a rule that leads nowhere', astray),
  fixed(
    'efficiency',
    'good',
    'states only rules that lead on',
    evidence => rules(evidence).length > 0 && !astray(evidence),
  ),
  fixed('efficiency', 'bad', 'goes on after the query is settled', ({ read, query }) =>
    read
      .slice(0, -1)
      .some(({ statement }) => query !== null && statement.fact && statement.object === query.object),
  ),
]
