/** @file The five criteria of the logic rubric as every recipe on logic problems uses and reports them. */

import type { Rubric, Verdict } from '../../rubric/criterion.ts'

export const CRITERIA = ['C1', 'C2', 'C3', 'C4', 'C5'] as const
export type CriterionId = (typeof CRITERIA)[number]

/** What each is called in a report. */
export const CRITERION_NAMES: Readonly<Record<CriterionId, string>> = {
  C1: 'answer',
  C2: 'step validity',
  C3: 'format',
  C4: 'premise use',
  C5: 'completeness',
}

/** The rubric (Rubric as Reward, Table 1): each criterion with its weight as points. */
export const LOGIC_RUBRIC: Rubric = {
  id: 'logic',
  criteria: [
    { id: 'C1', text: 'The answer is the right label.', points: 0.3 },
    { id: 'C2', text: 'The steps follow from the premises.', points: 0.25 },
    { id: 'C3', text: 'Reasoning and answer have their tags, and the steps are numbered.', points: 0.1 },
    { id: 'C4', text: 'The premises that matter are used.', points: 0.15 },
    { id: 'C5', text: 'The steps are enough to settle the question.', points: 0.2 },
  ],
}

/** Graded credit of each criterion in [0, 1]; null where there is none. */
export type CriterionCredits = Readonly<Record<CriterionId, number | null>>

/** The credits as verdicts on `LOGIC_RUBRIC`: C2 is proved, the others are rules. */
export const logicVerdicts = (credits: CriterionCredits): Verdict[] =>
  CRITERIA.map(criterionId => {
    const credit = credits[criterionId]
    const source = criterionId === 'C2' ? 'formal' : 'rule'
    if (credit === null) return { criterionId, met: null, source }
    return { criterionId, met: credit === 1, credit, source }
  })
