/** @file What a run of ruscarl refuses before it trains; its plan refuses the same. */

import { assertSameTokenizer } from '../../model/chat-format.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { hintsOf, PackingWorld, splitTrips, tripName, tripPrompt } from '../../tasks/checklist/index.ts'
import { readConversations, sharedRubric, splitConversations } from '../../tasks/conversation/rows.ts'
import type { Task } from '../../tasks/task.ts'
import type { Recipe } from '../../train/recipe.ts'
import { checkMemoryFile } from '../common/lessons-config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { givenModel } from '../common/phase.ts'
import { startShape } from '../common/plan.ts'
import { checkRemote } from '../common/remote.ts'
import { mayBeMissing, type RunMode } from '../common/run-mode.ts'
import { wholeModel } from '../common/starting-model.ts'
import { assertWords, taskModel } from '../common/word-models.ts'
import { checkOptions } from '../options/options.ts'
import { checkSft } from '../sft/check.ts'
import { phaseConfig } from '../sft/config.ts'
import { checkRuscarlSettings } from './check-settings.ts'
import type { RuscarlConfig, RuscarlOn } from './config.ts'
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
  { task, mayLackJudge = false }: Pick<RuscarlRunParts, 'task' | 'mayLackJudge'> = {},
) => {
  checkRemote(config, purpose, 'checklist-cold-start', [
    config.sft !== null && [
      'sft',
      'null with policy.kind tinker: what it learns is an adapter, and the reinforcement would begin with another one',
      'set sft to null, or begin with a model that was taught before',
    ],
    config.exploration.entropyBonus !== null && [
      'exploration.entropyBonus',
      'null with policy.kind tinker, whose server tells log-probs of tokens and not the entropy of their distributions',
      'set it to null',
    ],
  ])
  checkRuscarlSettings(config, task !== undefined)
  checkMemoryFile(config.memory, purpose)
  const given = givenModel(config, 'checklist-cold-start', purpose)
  if (task !== undefined) return { given, conversations: null }
  const { task: own } = config
  if (own.kind === 'packing') {
    checkPacking({ ...config, task: own }, given)
    return { given, conversations: null }
  }
  const conversations = conversationsOf({ ...config, task: own }, given, { purpose, mayLackJudge })
  const { sft } = config
  if (sft !== null && sft.teacher !== null) {
    const teacher = wholeModel(sft.teacher, 'sft.teacher')
    if (given !== null) assertSameTokenizer(given, teacher, 'sft.teacher')
  }
  return { given, conversations }
}

const checkPacking = (config: RuscarlOn<'packing'>, given: string | null): void => {
  const { coldStart, sft, task, rollout, scaffold, evaluation } = config
  if (given !== null) assertWords('packing')(given)
  const { train, rubric } = MINIATURES.packing.open(task)
  checkOptions(config, { rubrics: train.map(rubric) })
  if (coldStart !== null) checkSft(phaseConfig(coldStart), 'run')
  if (sft !== null && sft.teacher !== null) assertWords('packing')(wholeModel(sft.teacher, 'sft.teacher'))
  const shape = startShape(config, taskModel('packing'))
  const isScaffolded = scaffold.group.kind !== 'none' || evaluation.scaffolded || sft !== null
  const { test, heldOut } = splitTrips(undefined, task.heldOutTopics)
  if (!shape || !isScaffolded) return
  // Trips that are shown with their whole rubrics leave room for a list.
  const world = new PackingWorld(task.world)
  for (const trip of [...test, ...heldOut]) {
    const { length } = tripPrompt(trip, hintsOf(world.rubric(trip).criteria))
    assertRoom(`trip ${tripName(trip)}`, length, rollout.maxTokens, shape.maxPositions)
  }
}

/** What is there of the files is read as far as it can be without the model. */
const conversationsOf = (
  config: RuscarlOn<'conversations'>,
  given: string | null,
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
  const encoded = given === null ? null : encodedConversations(config, given, mayLackJudge)
  const { train, test } = encoded ?? splitConversations(config.task)
  checkOptions(config, { rubrics: train.map(row => row.rubric) })
  if (encoded === null && !mayLackJudge) assertJudge(config, [...train, ...test])
  return encoded
}
