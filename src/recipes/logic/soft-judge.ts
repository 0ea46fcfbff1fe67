/** @file C4 and C5 by a judge: premise use and completeness as a reader sees them, beside what a proof says of them. */

import type { GradeItem } from '../../grade/grader.ts'
import type { Criterion } from '../../rubric/index.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'

/** What the judge is asked; it may give half credit. */
export const SOFT_CRITERIA: readonly Criterion[] = [
  {
    id: 'judged.C4',
    text: 'The reasoning uses the given premises that the conclusion depends on. Partly: it uses some of them and leaves out others.',
    points: 1,
  },
  {
    id: 'judged.C5',
    text: 'The steps that are written down are enough, by themselves, to settle the conclusion as the answer says. Partly: most of the chain is there and a link is missing.',
    points: 1,
  },
]

/** A response as the judge sees it. */
export const softItem = ({ id, context, question }: LogicTaskExample, response: string): GradeItem => ({
  id,
  prompt: [{ role: 'user', content: `${context}\n${question}` }],
  response,
})
