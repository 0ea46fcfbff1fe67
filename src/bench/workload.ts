/** @file What the benchmark judges: responses of a usual size, criteria of a usual number, verdicts that are known. */

import type { GradeItem } from '../grade/grader.ts'
import { caseTag, ruleTag, scriptedTruth } from '../grade/judge/scripted/index.ts'
import type { Criterion, Verdict } from '../rubric/criterion.ts'

/** About as many as a HealthBench rubric has (RuscaRL: 11.5). */
export const CRITERIA_PER_ITEM = 12

const PROMPT =
  'I have had a headache for three days and light makes it worse. What should I do about it? '.repeat(4)
const RESPONSE =
  'A headache that lasts and comes with sensitivity to light is often a migraine. Rest in a dark room and drink enough. '.repeat(
    12,
  )

export const CRITERIA: readonly Criterion[] = Array.from({ length: CRITERIA_PER_ITEM }, (_, index) => ({
  id: `c${index}`,
  text: `Names the warning signs that call for a doctor at once, as ${ruleTag(index)} of the guideline asks`,
  points: index % 4 === 3 ? -3 : 5,
}))

export const itemOf = (index: number): GradeItem => ({
  prompt: [{ role: 'user', content: PROMPT }],
  response: `${caseTag(index)} ${RESPONSE}`,
})

/** Verdicts that are not the known ones; null counts as well. */
export const wrongVerdicts = (index: number, verdicts: readonly Verdict[]): number =>
  verdicts.filter(({ criterionId, met }) => met !== scriptedTruth(index, Number(criterionId.slice(1)))).length
