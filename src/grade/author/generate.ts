/** @file Writes a rubric for a question that has a reference answer but no rubric (RuscaRL Box D.3). */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { QUOTING_NOTE, quoteUntrusted } from '../../util/untrusted.ts'
import type { Parsed } from '../judge/parse.ts'
import { type Authored, type AuthorOptions, askJson } from './ask.ts'
import { type DraftLimits, draftAnswerSchema, draftProblems, readDraft, toCriteria } from './draft.ts'
import { writingRules } from './task-prompt.ts'

/** What a rubric for a question covers, with what each is about. */
export const COVERAGE = {
  'factual accuracy': 'facts that the answer must state, or must not get wrong',
  solution: 'the steps or the argument by which the question is solved',
  'answer consistency': 'the final answer agrees with the reference, and with the reasoning that leads to it',
  'format compliance': 'the form that the question asks for, or that an answer of this kind needs',
} as const

export interface QuestionWithAnswer {
  question: string
  /** The reference answer. The grader will not see it. */
  reference: string
}

/** 5 to 15 criteria worth 1 to 10 or -10 to -1, every kind of coverage (RuscaRL Box D.3). */
const LIMITS: DraftLimits = {
  minCriteria: 5,
  maxCriteria: 15,
  maxPoints: 10,
  categories: Object.keys(COVERAGE),
}

const SYSTEM = [
  'You write rubrics. A rubric is a list of criteria by which somebody grades one answer to a question, without having seen the reference answer.',
  QUOTING_NOTE,
  'Rules:',
  `- Write ${LIMITS.minCriteria} to ${LIMITS.maxCriteria} criteria, at least one of each category:`,
  ...Object.entries(COVERAGE).map(([name, about]) => `  - ${name}: ${about}.`),
  ...writingRules('the answer', LIMITS.maxPoints),
  '- The reference is one right answer. Ask for its substance, not for its wording, and leave room for other right ways.',
  'Answer with one JSON object and nothing else: {"criteria": [{"criterion": "States that ...", "category": "factual accuracy", "points": 5}, ...]}',
].join('\n')

const messagesFor = ({ question, reference }: QuestionWithAnswer): ChatMessage[] => [
  { role: 'system', content: SYSTEM },
  {
    role: 'user',
    content: [
      quoteUntrusted(question, 'question'),
      quoteUntrusted(reference, 'reference'),
      'Write the rubric for answers to this question, as the JSON object only.',
    ].join('\n\n'),
  },
]

const read = (json: unknown): Parsed<Rubric> => {
  const draft = readDraft(json)
  if (draft.problem !== undefined) return draft
  const rubric = { criteria: toCriteria(draft.value) }
  const problems = draftProblems(rubric, LIMITS)
  return problems.length > 0 ? { problem: problems.join('\n') } : { value: rubric }
}

/**
 * A rubric for a question, written by a model from the reference answer. An answer that breaks a rule is sent back once.
 * @throws DataError saying what was wrong when the second answer breaks one too; JudgeError when the model gives none.
 */
export const generateRubric = (item: QuestionWithAnswer, options: AuthorOptions): Promise<Authored<Rubric>> =>
  askJson(options, messagesFor(item), draftAnswerSchema(LIMITS), read)
