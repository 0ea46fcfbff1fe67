/** @file RLCER's verifier: a whole rubric on one response, true or false in the rubric's order (Fig. 10; content of spec appendix A, our words). */

import type { Criterion } from '../../rubric/criterion.ts'
import { oneTemplateForm } from './form.ts'
import { listTemplate, trueFalse } from './judgement-list.ts'

const pointsText = ({ points }: Pick<Criterion, 'points'>): string =>
  points > 0 ? `reward, ${points} points: a merit` : `penalty, ${points} points: a flaw`

const template = listTemplate({
  name: 'rubric-verifier/true-false',
  version: 2,
  scale: trueFalse('criterion_met'),
  instructions: [
    'You check how a student worked on a question against a rubric. You are given the question, what the student wrote, and the list of criteria. Decide every criterion, and nothing else: you are not asked to answer the question, or whether you like the response.',
    'Rules:',
    ...[
      'Decide every criterion by itself, strictly true or false. There is nothing in between, and the decision on one says nothing about another unless its own words refer to it.',
      'Go by what the response says and by the exact words of the criterion: not by what the student may have meant, not by what you know besides, not by how you would have solved it.',
      'A criterion with several parts is true only when every part is.',
      'A reward names a merit: true when the response has it, false when it does not.',
      'A penalty names a flaw: true means that the flaw IS in the response, false that it is not. Never say true of a penalty because the response is good.',
      'The final answer may be hidden behind a placeholder. Then nothing follows from that, neither a merit nor a flaw.',
      'Keep the order of the list. Give exactly one value a criterion; leave none out and add none.',
      'The final score is the sum of the points, negative ones included, of all criteria that are true.',
    ].map(rule => `- ${rule}`),
  ],
  entries: 'criteria',
  entry: ({ category, text, points }, number, quote) =>
    [
      `${number}. (${pointsText({ points })})`,
      ...(category === undefined ? [] : [quote(category, 'category')]),
      quote(text, 'criterion'),
    ].join('\n'),
  shown: ({ text, points, category }) => [text, points, category ?? null],
  further: { final_score: 'a number' },
})

/** Whole-rubric verification of thinking. The final score is asked for as in the paper; only the list counts. */
export const RUBRIC_VERIFIER = oneTemplateForm(template, {
  question: 'The question:',
  judged: { heading: 'What the student wrote:', tag: 'response' },
})
