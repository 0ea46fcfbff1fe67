/** @file Prompts for rubrics of a task: what it is, examples of both kinds, how criteria are written. */

import { QUOTING_NOTE, quoteUntrusted } from '../judge/untrusted.ts'
import type { DraftLimits } from './draft.ts'
import { writingRules } from './rules-of-writing.ts'

/** What a rubric is for, with examples to tell apart. */
export interface RubricTask {
  /** What the traces were written for. */
  task: string
  /** What matters about them, where it is known. */
  dimensions?: string
  /** Traces that should score high. */
  positives: readonly string[]
  /** Traces that should score low. */
  negatives: readonly string[]
}

const traces = (texts: readonly string[], tag: string): string =>
  texts.length > 0 ? texts.map(text => quoteUntrusted(text, tag)).join('\n') : '(none)'

/** The task and its examples, quoted. */
export const context = ({ task, dimensions, positives, negatives }: RubricTask): string =>
  [
    'The task:',
    quoteUntrusted(task, 'task'),
    ...(dimensions ? ['What matters about it:', quoteUntrusted(dimensions, 'dimensions')] : []),
    'Examples that should score high:',
    traces(positives, 'positive'),
    'Examples that should score low:',
    traces(negatives, 'negative'),
  ].join('\n\n')

/** `what` is the work to do, `answer` the shape of the answer. */
export const systemFor = (what: string, subject: string, limits: DraftLimits, answer: string): string =>
  [
    what,
    QUOTING_NOTE,
    'Rules:',
    `- Have ${limits.minCriteria} to ${limits.maxCriteria} criteria, such that high examples meet the ones that earn points and low examples do not.`,
    '- They must serve for new cases of the same task: nothing may hold for one example only.',
    ...writingRules(subject, limits.maxPoints),
    `Answer with one JSON object and nothing else: ${answer}`,
  ].join('\n')
