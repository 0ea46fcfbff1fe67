/** @file Refuses settings of ruscarl of which one would silently be ignored. */

import { PackingWorld } from '../../tasks/checklist/index.ts'
import { checkLessonMemory } from '../common/lessons-config.ts'
import { assertActions, assertLoss, refuse } from '../common/refuse.ts'
import { lambdaGroup } from '../common/scaffold-schedule.ts'
import { assertSamplerIsUsed } from '../common/training.ts'
import { checkTrainingJudge } from '../options/held-out-judge.ts'
import { checkOptions } from '../options/options.ts'
import { type RuscarlConfig, type RuscarlOn, ruscarlSchema } from './config.ts'

/** @param isOwn the task is no setting. @throws ConfigError naming the setting and what to do. */
export const checkRuscarlSettings = (config: RuscarlConfig, isOwn = false): void => {
  const { task } = config
  if (!isOwn) task.kind === 'conversations' ? checkConversations({ ...config, task }) : checkPacking(config)
  assertSamplerIsUsed(config)
  assertLoss(config.policy, config.loss)
  assertActions(config)
  checkTogether(config)
  checkRewards(config)
}

/** What only conversations know must be at its default. */
const checkPacking = ({ judge, scaffold }: RuscarlConfig): void => {
  const hint = 'set task.kind to "conversations", or leave this out'
  const defaults = ruscarlSchema.parse({})
  for (const key of ['showPoints', 'forbidMention', 'place', 'whenEmpty'] as const)
    if (scaffold[key] !== defaults.scaffold[key])
      refuse(`scaffold.${key}: expected nothing with task "packing", whose scaffold is single words`, hint)
  if (judge !== null)
    refuse('judge: expected nothing with task "packing", whose criteria are all checked by rules', hint)
}

const checkConversations = ({ task, judge, coldStart }: RuscarlOn<'conversations'>): void => {
  if (task.file === null)
    refuse(
      'task.file: expected the file of the conversations, got nothing',
      'name a file of rows {prompt, criteria}, or of HealthBench',
    )
  if (task.holdOut !== null && task.testFile !== null)
    refuse('task.holdOut: expected nothing beside task.testFile', 'set one of the two to null')
  if (task.holdOut === null && task.testFile === null)
    refuse('task.holdOut: expected a number of rows for evaluation', 'set it, or name them in task.testFile')
  if (coldStart !== null)
    refuse(
      'coldStart: expected nothing with task "conversations"',
      'it teaches packing; start from model.folder',
    )
  if (judge !== null) checkTrainingJudge(judge)
}

/** What draws or spoils rewards must not hide each other. */
const checkRewards = (config: RuscarlConfig): void => {
  const { reward, noise, task, rollout } = config
  if (task.kind === 'packing' && task.carelessJudge !== undefined) {
    if (noise !== 'none')
      refuse(
        'task.carelessJudge: expected nothing beside noise: it judges the true rubrics',
        'set one of the two back',
      )
    if (reward === 'random')
      refuse(
        'task.carelessJudge: expected nothing with reward "random", which no verdict can change',
        'leave it out',
      )
  }
  const trip = { topic: 0, occasion: 0, companion: 0 }
  checkOptions(config, {
    samples: rollout.samples,
    groupsBy: task.kind === 'packing' ? 'scripted' : 'chat',
    // All trips have criteria of the same ids and signs.
    ...(task.kind === 'packing' &&
      noise === 'none' && { criteria: new PackingWorld(task.world).rubric(trip).criteria }),
  })
}

const checkTogether = (config: RuscarlConfig): void => {
  const { exploration, rollout, scaffold } = config
  // Before the cold start, not at the first step after it.
  lambdaGroup(scaffold.group, rollout.samples)
  checkLessonMemory(config.memory, { scaffold, samples: rollout.samples })
  if (config.memory.kind !== 'none' && exploration.dynamicSampling !== null)
    refuse(
      'exploration.dynamicSampling: expected null beside memory: what is drawn again would see lessons by how long grading took',
      'set one of the two back',
    )
  if (exploration.dynamicSampling !== null && rollout.samples === 1)
    refuse(
      'exploration.dynamicSampling: expected null with groups of one, none of which has a variance',
      'raise rollout.samples',
    )
  if (exploration.curriculum !== null && exploration.dynamicSampling !== null)
    refuse(
      'exploration.dynamicSampling: expected null beside exploration.curriculum, whose order it would leave',
      'set one of the two to null',
    )
}
