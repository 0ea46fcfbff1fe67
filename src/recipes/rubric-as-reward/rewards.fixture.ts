/** @file Rewards of verdicts that a test makes up. */

import type { LogicGrade } from '../../grade/logic/grade.ts'
import { logicVerdicts } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Reward } from '../../rl/rollout.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { type LogicVerdicts, logicTask } from '../../tasks/logic/task.ts'
import { scoredReward } from '../../tasks/scored-response.ts'
import type { Condition } from './config.ts'
import { type LogicWeights, rewardedTask, weighedRubric } from './rewards.ts'

/** What is said of a response with these credits. */
export const said = (C1: number, C2: number, C3: number, C4 = 0, C5 = 0, proved = false): LogicVerdicts => ({
  verdicts: logicVerdicts({ criteria: { C1, C2, C3, C4, C5 } }),
  wellFormed: true,
  ...{ grade: {} as LogicGrade, excluded: null, proved, flags: {} },
})

export interface Paying {
  /** Other ones than the condition's. */
  weights?: LogicWeights | null
  leftOut?: readonly string[]
  /** Of options of rewards. */
  options?: Record<string, unknown>
}

/** What a condition pays for responses of which this is said. */
export const paidFor = async (
  responses: readonly LogicVerdicts[],
  condition: Condition,
  { weights = null, leftOut = [], options = {} }: Paying = {},
): Promise<Reward[]> => {
  const { grade: _, ...task } = logicTask(miniatureFormat(), {} as LogicSolver)
  const paid = rewardedTask(
    { ...task, grade: async () => [...responses] },
    { condition, seed: 1, ...options },
    weighedRubric({ condition, weights }),
  )
  const item = { problem: {} as LogicTaskExample, tokens: new Int32Array() }
  const all = responses.map(() => ({ ...item, leftOut: { ids: new Set(leftOut), asked: true } }))
  return (await paid.grade(all)).map(scoredReward)
}
