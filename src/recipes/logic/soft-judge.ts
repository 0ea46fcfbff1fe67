/** @file C4 and C5 by a judge: premise use and completeness as a reader sees them, beside what a proof says of them. */

import type { GradeItem, Grader } from '../../grade/grader.ts'
import { type Criterion, creditOf } from '../../rubric/index.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { meanKnown } from '../../util/statistics.ts'

/** What the judge is asked (spec 6.2, Appendix A); it may give half credit. */
const SOFT_CRITERIA: readonly Criterion[] = [
  {
    id: 'C4',
    text: 'The reasoning uses the given premises that the conclusion depends on. Partly: it uses some of them and leaves out others.',
    points: 1,
  },
  {
    id: 'C5',
    text: 'The steps that are written down are enough, by themselves, to settle the conclusion as the answer says. Partly: most of the chain is there and a link is missing.',
    points: 1,
  },
]

/** One response to a problem. */
export interface SoftItem {
  problem: LogicTaskExample
  response: string
}

const itemOf = ({ problem, response }: SoftItem): GradeItem => ({
  id: problem.id,
  prompt: [{ role: 'user', content: `${problem.context}\n${problem.question}` }],
  response,
})

/** Mean credit of C4 and C5 over all responses. A verdict that the judge fails to give is left out and counted. */
export const judgeSoftCriteria = async (
  judge: Grader,
  items: readonly SoftItem[],
): Promise<NonNullable<EvalRow['judged']>> => {
  const verdicts = await Promise.all(items.map(item => judge.grade(itemOf(item), SOFT_CRITERIA)))
  const credits = (index: number) =>
    verdicts.flatMap(all => {
      const credit = creditOf(all[index])
      return credit === null ? [] : [credit]
    })
  const [c4, c5] = [credits(0), credits(1)]
  const asked = SOFT_CRITERIA.length * items.length
  return {
    C4: meanKnown(c4),
    C5: meanKnown(c5),
    nullRate: asked > 0 ? (asked - c4.length - c5.length) / asked : 0,
  }
}
