/** @file A task of conversations: a chat model answers, graders go through the rubric criterion by criterion. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import {
  type Noise,
  type ResponseItem,
  type RubricScoring,
  type ScoredResponse,
  type ScoreTask,
  type ScoringRule,
  scoreByRubric,
} from '../scored-response.ts'
import type { ConversationRow } from './rows.ts'

/** A conversation with its plain prompt. */
export interface Conversation extends ConversationRow {
  promptTokens: TokenIds
}

export interface ConversationOptions {
  score: ScoringRule
  /** Another rubric than the row's own. */
  rubricOf?: (conversation: Conversation) => Rubric
  /** The conversation with criteria shown to whoever answers it. */
  scaffold?: (messages: readonly ChatMessage[], shown: readonly Criterion[]) => readonly ChatMessage[]
  /** Whether a response speaks of the scaffold instead of following it. */
  leaks?: (tokens: Int32Array) => boolean
  noise?: Noise
  /** Mean log-prob of responses under the model that training started from; absent where no criterion asks for it. */
  startLogprobs?(items: readonly { promptTokens: TokenIds; tokens: TokenIds }[]): Promise<(number | null)[]>
  /** Ids of criteria that statistics call by their names; none unless given. */
  named?: ReadonlySet<string>
  /** Ids of criteria that a run tells in words of its own; none unless given. */
  told?: ReadonlySet<string>
}

/** What a criterion counts as in statistics: itself where rows share it, else its axis. */
export const kindOf = (
  { id, category = 'criteria', points }: Criterion,
  named: ReadonlySet<string>,
): string => (named.has(id) ? id : points < 0 ? `${category} (penalties)` : category)

interface AnswerGrading extends Pick<RubricScoring, 'rubric' | 'score' | 'noise' | 'key' | 'leftOut'> {
  grader: Grader
}

/** What graders say of an answer to a conversation, and what it is worth. */
export const gradeAnswer = (
  { id, messages: prompt, reference }: ConversationRow,
  answer: Pick<GradeItem, 'response' | 'startLogprob'>,
  { grader, ...scoring }: AnswerGrading,
): ReturnType<typeof scoreByRubric> => {
  const item: GradeItem = { id, prompt, ...answer, ...(reference !== undefined && { reference }) }
  return scoreByRubric({ ...scoring, grade: criteria => grader.grade(item, criteria) })
}

const NONE: ReadonlySet<string> = new Set()

/** Conversations with a rubric each. Judges are shown the conversation itself, never a scaffold. */
export class ConversationTask implements ScoreTask<Conversation> {
  readonly leaks?: (tokens: Int32Array) => boolean
  readonly told?: ReadonlySet<string>
  readonly #format: ChatFormat
  readonly #grader: Grader
  readonly #options: ConversationOptions

  constructor(format: ChatFormat, grader: Grader, options: ConversationOptions) {
    this.#format = format
    this.#grader = grader
    this.#options = options
    if (options.leaks) this.leaks = options.leaks
    if (options.told) this.told = options.told
  }

  name({ id }: Conversation): string {
    return id
  }

  rubric(conversation: Conversation): Rubric {
    return this.#options.rubricOf?.(conversation) ?? conversation.rubric
  }

  prompt({ promptTokens }: Conversation): TokenIds {
    return promptTokens
  }

  /** The prompt with these criteria shown; the plain one when there are none, and where the task has no scaffold. */
  scaffolded({ messages, promptTokens }: Conversation, shown: readonly Criterion[]): TokenIds {
    const { scaffold } = this.#options
    return shown.length === 0 || !scaffold ? promptTokens : this.#format.encode(scaffold(messages, shown))
  }

  /** What was said but for instructions: of a single message its text, else with who said it. */
  question({ messages }: Conversation): string {
    const said = messages.filter(({ role }) => role !== 'system')
    return said.length === 1
      ? said[0].content
      : said.map(({ role, content }) => `${role}: ${content}`).join('\n\n')
  }

  show(tokens: ArrayLike<number>): string {
    return this.#format.show(tokens)
  }

  async grade(items: readonly ResponseItem<Conversation>[]): Promise<ScoredResponse[]> {
    const starts = await this.#options.startLogprobs?.(
      items.map(({ problem: { promptTokens }, tokens }) => ({ promptTokens, tokens })),
    )
    return Promise.all(items.map((item, i) => this.#gradeOne(item, starts?.[i] ?? null)))
  }

  async #gradeOne(
    { problem, tokens, key, leftOut }: ResponseItem<Conversation>,
    startLogprob: number | null,
  ): Promise<ScoredResponse> {
    const { noise, score, named = NONE } = this.#options
    const rubric = this.rubric(problem)
    const response = this.#format.answer(tokens)
    const answer = { response, ...(startLogprob !== null && { startLogprob }) }
    const grader = this.#grader
    const scored = await gradeAnswer(problem, answer, { grader, rubric, score, noise, key, leftOut })
    const ended = tokens.length > 0 && this.#format.stopTokens.includes(tokens[tokens.length - 1])
    return {
      ...scored,
      wellFormed: ended && response !== '',
      kinds: Object.fromEntries(rubric.criteria.map(criterion => [criterion.id, kindOf(criterion, named)])),
    }
  }
}
