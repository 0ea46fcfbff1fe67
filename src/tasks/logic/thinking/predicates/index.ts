/** @file The grammar of criteria about thinking on the logic task: sentences that are read and executed exactly. */

import type { LogicLabel } from '../../../../grade/logic/problem.ts'
import { CriterionGrammar } from '../../../thinking-grammar/grammar.ts'
import type { LogicTaskExample } from '../../example.ts'
import { INDIVIDUALS, NOUNS } from '../../vocabulary.ts'
import { closureOf } from '../closure.ts'
import { readLogicThinking } from '../steps.ts'
import { LOGIC_OTHER, LOGIC_OUTCOME } from './content.ts'
import type { LogicEvidence, LogicPredicate, LogicSlot, StatedStep } from './predicate.ts'
import { LOGIC_CLARITY, LOGIC_PLANNING } from './structure.ts'
import { LOGIC_EFFICIENCY, LOGIC_VALIDATION } from './truth.ts'

export type { LogicEvidence, LogicSlot } from './predicate.ts'

/** All predicates but those that stand in for the outcome. */
export const LOGIC_PREDICATES: readonly LogicPredicate[] = [
  ...LOGIC_PLANNING,
  ...LOGIC_VALIDATION,
  ...LOGIC_CLARITY,
  ...LOGIC_EFFICIENCY,
  ...LOGIC_OTHER,
]

/** Most that a place may say of steps: a five-hop proof has 11. */
export const MOST_COUNTED = 12

const NUMBERS = Array.from({ length: MOST_COUNTED }, (_, i) => i + 1)
const either = (words: readonly (string | number)[]): string => words.join('|').toLowerCase()

export const LOGIC_GRAMMAR = new CriterionGrammar<LogicEvidence, LogicSlot>({
  predicates: LOGIC_PREDICATES,
  outcomes: LOGIC_OUTCOME,
  slots: { count: either(NUMBERS), place: either(NUMBERS), name: either(INDIVIDUALS), kind: either(NOUNS) },
})

/** Reads a criterion; null where it is no sentence of the grammar. Case, blanks around it and a full stop do not matter. */
export const readLogicCriterion = (text: string) => LOGIC_GRAMMAR.read(text)

const PLURAL = /(?<=pus)es$/

/** What predicates are decided on, made once for a response. @param answer null where it is masked */
export const logicEvidenceOf = (
  problem: LogicTaskExample,
  text: string,
  answer: LogicLabel | null,
): LogicEvidence => {
  const thinking = readLogicThinking(problem, text)
  return {
    problem,
    thinking,
    read: thinking.steps.filter((step): step is StatedStep => step.statement !== null),
    query: closureOf(problem)?.view.query ?? null,
    words: new Set((thinking.text.match(/[a-z]+/g) ?? []).map(word => word.replace(PLURAL, ''))),
    answer,
  }
}
