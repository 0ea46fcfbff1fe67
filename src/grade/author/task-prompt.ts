/** @file Prompts for rubrics of a task: what it is, examples of both kinds, how criteria are written. */

import { QUOTING_NOTE, quoteUntrusted } from '../../util/untrusted.ts'
import type { DraftLimits } from './draft.ts'

/** Lines about single criteria; `subject` is what they are about: the answer, the reasoning. */
export const writingRules = (subject: string, maxPoints: number): string[] => [
  `- A criterion is one sentence that is plainly true or plainly false of ${subject}. A grader who knows nothing else must be able to decide it by reading.`,
  '- One claim a criterion. Where two things are wanted, write two criteria.',
  '- Name what must be there: the value, the term, the step. Words such as good, clear, appropriate or sufficient decide nothing.',
  `- What is wanted earns 1 to ${maxPoints} points and is worded as a merit ("States that ..."). What does harm costs points, -${maxPoints} to -1, and is worded as the flaw itself ("Claims that ..."), never as what should have been done.`,
  '- The more depends on it, the more points it gets. No single criterion may outweigh all the others.',
  '- No two criteria ask for the same, none denies another, and nothing is both rewarded and its absence penalised.',
  '- Describe what is graded; never address the grader or tell it what to decide.',
]

/** What a rubric is for, with examples to tell apart. */
export interface RubricSubject {
  /** What the traces were written for. */
  task: string
  /** What matters about them, where it is known. */
  dimensions?: string
  /** The one question that the rubric is for; without it the rubric is for every question of the task. */
  query?: string
  /** Traces that should score high. */
  positives: readonly string[]
  /** Traces that should score low. */
  negatives: readonly string[]
}

const traces = (texts: readonly string[], tag: string): string =>
  texts.length > 0 ? texts.map(text => quoteUntrusted(text, tag)).join('\n') : '(none)'

/** The task and its examples, quoted. */
export const context = ({ task, dimensions, query, positives, negatives }: RubricSubject): string =>
  [
    'The task:',
    quoteUntrusted(task, 'task'),
    ...(dimensions ? ['What matters about it:', quoteUntrusted(dimensions, 'dimensions')] : []),
    ...(query ? ['The question that the rubric is for:', quoteUntrusted(query, 'query')] : []),
    'Examples that should score high:',
    traces(positives, 'positive'),
    'Examples that should score low:',
    traces(negatives, 'negative'),
  ].join('\n\n')

/** What a prompt is about. */
export interface PromptSubject {
  /** What the criteria are about, in a word or two. */
  subject: string
  /** Only the thinking is judged, by somebody who does not see what comes after it. */
  thinking: boolean
  /** For one question, not for all of a task. */
  forQuery: boolean
}

/** `what` is the work to do, `answer` the shape of the answer. */
export const systemFor = (
  what: string,
  { subject, thinking, forQuery }: PromptSubject,
  limits: DraftLimits,
  answer: string,
): string =>
  [
    what,
    QUOTING_NOTE,
    'Rules:',
    `- Have ${limits.minCriteria} to ${limits.maxCriteria} criteria, such that high examples meet the ones that earn points and low examples do not.`,
    forQuery
      ? '- They are for this question alone, and must serve for new examples of work on it: nothing may hold for one example only.'
      : '- They must serve for new cases of the same task: nothing may hold for one example only.',
    ...(thinking
      ? [
          '- Only the thinking before the answer is graded, by somebody who sees neither the answer nor whether it is right. No criterion is about the answer: say how the thinking goes about it.',
        ]
      : []),
    ...writingRules(subject, limits.maxPoints),
    `Answer with one JSON object and nothing else: ${answer}`,
  ].join('\n')
