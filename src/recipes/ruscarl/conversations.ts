/** @file Conversations as ruscarl trains on them: a chat model answers, a judge grades criterion by criterion. */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import { assertSameTokenizer, type ChatFormat, chatFormatOf } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ResponseItem, ScoredResponse } from '../checklist/evaluate.ts'
import { RewardNoise } from '../checklist/noise.ts'
import type { HeldOutJudge } from '../common/judge-config.ts'
import { openJudging } from '../common/judging.ts'
import type { RuscarlConfig } from './config.ts'
import { type ConversationRow, needJudge, splitConversations } from './conversation-rows.ts'
import { completeScore, lacksVerdicts, trainingRubrics, trainingScore } from './rubrics.ts'
import {
  leakDetector,
  SCAFFOLD_INSTRUCTIONS,
  type ScaffoldOptions,
  scaffoldText,
  withScaffold,
} from './scaffold.ts'
import type { SecondOpinion } from './second-opinion.ts'
import type { ScaffoldTask, TrainingTask } from './task.ts'

/** A conversation with its plain prompt. */
export interface Conversation extends ConversationRow {
  promptTokens: TokenIds
}

export interface ConversationOptions {
  scaffold?: ScaffoldOptions
  /** Another rubric than the row's own. */
  rubricOf?: (conversation: Conversation) => Rubric
  score: (rubric: Rubric, verdicts: readonly Verdict[]) => number | null
  noise?: RewardNoise
}

/** What a criterion counts as in statistics over conversations, whose rubrics have nothing but their axes in common. */
const kindOf = ({ category = 'criteria', points }: Criterion): string =>
  points < 0 ? `${category} (penalties)` : category

/** Conversations with a rubric each. Judges are shown the conversation itself, never a scaffold. */
export class ConversationTask implements ScaffoldTask<Conversation> {
  readonly leaks: (tokens: Int32Array) => boolean
  readonly #format: ChatFormat
  readonly #grader: Grader
  readonly #options: ConversationOptions

  constructor(format: ChatFormat, grader: Grader, options: ConversationOptions) {
    this.#format = format
    this.#grader = grader
    this.#options = options
    this.leaks = leakDetector(SCAFFOLD_INSTRUCTIONS.map(text => format.tokens(text)))
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

  scaffolded(conversation: Conversation, shown: readonly Criterion[]): TokenIds {
    if (shown.length === 0) return conversation.promptTokens
    const text = scaffoldText(shown, this.#options.scaffold)
    return this.#format.encode(withScaffold(conversation.messages, text))
  }

  show(tokens: ArrayLike<number>): string {
    return this.#format.show(tokens)
  }

  grade(items: readonly ResponseItem<Conversation>[]): Promise<ScoredResponse[]> {
    return Promise.all(items.map(item => this.#gradeOne(item)))
  }

  async #gradeOne({ problem, tokens, key = '' }: ResponseItem<Conversation>): Promise<ScoredResponse> {
    const { noise, score } = this.#options
    const rubric = this.rubric(problem)
    const response = this.#format.answer(tokens)
    const { id, messages: prompt, reference } = problem
    const item: GradeItem = { id, prompt, response, ...(reference !== undefined && { reference }) }
    const given = await this.#grader.grade(item, rubric.criteria)
    const verdicts = noise ? noise.verdicts(given, key) : given
    const scored = score(rubric, verdicts)
    const paid = noise ? noise.score(scored, key) : scored
    const ended = tokens.length > 0 && this.#format.stopTokens.includes(tokens[tokens.length - 1])
    return {
      score: paid,
      ...(paid === null && { unjudged: lacksVerdicts(score, rubric, verdicts) }),
      verdicts,
      wellFormed: ended && response !== '',
      kinds: Object.fromEntries(rubric.criteria.map(criterion => [criterion.id, kindOf(criterion)])),
    }
  }
}

/** Rows with their plain prompts, and how many were left out. */
interface Encoded {
  conversations: Conversation[]
  /** Longer than `task.maxPromptTokens`. */
  tooLong: number
  /** Without room for the whole scaffold and a response in the model's context. */
  noRoom: number
}

const UTF8 = new TextEncoder()

/** Encodes plain prompts; leaves out what is too long, also with the whole rubric of training shown. */
const encodeRows = (
  rows: readonly ConversationRow[],
  format: ChatFormat,
  { task, scaffold, rollout }: RuscarlConfig,
  rubricOf: (row: ConversationRow) => Rubric,
): Encoded => {
  const encoded: Encoded = { conversations: [], tooLong: 0, noRoom: 0 }
  const room = format.maxPositions - rollout.maxTokens
  for (const row of rows) {
    const promptTokens = format.encode(withScaffold(row.messages, plainSystem(row, scaffold)))
    if (promptTokens.length > task.maxPromptTokens) {
      encoded.tooLong++
      continue
    }
    const text = scaffoldText(rubricOf(row).criteria, scaffold)
    const fits = () => format.encode(withScaffold(row.messages, text)).length <= room
    // A token is at least a byte: most scaffolds need not be encoded to see that they fit.
    if (promptTokens.length + 2 * UTF8.encode(text ?? '').length <= room || fits())
      encoded.conversations.push({ ...row, promptTokens })
    else encoded.noRoom++
  }
  return encoded
}

/** `whenEmpty` is for conversations that have no system message. */
const plainSystem = (
  { messages }: ConversationRow,
  { whenEmpty }: RuscarlConfig['scaffold'],
): string | null => (messages[0]?.role === 'system' ? null : whenEmpty)

const leftOut = (side: string, { tooLong, noRoom }: Encoded, limit: number): string[] => [
  ...(tooLong > 0 ? [`${tooLong} ${side} conversations left out: longer than ${limit} tokens`] : []),
  ...(noRoom > 0
    ? [
        `${noRoom} ${side} conversations left out: no room in the model's context beside scaffold and response`,
      ]
    : []),
]

/** The same cut on both sides, so that training and test rows are alike. @throws ConfigError when one side is empty */
const encodeSplit = (config: RuscarlConfig, format: ChatFormat) => {
  const split = splitConversations(config.task)
  const source = { name: ({ id }: ConversationRow) => id, rubric: ({ rubric }: ConversationRow) => rubric }
  const rubricOf = trainingRubrics(config, source, split.train)
  const train = encodeRows(split.train, format, config, rubricOf)
  const test = encodeRows(split.test, format, config, ({ rubric }) => rubric)
  const { maxPromptTokens } = config.task
  if (train.conversations.length === 0 || test.conversations.length === 0)
    throw new ConfigError(
      `task.maxPromptTokens: expected conversations of at most ${maxPromptTokens} tokens, with room for a response of ${config.rollout.maxTokens} in a context of ${format.maxPositions}, got ${train.conversations.length} to train on and ${test.conversations.length} to test on`,
      { hint: 'raise task.maxPromptTokens, or lower rollout.maxTokens' },
    )
  const notes = [
    ...leftOut('training', train, maxPromptTokens),
    ...leftOut('test', test, maxPromptTokens),
    ...(split.repeated > 0
      ? [`${split.repeated} training conversations left out: also among the test rows`]
      : []),
  ]
  return { train: train.conversations, test: test.conversations, rubricOf, notes }
}

const TEST_SET = 'held-out conversations'
const SECOND_TEST_SET = 'held-out conversations, held-out judge'

/** Judges in place of those that the configuration's endpoints serve. */
export interface JudgeModels {
  judgeModel?: ChatModel
  heldOutJudgeModel?: ChatModel
}

/** The judge that training never hears. It goes by the true rubrics. */
const secondJudge = (config: HeldOutJudge, format: ChatFormat, model?: ChatModel) => {
  const { grader, figures, close } = openJudging(config, model, 'heldOutJudge')
  const opinion: SecondOpinion<Conversation> = {
    task: new ConversationTask(format, grader, { score: completeScore }),
    rollouts: config.rollouts,
    testName: config.evaluations ? SECOND_TEST_SET : null,
    figures,
  }
  return { opinion, close }
}

/** The test set that a run is about: that of the held-out judge where it grades evaluations. */
export const primarySetOf = ({ judge }: RuscarlConfig): string =>
  judge?.heldOut?.evaluations ? SECOND_TEST_SET : TEST_SET

/**
 * The conversations of a file for the model in a folder.
 * @param models judges in place of the configured fleets
 * @throws ConfigError, DataError, CheckpointError for a file, judge or model that cannot be used
 */
export const conversationTask = (
  config: RuscarlConfig,
  folder: string,
  models: JudgeModels = {},
): TrainingTask<Conversation> => {
  const format = chatFormatOf(folder, 'task "conversations"')
  const { train, test, rubricOf, notes } = encodeSplit(config, format)
  if (config.judge === null && needJudge([...train, ...test]))
    throw new ConfigError('judge: expected one for criteria that no rule checks, got nothing', {
      hint: 'set judge.fleet.endpoints',
    })
  const { grader, figures, close } = openJudging(config.judge, models.judgeModel)
  const second = config.judge?.heldOut
    ? secondJudge(config.judge.heldOut, format, models.heldOutJudgeModel)
    : null
  const { nulls } = config.task
  const { scaffold } = config
  const noise = new RewardNoise({ flipRate: config.flipRate, randomScores: config.reward === 'random' })
  return {
    train,
    test,
    testName: TEST_SET,
    orderLabel: 'conversations',
    reward: new ConversationTask(format, grader, {
      scaffold,
      rubricOf,
      score: trainingScore(config.noise, nulls),
      noise,
    }),
    truth: new ConversationTask(format, grader, { scaffold, score: trainingScore('none', nulls) }),
    ...(second && { heldOut: second.opinion }),
    stopTokens: format.stopTokens,
    // Each response goes to the judge as soon as it is finished.
    gradeBatch: 1,
    notes,
    figures,
    checkTeacher: teacher => assertSameTokenizer(folder, teacher, 'sft.teacher'),
    async close() {
      await close()
      await second?.close()
    },
  }
}
