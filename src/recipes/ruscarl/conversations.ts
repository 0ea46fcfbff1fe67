/** @file Conversations as ruscarl trains on them: with its scaffold, its rubrics, its judges. */

import type { ChatMessage, ChatModel } from '../../chat/chat-model.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import type { ScoreItem } from '../../policy/policy.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { PENALTY } from '../../runs/criterion-words.ts'
import { encodeSplit, type PromptSettings } from '../../tasks/conversation/prompts.ts'
import { type ConversationRow, needJudge, splitConversations } from '../../tasks/conversation/rows.ts'
import { type Conversation, conversationTask } from '../../tasks/conversation/task.ts'
import { scored } from '../../tasks/scored-response.ts'
import { ConfigError } from '../../util/errors.ts'
import { openJudging } from '../common/judging.ts'
import { loggedCriteria, rewardedRubric } from '../common/rewarded-rubric.ts'
import { type RubricTask, StartLikelihood } from '../common/rubric-task.ts'
import { openGroups } from '../options/group-judge.ts'
import { openHeldOutJudge } from '../options/held-out-judge.ts'
import { asTrained } from '../options/options.ts'
import { trainingRubrics, trainingScore } from '../options/spoilt-rewards.ts'
import { isScaffolded, type RuscarlConfig, type RuscarlOn } from './config.ts'
import { leakDetector, SCAFFOLD_INSTRUCTIONS, scaffolding, withScaffold } from './scaffold.ts'

const TEST_SET = 'held-out conversations'
const SECOND_TEST_SET = 'held-out conversations, held-out judge'

/** Judges in place of those that the configuration's endpoints serve. */
export interface JudgeModels {
  judgeModel?: ChatModel
  heldOutJudgeModel?: ChatModel
  groupJudgeModel?: ChatModel
}

/** What a conversation is shown at most: the whole rubric, in training that of training. */
const promptsOf = (
  config: RuscarlOn<'conversations'>,
  rubricOf: (row: ConversationRow) => Rubric,
): PromptSettings => {
  const { task, rollout, scaffold } = config
  const show = isScaffolded(config) ? scaffolding(scaffold) : (messages: readonly ChatMessage[]) => messages
  return {
    maxPromptTokens: task.maxPromptTokens,
    maxTokens: rollout.maxTokens,
    // `whenEmpty` is for conversations that have no system message.
    plain: ({ messages }) =>
      messages[0]?.role === 'system' ? messages : withScaffold(messages, scaffold.whenEmpty),
    longest: {
      train: row => show(row.messages, rubricOf(row).criteria),
      test: ({ messages, rubric }) => show(messages, rubric.criteria),
    },
  }
}

/** The test set that a run is about: that of the held-out judge where it grades evaluations. */
export const conversationSet = ({ judge }: RuscarlConfig): string =>
  judge?.heldOut?.evaluations ? SECOND_TEST_SET : TEST_SET

/**
 * The conversations of a file as prompts for the model in a folder, and the rubrics of training.
 * @throws ConfigError, DataError, CheckpointError for a file or model that cannot be used, and where a judge is needed
 */
export const encodedConversations = (
  config: RuscarlOn<'conversations'>,
  folder: string,
  mayLackJudge = false,
) => {
  const format = chatFormatOf(folder, 'task "conversations"')
  const split = splitConversations(config.task)
  const source = { id: ({ id }: ConversationRow) => id, rubric: ({ rubric }: ConversationRow) => rubric }
  const rubricOf = trainingRubrics(config, source, split.train)
  const encoded = encodeSplit(split, format, promptsOf(config, rubricOf))
  if (!mayLackJudge) assertJudge(config, [...encoded.train, ...encoded.test])
  const rubric = rewardedRubric({ ...encoded, named: split.named })
  return { ...encoded, format, rubricOf, named: split.named, rubric }
}

/** Names for reports of the criteria that go by their ids: a reader has to see which ones a response had better not meet. */
export const penaltyNames = ({
  train,
  test,
  named,
}: ReturnType<typeof encodedConversations>): Record<string, string> =>
  Object.fromEntries(
    [...train, ...test].flatMap(({ rubric }) =>
      rubric.criteria.flatMap(({ id, points }) =>
        points < 0 && named.has(id) ? [[id, PENALTY] as const] : [],
      ),
    ),
  )

/** @throws ConfigError for rows that need a judge where there is none */
export const assertJudge = ({ judge }: RuscarlConfig, rows: readonly ConversationRow[]): void => {
  if (judge === null && needJudge(rows))
    throw new ConfigError('judge: expected one for criteria that no rule checks, got nothing', {
      hint: 'set judge.fleet.endpoints',
    })
}

/**
 * The conversations of a file for the model in a folder.
 * @param models judges in place of the configured fleets
 * @throws ConfigError, DataError, CheckpointError for a file, judge or model that cannot be used
 */
export const conversationTraining = (
  config: RuscarlOn<'conversations'>,
  folder: string,
  models: JudgeModels = {},
  { train, test, notes, format, rubricOf, named, rubric } = encodedConversations(config, folder),
): RubricTask<Conversation> => {
  const { grader, metrics, close } = openJudging(config.judge, models.judgeModel, 'judge', config.rules)
  const start = StartLikelihood.neededBy([...train, ...test]) ? new StartLikelihood() : null
  const seen = {
    named,
    ...(start && { startLogprobs: (items: readonly ScoreItem[]) => start.of(items) }),
  }
  const parts = { format, grader, train, tests: { [TEST_SET]: test }, notes }
  const heldOut = openHeldOutJudge(
    config.judge,
    SECOND_TEST_SET,
    own => conversationTask({ ...parts, grader: own }, seen),
    { rules: config.rules, model: models.heldOutJudgeModel },
  )
  const task = conversationTask(parts, {
    scaffold: scaffolding(config.scaffold),
    leaks: leakDetector(SCAFFOLD_INSTRUCTIONS.map(text => format.tokens(text))),
    ...seen,
  })
  const shown = {
    messages: ({ messages }: Conversation) => messages,
    text: (tokens: Int32Array) => format.answer(tokens),
  }
  const { nulls } = config.task
  const logged = loggedCriteria(rubric)
  const truth = scored(task, { score: trainingScore('none', nulls), logged })
  const { reward, groups } = asTrained(config, task, {
    ...{ rubricOf, logged, nulls },
    groups: heard => openGroups(config, truth, heard, { shown, model: models.groupJudgeModel }),
  })
  return {
    ...{ reward, truth, ...(heldOut && { heldOut }), ...(start && { start }) },
    metrics: () => ({ ...metrics(), ...groups?.metrics?.() }),
    async close() {
      await close()
      await groups?.close?.()
      await heldOut?.close()
    },
  }
}
