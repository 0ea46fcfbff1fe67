/**
 * @file What a teacher does in both roles of RLCER, to start from (arXiv 2602.10885, section 5.1 and Table 2): it answers a question, and
 * writes a rubric for the thinking of that answer. Kept are right answers, and rubrics that the format reward of training pays.
 */

import { z } from 'zod'
import type { ChatMessage, ChatModel } from '../../chat/chat-model.ts'
import { readRubric } from '../../grade/proposal/distinct.ts'
import { proposalSettingsSchema } from '../../grade/proposal/index.ts'
import type { RecordingFormat } from '../../util/recording-file.ts'
import { partThinking } from '../thinking.ts'
import { answerVerdict } from './answers.ts'
import type { RolePrompts } from './config.ts'
import { maskAnswers } from './mask.ts'
import { reasonerMessages, rubricatorMessages } from './prompts.ts'
import { type Question, questionText } from './question.ts'

const headerSchema = z.strictObject({
  gradus: z.literal('two-roles'),
  version: z.literal(1),
  /** Name of the model. */
  teacher: z.string(),
  sampling: z.record(z.string(), z.unknown()),
  /** Prompts say that thinking goes between tags. */
  askToThink: z.boolean(),
  /** In place of ours. */
  prompts: z.record(z.string(), z.string()).optional(),
})
export type TwoRolesHeader = z.output<typeof headerSchema>

const saidSchema = z.strictObject({
  prompt: z.string(),
  text: z.string(),
  /** Why it is not to be learnt from; null: it is. */
  rejected: z.enum(['cut-off', 'wrong', 'undecided', 'form']).nullable(),
})
type Said = z.output<typeof saidSchema>

const rowSchema = z.looseObject({
  id: z.string(),
  attempt: z.int().positive(),
  question: z.string(),
  reasoner: saidSchema,
  /** Null where the answer was cut off: there is nothing whole to write about. */
  rubricator: saidSchema.nullable(),
})
export type TwoRolesRow = z.output<typeof rowSchema>

export const TWO_ROLES: RecordingFormat<TwoRolesHeader, TwoRolesRow> = {
  kind: 'two-roles',
  words: { what: 'attempts in two roles', command: 'gradus trajectories roles' },
  header: headerSchema,
  row: rowSchema,
}

export const ROLE_REJECTIONS = {
  'cut-off': 'cut off',
  wrong: 'wrong answer',
  undecided: 'answer that could not be compared',
  form: 'rubric that the format reward does not pay',
} as const satisfies Record<NonNullable<Said['rejected']>, string>

/** What every training pays: the paper's asks for the domain, as the prompt does. */
const PAID = { format: proposalSettingsSchema.parse({ requireDomain: true }), distinct: true }

export interface TwoRolesOptions {
  temperature: number
  topP?: number
  maxTokens: number
  askToThink: boolean
  prompts?: RolePrompts
}

/** Behind the thinking; the whole text where it does not part the two. */
export const spokenAnswer = (text: string): string => {
  const { answer, closed } = partThinking(text)
  return closed ? answer : text
}

/** Of tokens there were no more, or a provider's filter let no more pass. */
export const isCutOff = (finishReason: string): boolean => ['length', 'content_filter'].includes(finishReason)

/** Why an answer is not to be learnt from, by the question's right one. */
const answerRejection = (question: Question, text: string): Said['rejected'] => {
  const { met } = answerVerdict(question, spokenAnswer(text))
  return met === true ? null : met === null ? 'undecided' : 'wrong'
}

/** Whether a recorded attempt was judged by another right answer than the question has now. */
export const isOtherwiseJudged = (question: Question, { reasoner: { text, rejected } }: TwoRolesRow) =>
  (rejected === null || rejected === 'wrong') && answerRejection(question, text) !== rejected

/**
 * One attempt of the teacher in both roles. The rubric is about whatever it answered, right or wrong, as in training; the answer itself is masked.
 * @throws JudgeError where it gives no answer
 */
export const askInTwoRoles = async (
  question: Question,
  teacher: ChatModel,
  { askToThink, prompts, ...sampling }: TwoRolesOptions,
  own: { seed?: number; signal?: AbortSignal } = {},
): Promise<Pick<TwoRolesRow, 'reasoner' | 'rubricator'>> => {
  const ask = async (
    messages: readonly ChatMessage[],
    judged: (text: string) => Said['rejected'],
  ): Promise<Said> => {
    const { text, finishReason } = await teacher.complete({ messages, ...sampling, ...own })
    const prompt = messages[0].content
    return { prompt, text, rejected: isCutOff(finishReason) ? 'cut-off' : judged(text) }
  }
  const reasoner = await ask(reasonerMessages(question, [], { askToThink, prompts }), text =>
    answerRejection(question, text),
  )
  if (reasoner.rejected === 'cut-off') return { reasoner, rubricator: null }
  const rubricator = await ask(rubricatorMessages(question, maskAnswers(reasoner.text), prompts), text =>
    readRubric(spokenAnswer(text), false, PAID).wellFormed ? null : 'form',
  )
  return { reasoner, rubricator }
}

/** A question as an attempt names it. */
export const askedQuestion = (question: Question) => ({
  id: question.id,
  question: questionText(question),
  of: question,
})

/** What is fit to be learnt from, role by role: rows for supervised learning. */
export const roleDemonstrations = ({ id, attempt, reasoner, rubricator }: TwoRolesRow) =>
  Object.entries({ reasoner, rubricator }).flatMap(([role, said]) =>
    said === null || said.rejected !== null
      ? []
      : [
          {
            ...{ id, attempt, role },
            messages: [
              { role: 'user', content: said.prompt },
              { role: 'assistant', content: said.text },
            ],
          },
        ],
  )
