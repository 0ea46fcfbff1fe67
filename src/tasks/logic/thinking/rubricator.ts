/** @file The scripted rubricator of the logic task. */

import type { Rng } from '../../../util/rng.ts'
import { ScriptedRubricator } from '../../thinking-grammar/rubricator.ts'
import type { LogicTaskExample } from '../example.ts'
import { NOUNS } from '../vocabulary.ts'
import { closureOf } from './closure.ts'
import { LOGIC_GRAMMAR, type LogicEvidence, type LogicSlot, MOST_COUNTED } from './predicates.ts'
import { LOGIC_RUBRIC_PIECES } from './vocabulary.ts'

/** Steps of a proof with so many hops: the fact, then a rule and its consequence for each. */
const stepsOf = ({ hops = 3 }: LogicTaskExample): number => 1 + 2 * hops

const within = (value: number): string => String(Math.min(MOST_COUNTED, Math.max(1, value)))

const slotValue = (slot: LogicSlot, problem: LogicTaskExample, rng: Rng): string => {
  const view = closureOf(problem)?.view
  if (slot === 'count') return within(stepsOf(problem) - 2 + rng.int(5))
  if (slot === 'place') return within(1 + rng.int(stepsOf(problem)))
  if (slot === 'name') return view?.query.subject ?? 'stella'
  const kinds = new Set(view?.rules.map(({ subject }) => subject))
  return rng.pick(kinds.size > 0 ? [...kinds] : NOUNS)
}

export const logicRubricator = new ScriptedRubricator<LogicTaskExample, LogicEvidence, LogicSlot>({
  grammar: LOGIC_GRAMMAR,
  slotValue,
  open: LOGIC_RUBRIC_PIECES.open,
})
