/** @file Refuses settings of ruscarl of which one would silently be ignored. */

import type { JudgeConfig } from '../../grade/judge/judge-config.ts'
import { PackingWorld } from '../../tasks/checklist/index.ts'
import type { HeldOutJudgeConfig, TrainingJudge } from '../common/judge-config.ts'
import { checkLessonMemory } from '../common/lessons-config.ts'
import { assertActions, assertLoss, refuse } from '../common/refuse.ts'
import { assertDrops, refuseDropout } from '../common/rubric-dropout.ts'
import { lambdaGroup } from '../common/scaffold-schedule.ts'
import { assertSamplerIsUsed } from '../common/training.ts'
import { type RuscarlConfig, type RuscarlOn, ruscarlSchema } from './config.ts'

/** @param isOwn the task is no setting. @throws ConfigError naming the setting and what to do. */
export const checkRuscarlSettings = (config: RuscarlConfig, isOwn = false): void => {
  const { task } = config
  if (!isOwn) task.kind === 'conversations' ? checkConversations({ ...config, task }) : checkPacking(config)
  assertSamplerIsUsed(config)
  assertLoss(config.policy, config.loss)
  assertActions(config)
  checkTogether(config)
  checkGroupJudge(config)
  checkDropout(config)
}

/** What only conversations know must be at its default. */
const checkPacking = ({ judge, scaffold }: RuscarlConfig): void => {
  const hint = 'set task.kind to "conversations", or leave this out'
  const defaults = ruscarlSchema.parse({})
  for (const key of ['showPoints', 'forbidMention', 'whenEmpty'] as const)
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
  if (judge !== null) checkJudge(judge)
}

const checkJudge = (judge: TrainingJudge): void => {
  checkSampling(judge, 'judge')
  if (judge.heldOut !== null) checkHeldOut(judge.heldOut, judge)
}

const checkHeldOut = (heldOut: HeldOutJudgeConfig, judge: TrainingJudge): void => {
  checkSampling(heldOut, 'judge.heldOut')
  if (heldOut.rollouts === null && !heldOut.evaluations)
    refuse(
      'judge.heldOut.rollouts: expected a share of the rollouts, or judge.heldOut.evaluations',
      'ask the held-out judge about something, or leave it out',
    )
  const who = ({ ask, fleet: { endpoints } }: JudgeConfig) =>
    JSON.stringify([ask, endpoints.map(({ url, model }) => [url, model])])
  if (who(heldOut) === who(judge))
    refuse(
      'judge.heldOut.fleet: expected another model than that of judge: the same one, asked in the same way, likes the same things',
      'name another model',
    )
}

const checkSampling = ({ ask, fleet }: JudgeConfig, key: string): void => {
  const deaf = fleet.endpoints.find(({ sendTopK }) => sendTopK === false)
  if (ask.topK !== null && deaf)
    refuse(
      `${key}.ask.topK: expected null, because endpoint ${deaf.name ?? deaf.url} is not sent it`,
      `leave sendTopK of the endpoint out, or set ${key}.ask.topK to null`,
    )
}

const checkGroupJudge = ({ groupJudge, task, reward, flipRate, rollout }: RuscarlConfig): void => {
  if (groupJudge === undefined) return
  const kind = task.kind === 'packing' ? 'scripted' : 'chat'
  if (groupJudge.kind !== kind)
    refuse(
      `groupJudge.kind: expected "${kind}" with task "${task.kind}", got "${groupJudge.kind}"`,
      'change it',
    )
  if (reward === 'random' || flipRate > 0)
    refuse(
      'groupJudge: expected nothing beside reward "random" or flipRate',
      'leave it out, or set these back',
    )
  if (rollout.samples < 2)
    refuse('rollout.samples: expected at least 2 with groupJudge, which compares responses', 'raise it')
  if (groupJudge.kind === 'chat' && rollout.samples > groupJudge.maxResponses)
    refuse(
      `groupJudge.maxResponses: expected at least the ${rollout.samples} samples of a prompt, got ${groupJudge.maxResponses}`,
      'raise it, or lower rollout.samples: a group is one call',
    )
}

/** What draws or spoils rewards must not hide each other. */
const checkDropout = (config: RuscarlConfig): void => {
  const { rubricDropout, reward, noise, task, groupJudge } = config
  const isCareless = task.kind === 'packing' && task.carelessJudge !== undefined
  if (isCareless && noise !== 'none')
    refuse(
      'task.carelessJudge: expected nothing beside noise: it judges the true rubrics',
      'set one of the two back',
    )
  if (isCareless && reward === 'random')
    refuse(
      'task.carelessJudge: expected nothing with reward "random", which no verdict can change',
      'leave it out',
    )
  if (rubricDropout === undefined) return
  if (reward === 'random')
    refuseDropout('nothing with reward "random", which no criterion can change', 'leave it out')
  if (groupJudge?.kind === 'chat' && groupJudge.criterion !== null)
    refuseDropout('nothing beside groupJudge.criterion, which stands in place of the rubric', 'leave it out')
  const trip = { topic: 0, occasion: 0, companion: 0 }
  // All trips have criteria of the same ids and signs.
  if (task.kind === 'packing' && noise === 'none')
    assertDrops(rubricDropout, new PackingWorld(task.world).rubric(trip).criteria)
}

const checkTogether = (config: RuscarlConfig): void => {
  const { exploration, rollout, scaffold, reward, flipRate } = config
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
  if (reward === 'random' && flipRate > 0)
    refuse(
      'flipRate: expected 0 with reward "random", which no verdict can change',
      'set one of the two back',
    )
}
