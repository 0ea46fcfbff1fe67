/** @file Predicates about planning and clarity: how steps are laid out, and how each leads to the next. */

import { fixed, numbered } from '../../../thinking-grammar/predicate.ts'
import type { LogicEvidence, LogicPredicate, StatedStep } from './predicate.ts'

const rules = ({ read }: LogicEvidence): StatedStep[] => read.filter(({ statement }) => !statement.fact)

const isRule = (step: StatedStep | undefined): boolean => step !== undefined && !step.statement.fact

/** Whether a rule is about the kind that the last fact before it gave. */
const goesOn = ({ read }: LogicEvidence, i: number): boolean => {
  const before = read.slice(0, i).findLast(({ statement }) => statement.fact)
  return before !== undefined && before.statement.object === read[i].statement.subject
}

/** Whether step i says of the individual what the rule before it says of its kind. */
const isConsequence = ({ read }: LogicEvidence, i: number): boolean => {
  const [rule, fact] = [read[i - 1]?.statement, read[i]?.statement]
  return (
    rule !== undefined &&
    fact !== undefined &&
    !rule.fact &&
    fact.fact &&
    rule.object === fact.object &&
    rule.negated === fact.negated
  )
}

const numbers = ({ thinking }: LogicEvidence): number[] => thinking.steps.map(({ number }) => number)

export const LOGIC_PLANNING: readonly LogicPredicate[] = [
  fixed('planning', 'good', 'begins with the fact about the name', ({ read, thinking }) => {
    const first = thinking.steps[0]
    return first !== undefined && read[0] === first && read[0].statement.fact && read[0].premise
  }),
  fixed('planning', 'bad', 'begins with a rule', ({ read }) => isRule(read[0])),
  numbered(
    'planning',
    'neutral',
    'has at least {count} steps',
    ({ thinking }, n) => thinking.steps.length >= n,
  ),
  numbered(
    'planning',
    'neutral',
    'has at most {count} steps',
    ({ thinking }, n) => thinking.steps.length <= n,
  ),
  numbered('planning', 'good', 'states at least {count} rules', (evidence, n) => rules(evidence).length >= n),
  fixed('planning', 'good', 'states a rule about the queried word', evidence =>
    rules(evidence).some(({ statement }) => statement.object === evidence.query?.object),
  ),
  fixed('planning', 'bad', 'has no step', ({ thinking }) => thinking.steps.length === 0),
]

export const LOGIC_CLARITY: readonly LogicPredicate[] = [
  fixed('clarity', 'good', 'each rule is about the kind before it', evidence => {
    const places = evidence.read.flatMap((step, i) => (isRule(step) ? [i] : []))
    return places.length > 0 && places.every(i => goesOn(evidence, i))
  }),
  fixed('clarity', 'bad', 'a rule is about another kind than the one before it', evidence =>
    evidence.read.some((step, i) => isRule(step) && !goesOn(evidence, i)),
  ),
  fixed('clarity', 'good', 'each rule is followed by its consequence', evidence => {
    const places = evidence.read.flatMap((step, i) => (isRule(step) ? [i] : []))
    return places.length > 0 && places.every(i => isConsequence(evidence, i + 1))
  }),
  fixed('clarity', 'bad', 'a consequence comes without its rule', evidence =>
    evidence.read.some(
      ({ statement, premise }, i) => statement.fact && !premise && !isConsequence(evidence, i),
    ),
  ),
  fixed('clarity', 'neutral', 'numbers its steps from one', evidence => numbers(evidence)[0] === 1),
  fixed('clarity', 'neutral', 'numbers its steps without gaps', evidence => {
    const own = numbers(evidence)
    return own.length > 0 && own.every((number, i) => number === own[0] + i)
  }),
  fixed('clarity', 'bad', 'has a step that cannot be read', ({ thinking }) =>
    thinking.steps.some(({ statement }) => statement === null),
  ),
]
