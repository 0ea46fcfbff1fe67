/** @file Runs ruscarl: model, task, graders and run folder put together, from the start or from a checkpoint. */

import type { Policy } from '../../policy/policy.ts'
import { withMaxTokens } from '../../rl/loss-presets.ts'
import { PackingWorld } from '../../tasks/checklist/index.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { type Group, type LoopSettings, train } from '../../train/index.ts'
import { type StepsResult, trainedMsOf } from '../../train/steps.ts'
import { packingCriterionNames } from '../checklist/packing.ts'
import type { RunEvents, RunOptions, RunResult } from '../recipe.ts'
import { type Session, withRun } from '../session.ts'
import { checkSettings } from './check-settings.ts'
import type { RuscarlConfig } from './config.ts'
import { conversationTask, type JudgeModels, primarySetOf } from './conversations.ts'
import { startPolicy } from './engines.ts'
import { evaluation } from './evaluation.ts'
import { problemStream } from './order.ts'
import { packingTask } from './packing-task.ts'
import { ruscarl } from './recipe.ts'
import { runHash } from './run-hash.ts'
import { coldStart, givenModel, hasPhase, supervised } from './starting-policy.ts'
import type { TrainingTask } from './task.ts'

/** Parts of a run in place of the configured ones. */
export type RuscarlRunParts = JudgeModels

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param judges in place of those that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRuscarl = (
  config: RuscarlConfig,
  options: RunOptions,
  judges: RuscarlRunParts = {},
): Promise<RunResult> => {
  checkSettings(config)
  const given = givenModel(config)
  const hash = runHash(config)
  const { events = {} } = options
  const session = {
    ...options,
    info: {
      config,
      recipe: config.recipe,
      model: config.model.folder ?? 'cold start of this run',
      seed: config.seed,
      steps: config.steps,
      ...(config.task.kind === 'packing'
        ? {
            primarySet: 'unseen trips',
            criterionNames: packingCriterionNames(new PackingWorld(config.world)),
          }
        : { primarySet: primarySetOf(config) }),
    },
    configHash: hash,
    mayLackCheckpoint: (dir: string) => hasPhase(config, dir),
  }
  return withRun(session, async open => {
    const folder = given ?? (await coldStart(config, open.run.dir, events))
    if (folder === null) return { step: 0, finished: false }
    return config.task.kind === 'packing'
      ? reinforce(config, hash, open, folder, await open.use(Promise.resolve(packingTask(config))), events)
      : reinforce(
          config,
          hash,
          open,
          folder,
          await open.use(Promise.resolve(conversationTask(config, folder, judges))),
          events,
        )
  })
}

/** The phases that are the same for every task: supervised learning where asked for, then the reinforcement. */
const reinforce = async <Problem>(
  config: RuscarlConfig,
  hash: string,
  { run, from, use }: Session,
  folder: string,
  task: TrainingTask<Problem>,
  events: RunEvents,
): Promise<StepsResult> => {
  for (const message of from === null ? task.notes : []) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const start = await supervised(config, task, folder, run.dir, events)
  if (start === null) return { step: 0, finished: false }
  const lora = config.model.lora ?? undefined
  const policy = await use(startPolicy(config, { folder: start, lora, seed: config.seed }))
  // The reference is the model that the reinforcement started from, an adapter with what it had learnt; also after a resume.
  if (config.loss.kl.kind !== 'none' && config.loss.kl.coef > 0) await policy.freezeReference()
  const problem = await problemStream(config, policy, task, run.dir)
  if (from) await policy.load(from.dir)
  const recipe = ruscarl(config, {
    problem,
    task: task.reward,
    heldOut: task.heldOut,
    figures: task.figures,
    entropies: groups => entropiesOf(config, policy, groups),
    evaluate: evaluation(config, policy, task),
  })
  const settings = { ...loopSettings(config, task, hash), trainedMs: trainedMsOf(from?.state.recipe) }
  events.onPhase?.({ name: 'reinforcement', steps: settings.steps, done: from?.step ?? 0 })
  return train(policy, recipe, run, settings, from?.step ?? 0, events)
}

/** How unsure the policy is of every token of the rollouts, on the prompt that is trained on: [problem][sample], nats. */
const entropiesOf = async <Problem>(
  { ratio, rollout }: RuscarlConfig,
  policy: Policy,
  groups: readonly Group<Problem, ScoredResponse>[],
): Promise<Float32Array[][]> => {
  const items = groups.flatMap(({ promptTokens, samples, sampledPrompts }) =>
    samples.map(({ tokens }, g) => ({
      promptTokens: ratio === 'sampled' ? (sampledPrompts?.[g] ?? promptTokens) : promptTokens,
      tokens,
    })),
  )
  const scores = await policy.score(items, { temperature: rollout.temperature })
  let next = 0
  return groups.map(({ samples }) => samples.map(() => scores[next++].entropies))
}

const loopSettings = <Problem>(
  config: RuscarlConfig,
  { stopTokens, gradeBatch }: TrainingTask<Problem>,
  hash: string,
): LoopSettings => {
  const { learningRate, ...optimizer } = config.optimizer
  const { maxTokens, temperature, topK, topP, samples } = config.rollout
  return {
    steps: config.steps,
    seed: config.seed,
    rollout: { maxTokens, temperature, topK, topP, samplesPerPrompt: samples, stopTokens, gradeBatch },
    update: {
      loss: withMaxTokens(config.loss, maxTokens),
      optimizer,
      learningRate,
      minibatches: config.minibatches,
      epochs: config.epochs,
      dropZero: config.dropZero ?? true,
      ratio: config.ratio,
    },
    pipeline: config.pipeline,
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    configHash: hash,
    monitors: config.monitors,
  }
}
