/**
 * @file RiT's judges: the thinking alone against thinking criteria, the answer alone against the task's own, 0 or 1 each (no prompt is
 * printed in the paper); and RLCER's verifier, which reads a whole response.
 */

import { z } from 'zod'
import type { ChatModel } from '../../chat/chat-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { shortHash } from '../../util/canonical.ts'
import { fillPrompt, promptSetting } from '../../util/prompt-setting.ts'
import { QUOTING_NOTE, type Quote } from '../../util/untrusted.ts'
import { type JudgeConfig, judgeOf, judgeSchema, judgeShape } from '../judge/judge-config.ts'
import { type OpenJudge, openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import type { JudgeForm } from '../judge/templates/form.ts'
import {
  judgeFormOf,
  listTemplate,
  oneTemplateForm,
  questionParts,
  trueFalse,
  zeroOne,
} from '../judge/templates/lists.ts'
import type { JudgeTemplate } from '../judge/templates/template.ts'

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

const pointsText = ({ points }: Pick<Criterion, 'points'>): string =>
  points > 0 ? `reward, ${points} points: a merit` : `penalty, ${points} points: a flaw`

const rubricEntry = ({ category, text, points }: Criterion, number: number, quote: Quote): string =>
  [
    `${number}. (${pointsText({ points })})`,
    ...(category === undefined ? [] : [quote(category, 'category')]),
    quote(text, 'criterion'),
  ].join('\n')

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
  entry: rubricEntry,
  shown: ({ text, points, category }) => [text, points, category ?? null],
  further: { final_score: 'a number' },
})

/** Whole-rubric verification of thinking. The final score is asked for as in the paper; only the list counts. */
export const RUBRIC_VERIFIER = oneTemplateForm(template, {
  question: 'The question:',
  judged: { heading: 'What the student wrote:', tag: 'response' },
})

const RUBRICS = /(?<!\{)\{rubrics\}/
const AFTER_RUBRICS = /(?<!\{)\{rubrics\}[\s\S]*(?<!\{)\{(?:question|response|rubrics)\}/

/** Whether a text, as a recording holds it, can be a verifier's prompt. */
export const isVerifierPrompt = (prompt: string): boolean => {
  const [before, after, ...more] = prompt.split(RUBRICS)
  const named = ['{question}', '{response}']
  return (
    after !== undefined &&
    more.length === 0 &&
    named.every(name => before.includes(name) && !after.includes(name))
  )
}

/** A verifier's prompt (RLCER Fig. 10). */
export const verifierPrompt = promptSetting(['question', 'response', 'rubrics']).refine(
  prompt => !AFTER_RUBRICS.test(prompt),
  'a prompt with {rubrics} once, after {question} and {response}; calls about one response share what stands before it',
)

/**
 * `RUBRIC_VERIFIER`, or the same with a prompt of one's own, whose text is part of every key. Question, response and criteria are
 * quoted, and the answer is read in the same way.
 */
export const rubricVerifier = (prompt?: string): JudgeForm => {
  if (prompt === undefined) return RUBRIC_VERIFIER
  const [before, after] = prompt.split(RUBRICS)
  const own: JudgeTemplate = {
    ...template,
    name: `${template.name}/${shortHash(prompt)}`,
    system: QUOTING_NOTE,
    question: (criteria, quote) =>
      criteria.map((criterion, i) => rubricEntry(criterion, i + 1, quote)).join('\n') + fillPrompt(after, {}),
  }
  return judgeFormOf(own, (item, options, quote) =>
    fillPrompt(before.trimEnd(), {
      question: questionParts(item, options, quote).join('\n'),
      response: quote(item.response, 'response'),
    }),
  )
}

/** RLCER's verifier as configurations write it. */
export const rubricJudgeSchema = z
  .strictObject({
    ...judgeShape,
    prompt: verifierPrompt
      .optional()
      .describe(
        'Prompt in place of ours: a file or the text itself, with `{question}`, `{response}` and then `{rubrics}`, which are quoted; the answer is a list `judgement` as in RLCER Fig. 10.',
      ),
  })
  .transform(judgeOf('thinking'))

/** A judge of thinking: its endpoints, how it is asked (preset `thinking`), what it remembers. */
export const thinkingJudgeSchema = judgeSchema('thinking')

/**
 * Opens a judge of one form. The same question is asked once while the process runs, also without a cache folder.
 * @param model in place of the configured endpoints
 * @throws ConfigError for an endpoint, a key or a folder that cannot be used
 */
export const openThinkingJudge = (config: JudgeConfig, form: JudgeForm, model?: ChatModel): OpenJudge =>
  openJudge(config, { form, model, store: recentVerdicts(), tellsCalls: true })
