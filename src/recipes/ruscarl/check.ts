/** @file What a run of ruscarl refuses before it trains; its plan refuses the same. */

import { assertSameTokenizer } from '../../model/chat-format.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { PackingWorld } from '../../tasks/checklist/index.ts'
import { readConversations, sharedRubric, splitConversations } from '../../tasks/conversation/rows.ts'
import type { Task } from '../../tasks/task.ts'
import type { Recipe } from '../../train/recipe.ts'
import { checkMethod, refuseColdStart } from '../common/method-check.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { startShape } from '../common/plan.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import { lambdaGroup } from '../common/scaffold.ts'
import { wholeModel } from '../common/starting-model.ts'
import { assertWords, taskModel } from '../common/word-models.ts'
import { checkOptions, factsOf } from '../options/options.ts'
import { type RuscarlConfig, type RuscarlOn, ruscarlSchema } from './config.ts'
import { assertJudge, encodedConversations, type JudgeModels } from './conversations.ts'
import type { RuscarlParts, RuscarlRolled } from './recipe.ts'

/** Parts of a run in place of the configured ones. */
export interface RuscarlRunParts extends JudgeModels {
  /** What is trained on. Its problems are of one type, which only the task itself knows. */
  // biome-ignore lint/suspicious/noExplicitAny: a task of any problems, each of which it alone reads
  task?: Task<any>
  /** Where they are settings of another recipe that this one runs: as they were written. */
  written?: { recipe: string }
  /** What learns from the rollouts in place of RuscaRL, and what it pays. */
  method?: {
    rewardFormula: string
    recipe<Problem>(parts: RuscarlParts<Problem>): Promise<Recipe<RuscarlRolled<Problem>>>
  }
  /** Nothing is graded: rows that need a judge are taken without one. */
  mayLackJudge?: boolean
}

/**
 * The checkpoint to start from, null when a cold start makes one; and the conversations, null with another task. In a plan
 * both are null where they come later.
 * @param parts in place of the configured ones
 * @throws ConfigError, DataError, CheckpointError for settings, files, models and judges that a run cannot use
 */
export const checkRuscarl = (
  config: RuscarlConfig,
  purpose: RunMode,
  { task: given, mayLackJudge = false }: Pick<RuscarlRunParts, 'task' | 'mayLackJudge'> = {},
) => {
  const { task, sft, exploration } = config
  const start = checkMethod(config, purpose, {
    starts: 'checklist-cold-start',
    remote: [
      sft !== null && [
        'sft',
        'null with policy.kind tinker: what it learns is an adapter, and the reinforcement would begin with another one',
        'set sft to null, or begin with a model that was taught before',
      ],
      exploration.entropyBonus !== null && [
        'exploration.entropyBonus',
        'null with policy.kind tinker, whose server returns log-probs of tokens and not the entropy of their distributions',
        'set it to null',
      ],
    ],
    settings: () => checkRuscarlSettings(config, given !== undefined),
    ...(given === undefined && task.kind === 'packing' && { assertReads: assertWords('packing') }),
  })
  if (given !== undefined) return { given: start, conversations: null }
  if (task.kind === 'packing') {
    checkTrips({ ...config, task })
    return { given: start, conversations: null }
  }
  const conversations = conversationsOf({ ...config, task }, start, { purpose, mayLackJudge })
  if (sft !== null && sft.teacher !== null) {
    const teacher = wholeModel(sft.teacher, 'sft.teacher')
    if (start !== null) assertSameTokenizer(start, teacher, 'sft.teacher')
  }
  return { given: start, conversations }
}

/** Refuses settings of which one would silently be ignored. @param isOwn the task is no setting. @throws ConfigError */
export const checkRuscarlSettings = (config: RuscarlConfig, isOwn = false): void => {
  const { task } = config
  if (!isOwn)
    task.kind === 'conversations'
      ? checkConversations({ ...config, task })
      : checkMiniature(config, task.kind)
  checkTogether(config)
  checkRewards(config)
}

/** What only conversations know must be at its default. @param kind of the task @throws ConfigError */
export const checkMiniature = ({ judge, scaffold }: RuscarlConfig, kind: string): void => {
  const hint = 'set task.kind to "conversations", or leave this out'
  const defaults = ruscarlSchema.parse({})
  for (const key of ['showPoints', 'forbidMention', 'place', 'whenEmpty'] as const)
    if (scaffold[key] !== defaults.scaffold[key])
      refuse(`scaffold.${key}: expected nothing with task "${kind}", which is no conversation`, hint)
  if (judge !== null)
    refuse(`judge: expected nothing with task "${kind}", whose criteria are all checked by rules`, hint)
}

const checkConversations = (config: RuscarlOn<'conversations'>): void => {
  const { task } = config
  if (task.file === null)
    refuse(
      'task.file: expected the file of the conversations, got nothing',
      'name a file of rows {prompt, criteria}, or of HealthBench',
    )
  if (task.holdOut !== null && task.testFile !== null)
    refuse('task.holdOut: expected nothing beside task.testFile', 'set one of the two to null')
  if (task.holdOut === null && task.testFile === null)
    refuse('task.holdOut: expected a number of rows for evaluation', 'set it, or name them in task.testFile')
  refuseColdStart(config, 'packing')
}

const checkRewards = (config: RuscarlConfig): void => {
  const { reward, noise, task } = config
  const isPacking = task.kind === 'packing'
  const isCareless = isPacking && task.carelessJudge !== undefined
  if (isCareless && reward === 'random')
    refuse(
      'task.carelessJudge: expected nothing with reward "random", which no verdict can change',
      'leave it out',
    )
  const trip = { topic: 0, occasion: 0, companion: 0 }
  checkOptions(config, {
    groupsBy: isPacking ? 'scripted' : 'chat',
    trueRubrics: isCareless ? 'task.carelessJudge, which judges the true rubrics' : null,
    // All trips have criteria of the same ids and signs.
    ...(isPacking && noise === 'none' && { criteria: new PackingWorld(task.world).rubric(trip).criteria }),
  })
}

const checkTogether = (config: RuscarlConfig): void => {
  const { exploration, rollout, scaffold, memory, sft } = config
  // Before the cold start, not at the first step after it.
  lambdaGroup(scaffold.group, rollout.samples)
  const { unjudged } = factsOf(config)
  for (const [key, value] of Object.entries({ sft, 'exploration.curriculum': exploration.curriculum }))
    if (unjudged && value !== null)
      refuse(
        `${key}: expected null with ${unjudged}, which gives no response a score by itself to choose or order by, got settings`,
        `set ${key} to null, or leave groupJudge out`,
      )
  if (exploration.dynamicSampling === null) return
  const wrong =
    memory.kind !== 'none'
      ? 'beside memory: what is drawn again would see lessons by how long grading took'
      : rollout.samples === 1
        ? 'with groups of one, none of which has a variance'
        : exploration.curriculum !== null
          ? 'beside exploration.curriculum, whose order it would leave'
          : null
  if (wrong !== null)
    refuse(`exploration.dynamicSampling: expected null ${wrong}`, 'set it to null, or change the other one')
}

/** Trips that are shown with their whole rubrics leave room for a list, and a teacher reads them. */
const checkTrips = (config: RuscarlOn<'packing'>): void => {
  const { sft, task, rollout, scaffold, evaluation } = config
  const { train, tests, id, rubric, prompt } = MINIATURES.packing.open(task)
  checkOptions(config, { rubrics: train.map(rubric) })
  if (sft !== null && sft.teacher !== null) assertWords('packing')(wholeModel(sft.teacher, 'sft.teacher'))
  const shape = startShape(config, taskModel('packing'))
  const isScaffolded = scaffold.group.kind !== 'none' || evaluation.scaffolded || sft !== null
  if (!shape || !isScaffolded) return
  for (const trip of Object.values(tests).flat()) {
    const { length } = prompt(trip, rubric(trip).criteria)
    assertRoom(`trip ${id(trip)}`, length, rollout.maxTokens, shape.maxPositions)
  }
}

/** What is there of the files is read as far as it can be without the model. */
const conversationsOf = (
  config: RuscarlOn<'conversations'>,
  start: string | null,
  { purpose, mayLackJudge }: { purpose: RunMode; mayLackJudge: boolean },
) => {
  const { file, testFile, rubric = null } = config.task
  const files = [file, testFile].filter(path => path !== null)
  const there = files.filter(path => !mayBeMissing(path, purpose))
  const isRubricThere = rubric === null || !mayBeMissing(rubric, purpose)
  if (there.length < files.length || !isRubricThere) {
    const shared = isRubricThere ? sharedRubric(config.task) : null
    if (isRubricThere && !mayLackJudge)
      assertJudge(
        config,
        there.flatMap(path => readConversations(path, shared, config.task.columns)),
      )
    return null
  }
  const encoded = start === null ? null : encodedConversations(config, start, mayLackJudge)
  const { train, test } = encoded ?? splitConversations(config.task)
  checkOptions(config, { rubrics: train.map(row => row.rubric) })
  if (encoded === null && !mayLackJudge) assertJudge(config, [...train, ...test])
  return encoded
}
