/** @file What a template is: it writes the request about some criteria and reads the judge's answer. */

import type { AnswerSchema, ChatMessage, ChatRequest, TokenLogprob } from '../../../chat/chat-model.ts'
import type { Criterion } from '../../../rubric/criterion.ts'
import { QUOTING_NOTE, type Quote } from '../../../util/untrusted.ts'
import type { GradeItem } from '../../grader.ts'
import type { ParsedAnswer } from '../parse.ts'
import type { Judgement, Scale } from './scale.ts'

/** A way to ask. Name and version are part of every cache key: a changed wording, or another way to read answers, is a new version. */
export interface JudgeTemplate {
  readonly name: string
  readonly version: number
  readonly scale: Scale
  /** Instructions; the same for every call. */
  readonly system: string
  /** The end of the prompt: what differs between calls about one response. */
  question(criteria: readonly Criterion[], quote: Quote): string
  /** What the answer must look like; absent where it is not JSON. */
  answerSchema?(criteria: readonly Criterion[]): AnswerSchema
  /** What a call has in place of the judge's own sampling. */
  readonly sampling?: Omit<ChatRequest, 'messages'>
  /** The answer in words, for asking once more; default: one object with the scale's key. */
  answerText?(criteria: readonly Criterion[]): string
  /** What the question shows of a criterion, where that is more than its text, its sign and its scale: part of every key. */
  shown?(criterion: Criterion): readonly unknown[]
  /** One judgement a criterion, in order, or why there is none: never a part of them. */
  read(text: string, criteria: readonly Criterion[]): ParsedAnswer<Judgement[]>
  /** In place of `read`, where the verdict is in the likelihoods of tokens; asking again would bring the same. */
  readTokens?(logprobs: readonly TokenLogprob[]): ParsedAnswer<Judgement[]>
}

/** Messages of a call; the part that all calls about a response share comes first. */
export const judgeMessages = (
  template: JudgeTemplate,
  subject: string,
  criteria: readonly Criterion[],
  quote: Quote,
): ChatMessage[] => [
  { role: 'system', content: template.system },
  { role: 'user', content: `${subject}\n\n${template.question(criteria, quote)}` },
]

/** Asked once more after an answer that could not be read. */
export const repairRequest = (
  template: JudgeTemplate,
  criteria: readonly Criterion[],
  problem: string,
): string => {
  const { scale } = template
  const answer = template.answerText?.(criteria) ?? `one JSON object, "${scale.key}" being ${scale.valueText}`
  return [
    `That answer could not be used: ${problem}.`,
    `Keep your judgement and give it again in the form that was asked for: ${answer}, and nothing before or after it.`,
  ].join(' ')
}

/** Instructions that every template shares. @param reasons whether the judge is to reason before its verdict */
export const commonRules = (what: string, scale: Scale, reasons = true): string[] => [
  `You examine replies. You are given a conversation, the reply that was written to it, and ${what}. Find out what the reply itself says or does; do not answer the conversation.`,
  QUOTING_NOTE,
  'Rules:',
  ...[
    'Go by the text of the reply alone: not by what its author may have meant, not by earlier turns, not by what you would have written.',
    ...scale.rules,
    'Things listed after "such as", "for example" or "including" are examples: the reply need not have them all.',
    ...(reasons ? ['Reason first and let the verdict follow from the reasoning.'] : []),
  ].map(rule => `- ${rule}`),
]

/** How a criterion's sign reads. */
export const signWord = (criterion: Criterion): string =>
  criterion.points > 0 ? 'desirable: a merit' : 'undesirable: a flaw'

export interface SubjectOptions {
  /** System messages usually tell the policy how to answer and would leak the rubric or its hints; default false. */
  showSystem?: boolean
  /** Show the item's reference answer; default false. */
  showReference?: boolean
}

/** Messages of the conversation that the judge sees (RuscaRL's grader leaves system messages out). */
export const shownMessages = (item: GradeItem, { showSystem = false }: SubjectOptions) =>
  showSystem ? item.prompt : item.prompt.filter(({ role }) => role !== 'system')

/**
 * Conversation, reply and reference, each quoted. It stands first in the prompt and is the same for every criterion, so that a
 * server's prefix cache computes it once.
 */
export const renderSubject = (item: GradeItem, options: SubjectOptions, quote: Quote): string => {
  const turns = shownMessages(item, options).map(({ role, content }) => quote(content, role))
  const parts = [
    'The conversation so far:',
    ...turns,
    'The reply to examine:',
    quote(item.response, 'response'),
  ]
  if (options.showReference && item.reference !== undefined)
    parts.push(
      'A reference answer, for facts only; the reply may be worded and ordered differently:',
      quote(item.reference, 'reference'),
    )
  return parts.join('\n')
}
