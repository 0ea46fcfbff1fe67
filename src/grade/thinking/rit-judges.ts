/** @file RiT's judges: the thinking alone against thinking criteria, the answer alone against the task's own, 0 or 1 each (no prompt is printed in the paper). */

import type { Criterion } from '../../rubric/criterion.ts'
import type { Quote } from '../judge/untrusted.ts'
import { oneTemplateForm } from './form.ts'
import { listTemplate, zeroOne } from './judgement-list.ts'

const entry = ({ text, points }: Criterion, number: number, quote: Quote): string =>
  `${number}. (${points > 0 ? 'a merit: 1 when it is there' : 'a flaw: 1 when it is there'})\n${quote(text, 'criterion')}`

const rules = (what: string): string[] => [
  'Rules:',
  ...[
    `Decide every criterion by itself and by the text of ${what} alone. 1 when all of it holds, 0 when it does not, or only in part.`,
    `A flaw gets 1 when it is in ${what} and 0 when it is not, however good the rest may be.`,
    'Length earns nothing: what is said twice counts once, and what is only announced is not done.',
    'Things listed after "such as", "for example" or "including" are examples: not all of them are needed.',
    'Keep the order of the list. Give exactly one value a criterion; leave none out and add none.',
  ].map(rule => `- ${rule}`),
]

const thinking = listTemplate({
  name: 'thinking-judge/zero-one',
  version: 1,
  scale: zeroOne('criterion_holds'),
  instructions: [
    'You judge how a problem was thought through. You are given a query, the thinking that came before an answer to it, and a list of criteria about the thinking. The answer itself is not shown, and it is not what you judge: good thinking may lead to a wrong answer, and the other way round.',
    ...rules('the thinking'),
  ],
  entries: 'criteria',
  entry,
})

const response = listTemplate({
  name: 'response-judge/zero-one',
  version: 1,
  scale: zeroOne('criterion_holds'),
  instructions: [
    'You judge the answer to a query. You are given the query, the answer, and a list of criteria about it. Whatever was thought before the answer is not shown and does not count.',
    ...rules('the answer'),
  ],
  entries: 'criteria',
  entry,
})

/** Query and thinking, never the answer. */
export const THINKING_JUDGE = oneTemplateForm(thinking, {
  question: 'The query:',
  judged: { heading: 'The thinking:', tag: 'thinking' },
})

/** Query and answer, never the thinking. */
export const RESPONSE_JUDGE = oneTemplateForm(response, {
  question: 'The query:',
  judged: { heading: 'The answer:', tag: 'response' },
})
