/** @file The logic rubric: its five criteria with the paper's weights, and credits as verdicts on them. */

import type { Rubric, Verdict } from '../../rubric/index.ts'

export const LOGIC_CRITERIA = ['C1', 'C2', 'C3', 'C4', 'C5'] as const
export type LogicCriterion = (typeof LOGIC_CRITERIA)[number]

/** The rubric (Rubric as Reward, Table 1): each criterion with its weight as points; reward is 3 times the weighted sum. */
export const LOGIC_RUBRIC: Rubric = {
  id: 'logic',
  criteria: [
    { id: 'C1', text: 'The answer is right.', points: 0.3, category: 'answer' },
    { id: 'C2', text: 'Every step follows from the premises.', points: 0.25, category: 'validity' },
    {
      id: 'C3',
      text: 'The response has all tags and at least two numbered steps.',
      points: 0.1,
      category: 'format',
    },
    { id: 'C4', text: 'The reasoning uses the premises that it needs.', points: 0.15, category: 'premises' },
    { id: 'C5', text: 'The reasoning is complete.', points: 0.2, category: 'completeness' },
  ],
}

/** What verdicts are made of: a grade, or as much of one as there is. */
export interface LogicCredits {
  /** Credit of each criterion in [0, 1]; null where there is none. */
  criteria: Readonly<Record<LogicCriterion, number | null>>
  truth?: { C4: number | null; C5: number | null } | null
  excluded?: string | null
}

/**
 * A grade as verdicts on `LOGIC_RUBRIC`; `real` takes C4 and C5 as they really are, where they were worked out. A criterion
 * without a value has no verdict (null): the item is at fault, or the response was too long to be read.
 */
export const logicVerdicts = ({ criteria, truth, excluded }: LogicCredits, real = false): Verdict[] => {
  const proved: Partial<Record<LogicCriterion, number | null>> = {
    C2: criteria.C2,
    ...(real && truth),
  }
  return LOGIC_CRITERIA.map(criterionId => {
    const credit = criterionId in proved ? proved[criterionId]! : criteria[criterionId]
    const source = criterionId in proved ? 'formal' : 'rule'
    if (credit === null) return { criterionId, met: null, source, explanation: excluded ?? 'undefined here' }
    return { criterionId, met: credit === 1, credit, source }
  })
}
