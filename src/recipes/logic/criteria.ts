/** @file What the five criteria of the logic rubric are called where a recipe reports them. */

import type { LogicCriterion } from '../../grade/logic/rubric.ts'

/** What each is called in a report. */
export const CRITERION_NAMES: Readonly<Record<LogicCriterion, string>> = {
  C1: 'answer',
  C2: 'step validity',
  C3: 'format',
  C4: 'premise use',
  C5: 'completeness',
}
