/** @file The five criteria of the logic rubric as every recipe on logic problems reports them. */

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
