/** @file Runs the recipe: model, solver, task and run folder put together, from the start or from a checkpoint. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import { withMaxTokens } from '../../rl/loss-presets.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { latestCheckpoint, readEvals } from '../../runs/run-folder.ts'
import { configHash } from '../../runs/run-state.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { isGradable, loadFolio, loadProntoQa, loadProofWriter } from '../../tasks/logic/loaders.ts'
import { checkTrainingSeed, logicTestSet } from '../../tasks/logic/testsets.ts'
import { type LoopSettings, train } from '../../train/loop.ts'
import { trainedMsOf } from '../../train/steps.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { CRITERION_NAMES } from '../logic/criteria.ts'
import { type EvaluationParts, evaluateSet } from '../logic/evaluate.ts'
import { formatFor, type LogicFormat } from '../logic/format.ts'
import { withTax } from '../logic/tax.ts'
import { runLogicColdStart } from '../logic-cold-start/run.ts'
import type { RunEvents, RunOptions, RunResult } from '../recipe.ts'
import { FREE_CONFIG_KEYS, withRun } from '../session.ts'
import { assertLogicVocabulary, existingModel } from '../starting-model.ts'
import { testProblems } from '../test-problems.ts'
import { checkSettings } from './check-settings.ts'
import { type RubricAsRewardConfig, trainingSteps } from './config.ts'
import { trainingGrader } from './controls.ts'
import { rubricAsReward } from './recipe.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRubricAsReward = (config: RubricAsRewardConfig, options: RunOptions): Promise<RunResult> => {
  checkTrainingSeed(config.seed)
  checkSettings(config)
  const given = givenModel(config)
  const hash = configHash(config, FREE_CONFIG_KEYS)
  const { events = {} } = options
  const session = {
    ...options,
    info: runInfo(config, config.model.folder ?? 'cold start of this run'),
    configHash: hash,
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(coldStartFolder(dir)),
  }
  return withRun(session, async ({ run, from, use }) => {
    const folder = given ?? (await coldStart(config, run.dir, events))
    if (folder === null) return { step: 0, finished: false }
    const format = formatFor(config.task.prompt, folder)
    const [policy, solver] = await Promise.all([
      use(
        LocalPolicy.start({ folder, lora: config.model.lora ?? undefined, seed: config.seed }, config.engine),
      ),
      use(LogicSolver.start(config.grader?.solver)),
    ])
    if (solver.stats().backend !== 'z3') {
      const message =
        'Z3 could not start: the built-in solver checks the steps, and formulas beyond its fragment go unchecked'
      run.appendEvent({ level: 'warning', message })
      events.onMessage?.(message)
    }
    // The reference is the model that the run started from, also after a resume.
    if (config.loss.kl.coef > 0) await policy.freezeReference()
    if (from) await policy.load(from.dir)
    const trainedMs = trainedMsOf(from?.state.recipe)
    const settings = { ...loopSettings(config, format, hash), trainedMs }
    events.onPhase?.({ name: 'reinforcement', steps: settings.steps, done: from?.step ?? 0 })
    const recipe = rubricAsReward(config, partsOf(config, { policy, solver, format }, run.dir))
    return train(policy, recipe, run, settings, from?.step ?? 0, events)
  })
}

/** The checkpoint that the configuration names, checked; null when a cold start makes one. */
const givenModel = ({ model, coldStart, task }: RubricAsRewardConfig): string | null => {
  if (coldStart !== null && model.folder !== null)
    throw new ConfigError('model.folder: expected nothing beside coldStart, which makes the model', {
      hint: 'set one of the two to null',
    })
  if (coldStart !== null) return null
  if (model.folder === null)
    throw new ConfigError('model.folder: expected a checkpoint to start from, got nothing', {
      hint: 'make one with `gradus train logic-cold-start`, or use a preset that brings one',
    })
  const folder = existingModel(model.folder, 'model.folder')
  if (task.prompt === 'miniature') assertLogicVocabulary(folder)
  return folder
}

const coldStartFolder = (dir: string): string => join(dir, 'cold-start')

/** Runs the cold start, goes on with it, or finds it done. Returns its checkpoint; null when it was asked to stop. */
const coldStart = async (
  config: RubricAsRewardConfig,
  runDir: string,
  events: RunEvents,
): Promise<string | null> => {
  const dir = coldStartFolder(runDir)
  const resume = latestCheckpoint(dir) !== null
  // Killed before its first checkpoint: nothing of it can be used.
  if (!resume) rmSync(dir, { recursive: true, force: true })
  const phase = { ...config.coldStart!, monitors: config.monitors }
  const { finished, checkpoint } = await runLogicColdStart(phase, { dir, resume, events })
  return finished ? checkpoint : null
}

const runInfo = (config: RubricAsRewardConfig, folder: string) => ({
  config,
  recipe: config.recipe,
  model: folder,
  seed: config.seed,
  steps: trainingSteps(config),
  primarySet: config.evaluation.sets[0],
  criterionNames: CRITERION_NAMES,
})

/** Problem i of the training stream; files are shuffled anew every pass. */
const problemSource = ({ task, seed }: RubricAsRewardConfig): ((index: number) => LogicTaskExample) => {
  if (task.file === null)
    return logicGenerator({ hops: task.hops, style: task.style, labels: task.labels }, `train:${seed}`)
  const rows = loadRows(task.file, task.format)
  if (rows.length === 0) throw new ConfigError(`task.file: ${task.file} holds no usable problems`)
  return index => {
    const pass = Math.floor(index / rows.length)
    return new Rng(seed).fork(`pass ${pass}`).shuffle(rows)[index % rows.length]
  }
}

const loadRows = (path: string, format: RubricAsRewardConfig['task']['format']): LogicTaskExample[] => {
  if (format === 'prontoqa') return loadProntoQa(path)
  if (format === 'proofwriter') return loadProofWriter(path)
  return loadFolio(path).examples.filter(isGradable)
}

const sampling = ({ rollout }: RubricAsRewardConfig, format: LogicFormat) => ({
  maxTokens: rollout.maxTokens,
  temperature: rollout.temperature,
  topK: rollout.topK,
  topP: rollout.topP,
  stopTokens: format.stopTokens,
})

/** The configuration as the loop takes it; a loss that divides by the longest allowed response gets that length. */
export const loopSettings = (
  config: RubricAsRewardConfig,
  format: LogicFormat,
  hash: string,
): LoopSettings => {
  const { learningRate, ...optimizer } = config.optimizer
  const rejection = config.method === 'rejection'
  return {
    steps: trainingSteps(config),
    seed: config.seed,
    rollout: { ...sampling(config, format), samplesPerPrompt: config.rollout.samples },
    update: {
      loss: withMaxTokens(rejection ? REJECTION_LOSS(config) : config.loss, config.rollout.maxTokens),
      optimizer,
      learningRate,
      minibatches: config.minibatches,
      epochs: config.epochs,
      dropZero: true,
    },
    evalEvery: config.evaluation.every,
    checkpointEvery: config.checkpoint.every,
    keepCheckpoints: config.checkpoint.keepLast,
    maxMinutes: config.maxMinutes,
    configHash: hash,
    monitors: config.monitors,
  }
}

/** Cross-entropy on the accepted rollouts: the policy term with advantage 1 and no ratio is just that. */
const REJECTION_LOSS = ({ loss }: RubricAsRewardConfig): RubricAsRewardConfig['loss'] => ({
  ...loss,
  policy: { ...loss.policy, kind: 'reinforce' },
  kl: { kind: 'none', coef: 0 },
})

const partsOf = (config: RubricAsRewardConfig, parts: EvaluationParts, runDir: string) => ({
  ...trainingGrader(config, problemSource(config), (items, truth) =>
    gradeLogicBatch(items, parts.solver, {
      noveltyDiscount: config.noveltyDiscount,
      proxies: config.grader?.proxies,
      truth,
    }),
  ),
  format: parts.format,
  evaluate: async (step: number, last: boolean): Promise<EvalRow[]> => {
    const rows = await evaluateAll(config, parts, step, last)
    return last ? withTax(rows, readEvals(runDir)) : rows
  },
})

/** Start and end are evaluated in full, points between on fewer problems without greedy decoding. */
const evaluateAll = async (
  config: RubricAsRewardConfig,
  parts: EvaluationParts,
  step: number,
  last: boolean,
): Promise<EvalRow[]> => {
  const { evaluation, task } = config
  const between = step > 0 && !last
  const count = testProblems({ steps: trainingSteps(config), evaluation }, step, last)
  const sets = between ? evaluation.sets.slice(0, 1) : evaluation.sets
  const rows: EvalRow[] = []
  for (const set of sets) {
    const problems = logicTestSet(set, {
      count,
      hops: task.hops,
      labels: task.labels,
      realPath: evaluation.realFile ?? undefined,
    })
    rows.push(
      await evaluateSet(parts, set, step, problems, {
        samples: evaluation.samples,
        greedy: evaluation.greedy && !between,
        sampling: { ...sampling(config, parts.format), seed: 'evaluation' },
      }),
    )
  }
  return rows
}
