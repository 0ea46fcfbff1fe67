/** @file The grammar of criteria about thinking on the logic task: sentences that are read and executed exactly. */

import type { LogicLabel } from '../../../grade/logic/problem.ts'
import { allAre, CriterionGrammar, type Predicate, predicatesAbout } from '../../thinking-grammar/grammar.ts'
import type { LogicTaskExample } from '../example.ts'
import { INDIVIDUALS, NOUNS } from '../vocabulary.ts'
import { closureOf } from './closure.ts'
import {
  isOpposite,
  type LogicStep,
  type LogicThinking,
  readLogicThinking,
  type StepStatement,
  sameStatement,
} from './steps.ts'

/** A step that says something. */
export type StatedStep = LogicStep & { statement: StepStatement }

/** What predicates are decided on. */
export interface LogicEvidence extends LogicThinking {
  problem: LogicTaskExample
  /** Steps that can be read. */
  read: readonly StatedStep[]
  /** What is asked; null for a problem outside the fragment. */
  query: StepStatement | null
  /** Its words in order, `stella`, `wumpus`, ...; plurals as singulars. */
  words: ReadonlySet<string>
  /** What the response answered; null where it did not, and where the answer is masked. */
  answer: LogicLabel | null
}

/** What a place in a sentence may hold: numbers, individuals, kinds. */
export type LogicSlot = 'count' | 'place' | 'name' | 'kind'

export type LogicPredicate = Predicate<LogicEvidence>

const planning = predicatesAbout<LogicEvidence>('planning')
const validation = predicatesAbout<LogicEvidence>('validation')
const clarity = predicatesAbout<LogicEvidence>('clarity')
const efficiency = predicatesAbout<LogicEvidence>('efficiency')
const other = predicatesAbout<LogicEvidence>('other')

const rules = ({ read }: LogicEvidence): StatedStep[] => read.filter(({ statement }) => !statement.fact)

const isRule = (step: StatedStep | undefined): boolean => step !== undefined && !step.statement.fact

const placesOfRules = ({ read }: LogicEvidence): number[] =>
  read.flatMap((step, i) => (isRule(step) ? [i] : []))

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

/** Steps before the last one: the last is the answer in all but name. */
const inner = ({ steps }: LogicEvidence) => steps.slice(0, -1)

/** Rules about a property of which neither the query nor a step's kind is: what the chain does not need. */
const astray = ({ read, query }: LogicEvidence): boolean =>
  read.some(
    ({ statement }, i) =>
      !statement.fact &&
      statement.object !== query?.object &&
      !read.slice(i + 1).some(later => !later.statement.fact && later.statement.subject === statement.object),
  )

/** What the last step says, if anything. */
const last = ({ steps }: LogicEvidence) => steps.at(-1)?.statement ?? null

/** All predicates but those that stand in for the outcome. */
const LOGIC_PREDICATES: readonly LogicPredicate[] = [
  planning.good('begins with the fact about the name', ({ read, steps }) => {
    const first = steps[0]
    return first !== undefined && read[0] === first && read[0].statement.fact && read[0].premise
  }),
  planning.bad('begins with a rule', ({ read }) => isRule(read[0])),
  planning.neutral('has at least {count} steps', ({ steps }, n) => steps.length >= n),
  planning.neutral('has at most {count} steps', ({ steps }, n) => steps.length <= n),
  planning.good('states at least {count} rules', (evidence, n) => rules(evidence).length >= n),
  planning.good('states a rule about the queried word', evidence =>
    rules(evidence).some(({ statement }) => statement.object === evidence.query?.object),
  ),
  planning.bad('has no step', ({ steps }) => steps.length === 0),
  validation.neutral('states a premise word for word', ({ steps }) => steps.some(({ verbatim }) => verbatim)),
  validation.good('every rule that it states is a premise', evidence =>
    allAre(rules(evidence), ({ premise }) => premise),
  ),
  validation.bad('states a rule that is no premise', evidence =>
    rules(evidence).some(({ premise }) => !premise),
  ),
  validation.bad('states something that is no premise and does not follow', evidence =>
    inner(evidence).some(({ premise, follows }) => !premise && !follows),
  ),
  validation.good('every step before the last follows', evidence =>
    allAre(inner(evidence), ({ follows }) => follows),
  ),
  validation.good('every step before the last comes from those before it', evidence =>
    allAre(inner(evidence), ({ supported }) => supported),
  ),
  validation.good('step {place} follows', (evidence, n) => inner(evidence)[n - 1]?.follows ?? false),
  validation.bad('step {place} does not follow', (evidence, n) => {
    const step = inner(evidence)[n - 1]
    return step !== undefined && !step.follows
  }),
  validation.bad('contradicts itself', ({ read }) =>
    read.some((step, i) => read.slice(0, i).some(before => isOpposite(step.statement, before.statement))),
  ),
  clarity.good('each rule is about the kind before it', evidence =>
    allAre(placesOfRules(evidence), i => goesOn(evidence, i)),
  ),
  clarity.bad('a rule is about another kind than the one before it', evidence =>
    evidence.read.some((step, i) => isRule(step) && !goesOn(evidence, i)),
  ),
  clarity.good('each rule is followed by its consequence', evidence =>
    allAre(placesOfRules(evidence), i => isConsequence(evidence, i + 1)),
  ),
  clarity.bad('a consequence comes without its rule', evidence =>
    evidence.read.some(
      ({ statement, premise }, i) => statement.fact && !premise && !isConsequence(evidence, i),
    ),
  ),
  clarity.neutral('numbers its steps from one', ({ steps }) => steps[0]?.number === 1),
  clarity.neutral('numbers its steps without gaps', ({ steps }) =>
    allAre(steps, ({ number }, i) => number === steps[0].number + i),
  ),
  clarity.bad('has a step that cannot be read', ({ steps }) =>
    steps.some(({ statement }) => statement === null),
  ),
  efficiency.bad('repeats a step', ({ steps }) => steps.some(({ repeats }) => repeats)),
  efficiency.good('repeats nothing', ({ steps }) => steps.every(({ repeats }) => !repeats)),
  efficiency.bad('states a rule that leads nowhere', astray),
  efficiency.good(
    'states only rules that lead on',
    evidence => rules(evidence).length > 0 && !astray(evidence),
  ),
  efficiency.bad('goes on after the query is settled', ({ read, query }) =>
    read
      .slice(0, -1)
      .some(({ statement }) => query !== null && statement.fact && statement.object === query.object),
  ),
  other.good('ends with the queried statement or its opposite', evidence => {
    const { query } = evidence
    const end = last(evidence)
    return query !== null && end !== null && (sameStatement(end, query) || isOpposite(end, query))
  }),
  other.bad('ends with a rule', evidence => last(evidence)?.fact === false),
  other.good('mentions the queried word', ({ query, words }) => query !== null && words.has(query.object)),
  other.neutral('mentions {name}', ({ words }, _, name) => words.has(name)),
  other.neutral('mentions the kind {kind}', ({ words }, _, kind) => words.has(kind)),
  other.neutral('never mentions the kind {kind}', ({ words }, _, kind) => !words.has(kind)),
  other.good('shows that the name is of the kind {kind}', ({ read }, _, kind) =>
    read.some(({ statement }) => statement.fact && !statement.negated && statement.object === kind),
  ),
  other.neutral('says not', ({ words }) => words.has('not')),
  other.neutral('never says not', ({ words }) => !words.has('not')),
  other.neutral('has an even number of steps', ({ steps }) => steps.length % 2 === 0),
]

/** Predicates that read the end of the thinking or the answer: the outcome under another name. Off unless asked for. */
const LOGIC_OUTCOME: readonly LogicPredicate[] = [
  other.neutral('ends with the queried statement', evidence => {
    const end = last(evidence)
    return evidence.query !== null && end !== null && sameStatement(end, evidence.query)
  }),
  other.neutral('ends with the opposite of the queried statement', evidence => {
    const end = last(evidence)
    return evidence.query !== null && end !== null && isOpposite(end, evidence.query)
  }),
  other.good('every step follows', ({ steps }) => allAre(steps, ({ follows }) => follows)),
  other.neutral('the answer is true', ({ answer }) => answer === 'True'),
  other.neutral('the answer is false', ({ answer }) => answer === 'False'),
].map(predicate => ({ ...predicate, outcome: true }))

/** Most that a place may say of steps: a five-hop proof has 11. */
export const MOST_COUNTED = 12

const NUMBERS = Array.from({ length: MOST_COUNTED }, (_, i) => i + 1)
const either = (words: readonly (string | number)[]): string => words.join('|').toLowerCase()

export const LOGIC_GRAMMAR = new CriterionGrammar<LogicEvidence, LogicSlot>({
  predicates: LOGIC_PREDICATES,
  outcomes: LOGIC_OUTCOME,
  slots: { count: either(NUMBERS), place: either(NUMBERS), name: either(INDIVIDUALS), kind: either(NOUNS) },
})

const PLURAL = /(?<=pus)es$/

/** What predicates are decided on, made once for a response. @param answer null where it is masked */
export const logicEvidenceOf = (
  problem: LogicTaskExample,
  text: string,
  answer: LogicLabel | null,
): LogicEvidence => {
  const thinking = readLogicThinking(problem, text)
  return {
    ...thinking,
    problem,
    read: thinking.steps.filter((step): step is StatedStep => step.statement !== null),
    query: closureOf(problem)?.view.query ?? null,
    words: new Set((thinking.text.match(/[a-z]+/g) ?? []).map(word => word.replace(PLURAL, ''))),
    answer,
  }
}
