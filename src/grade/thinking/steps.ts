/** @file Step-level judging for the PRM arm: thinking cut into steps, each right or wrong in context, their mean as the reward. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { meanKnown } from '../../util/descriptive.ts'
import type { GradeOptions, Grader } from '../grader.ts'
import { listTemplate, oneTemplateForm, zeroOne } from '../judge/templates/lists.ts'

/** What begins a step on a line of its own: `Step 3:`, `3.`, `3)`, `(3)`, `- `, `* `, `First,`, a heading. */
const MARKER =
  /^[ \t]{0,3}(?:#{1,6}[ \t]|(?:\*{1,2})?step[ \t]{1,3}\d+|\(?\d{1,3}[.)](?=\s)|[-*•](?=\s)|(?:first|second|third|next|then|finally)(?:ly)?,)/i

const BLANK = /^\s*$/

/** The steps of a text: what blank lines part, and what lines that begin with a step's mark begin. Indented lines belong to theirs. */
export const thinkingSteps = (thinking: string): string[] => {
  const steps: string[][] = []
  let open = false
  for (const line of thinking.split(/\r?\n/)) {
    if (BLANK.test(line)) {
      open = false
      continue
    }
    if (!open || MARKER.test(line)) steps.push([])
    open = true
    steps.at(-1)!.push(line)
  }
  return steps.map(lines => lines.join('\n').trim())
}

const template = listTemplate({
  name: 'step-judge/zero-one',
  version: 1,
  scale: zeroOne('step_correct'),
  instructions: [
    'You check reasoning step by step. You are given a question, the whole reasoning about it, and the steps that you are to judge, in their order.',
    'Rules:',
    ...[
      'A step is correct (1) when what it says or does is right given the question and the steps before it: the fact is true, the calculation is right, the inference follows, the plan can be carried out.',
      'A step is incorrect (0) when it holds an error of its own, or builds on an earlier error as if it were right.',
      'A step that finds an earlier error and mends it is correct. One that says nothing that could be wrong, such as an announcement, is correct.',
      'Judge what the step says, not its style, and not whether the final answer is right.',
      'Keep the order of the list. Give exactly one value a step; leave none out and add none.',
    ].map(rule => `- ${rule}`),
  ],
  entries: 'steps',
  entry: ({ text }, number, quote) => `${number}.\n${quote(text, 'step')}`,
})

/** Question, whole reasoning, and the steps of the call. */
export const STEP_JUDGE = oneTemplateForm(template, {
  question: 'The question:',
  judged: { heading: 'The whole reasoning:', tag: 'thinking' },
})

/** Verdicts on the steps of one text. */
export interface StepVerdicts {
  steps: string[]
  verdicts: Verdict[]
  /** Share of correct steps among those with a verdict; 0 where there are no steps, null where no step has a verdict. */
  mean: number | null
}

export interface SteppedThinking {
  question: string
  thinking: string
}

/** Most steps of a call: an answer grows with them, and long lists are miscounted. */
const MOST_STEPS = 32

/**
 * Judges every step of a text in context, at most `MOST_STEPS` of them in a call.
 * @param grader a judge of form `STEP_JUDGE`; its `shape` may make calls smaller
 * @example
 * const grader = scriptedGrader((_item, { text }) => text !== '2. 12 - 1 = 10')
 * const judged = await judgeSteps(grader, { question: '3 * 4 - 1?', thinking: '1. 3 * 4 = 12\n2. 12 - 1 = 10' })
 * judged.verdicts.map(({ met }) => met) // [ true, false ]
 * judged.mean // 0.5
 */
export const judgeSteps = async (
  grader: Grader,
  { question, thinking }: SteppedThinking,
  options?: GradeOptions,
): Promise<StepVerdicts> => {
  const steps = thinkingSteps(thinking)
  if (steps.length === 0) return { steps, verdicts: [], mean: 0 }
  const criteria = steps.map((text, index): Criterion => ({ id: `step ${index + 1}`, text, points: 1 }))
  const item = { prompt: [{ role: 'user' as const, content: question }], response: thinking }
  const parts = Array.from({ length: Math.ceil(criteria.length / MOST_STEPS) }, (_, part) =>
    criteria.slice(part * MOST_STEPS, (part + 1) * MOST_STEPS),
  )
  const verdicts = (await Promise.all(parts.map(part => grader.grade(item, part, options)))).flat()
  const given = verdicts.flatMap(({ met }) => (met === null ? [] : [Number(met)]))
  return { steps, verdicts, mean: meanKnown(given) }
}
