/** @file A task of conversations: a chat model answers, graders go through the rubric criterion by criterion. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { Item, Task, Verdicts } from '../task.ts'
import type { ConversationRow } from './rows.ts'

/** A conversation with its plain prompt. */
export interface Conversation extends ConversationRow {
  promptTokens: TokenIds
}

export interface ConversationParts extends Pick<Task<Conversation>, 'train' | 'tests' | 'notes'> {
  format: ChatFormat
  grader: Grader
}

export interface ConversationOptions {
  /** The conversation with criteria shown to whoever answers it. */
  scaffold?: (messages: readonly ChatMessage[], shown: readonly Criterion[]) => readonly ChatMessage[]
  /** Whether a response speaks of the scaffold instead of following it. */
  leaks?: (tokens: Int32Array) => boolean
  /** Mean log-prob of responses under the model that training started from; absent where no criterion asks for it. */
  startLogprobs?(items: readonly { promptTokens: TokenIds; tokens: TokenIds }[]): Promise<(number | null)[]>
  /** Ids of criteria that statistics call by their names; none unless given. */
  named?: ReadonlySet<string>
}

/** What a criterion counts as in statistics: itself where rows share it, else its axis. */
export const kindOf = (
  { id, category = 'criteria', points }: Criterion,
  named: ReadonlySet<string>,
): string => (named.has(id) ? id : points < 0 ? `${category} (penalties)` : category)

/** What graders say of an answer to a conversation. */
export const gradeAnswer = (
  { id, messages: prompt, reference }: ConversationRow,
  answer: Pick<GradeItem, 'response' | 'startLogprob'>,
  criteria: readonly Criterion[],
  grader: Grader,
): Promise<Verdict[]> =>
  grader.grade({ id, prompt, ...answer, ...(reference !== undefined && { reference }) }, criteria)

/** What was said but for instructions: of a single message its text, else with who said it. */
export const conversationText = ({ messages }: Pick<ConversationRow, 'messages'>): string => {
  const said = messages.filter(({ role }) => role !== 'system')
  return said.length === 1
    ? said[0].content
    : said.map(({ role, content }) => `${role}: ${content}`).join('\n\n')
}

const NONE: ReadonlySet<string> = new Set()

/** Conversations with a rubric each. Judges are shown the conversation itself, never a scaffold. */
export const conversationTask = (
  { format, grader, ...problems }: ConversationParts,
  { scaffold, leaks, startLogprobs, named = NONE }: ConversationOptions = {},
): Task<Conversation> => {
  const gradeOne = async (
    { problem, tokens, criteria }: Item<Conversation>,
    startLogprob: number | null,
  ): Promise<Verdicts> => {
    const response = format.answer(tokens)
    const answer = { response, ...(startLogprob !== null && { startLogprob }) }
    const ended = tokens.length > 0 && format.stopTokens.includes(tokens[tokens.length - 1])
    return {
      verdicts: await gradeAnswer(problem, answer, criteria, grader),
      wellFormed: ended && response !== '',
    }
  }
  return {
    ...problems,
    label: 'conversations',
    id: ({ id }) => id,
    question: conversationText,
    prompt: ({ messages, promptTokens }, hints = []) =>
      hints.length === 0 || !scaffold ? promptTokens : format.encode(scaffold(messages, hints)),
    show: tokens => format.show(tokens),
    rubric: ({ rubric }) => rubric,
    async grade(items) {
      const starts = await startLogprobs?.(
        items.map(({ problem: { promptTokens }, tokens }) => ({ promptTokens, tokens })),
      )
      return Promise.all(items.map((item, i) => gradeOne(item, starts?.[i] ?? null)))
    },
    kind: criterion => kindOf(criterion, named),
    ...(leaks && { leaks }),
    stopTokens: format.stopTokens,
    // Each response goes to the judge as soon as it is finished; what the starting model scores goes through it together.
    ...(!startLogprobs && { gradeBatch: 1 }),
  }
}
