/** @file Runs the recipe: model, solver, task and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { openPolicy } from '../../policy/open.ts'
import { type LogicGrading, logicTask, type TrainedLogicTask } from '../../tasks/logic/task.ts'
import type { Recipe } from '../../train/recipe.ts'
import { runPhase } from '../common/phase.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { type Session, withRun } from '../common/session.ts'
import { logicTokensOf } from '../common/starting-model.ts'
import { reinforce } from '../common/training.ts'
import { CRITERION_NAMES } from '../logic/evaluate.ts'
import { formatFor } from '../logic/format.ts'
import { runLogicColdStart } from '../logic-cold-start/run.ts'
import { check } from './check.ts'
import { type RubricAsRewardConfig, trainingSteps } from './config.ts'
import { controlled, softlyJudged } from './controls.ts'
import { evaluation, primarySet } from './evaluation.ts'
import { problemSource, testSources, trainingSources } from './problems.ts'
import { rubricAsReward } from './recipe.ts'
import { rewardWords } from './reward-words.ts'
import { leftOutWords, smallerTestWords } from './source-words.ts'
import { decideSources, type OpenSource } from './sources.ts'
import { continuedSupervision } from './supervised.ts'
import { hasVerifier, learnedJudge, openVerifier, trainVerifier } from './verifier.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRubricAsReward = async (
  config: RubricAsRewardConfig,
  options: RunOptions,
): Promise<RunResult> => {
  const given = check(config, 'run')
  const { events = {} } = options
  const coldStartIn = (dir: string) => join(dir, 'cold-start')
  const session = {
    ...options,
    info: runInfo(config),
    mayLackCheckpoint: (dir: string) =>
      (config.coldStart !== null && existsSync(coldStartIn(dir))) || hasVerifier(dir, config),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runLogicColdStart({ ...config.coldStart!, monitors: config.monitors }, phase)
    const folder = given ?? (await runPhase(coldStartIn(open.run.dir), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    const solver = await openSolver(config, open, events.onMessage)
    const format = formatFor(config.task.prompt, folder, config.task)
    const sources = await decidedSources(config, solver, open, events.onMessage)
    const stream = problemSource(config, sources.trained)
    const taskBy = (truth?: LogicGrading['truth']): TrainedLogicTask => ({
      ...logicTask(format, solver, {
        noveltyDiscount: config.noveltyDiscount,
        proxies: config.grader?.proxies,
        truth,
      }),
      stream,
    })
    const truth = taskBy('only')
    let trained = config.softCriteria === 'exact' ? taskBy('preferred') : taskBy()
    if (config.softCriteria === 'learned') {
      const verifier = await trainVerifier(config, folder, open.run.dir, truth, options)
      if (verifier === null) return { step: 0, finished: false }
      trained = softlyJudged(trained, learnedJudge(await open.use(openVerifier(verifier)), truth))
    }
    const { model, seed } = config
    const policy = await open.use(openPolicy(config.policy, { folder, lora: model.lora ?? undefined, seed }))
    const task = controlled(trained, config)
    const evaluate = evaluation(config, { policy, task: truth }, open.run.dir, sources.tested)
    const learnBy = <Rolled>(recipe: () => Recipe<Rolled>) =>
      reinforce(open, policy, { ...config, steps: trainingSteps(config) }, recipe, events)
    return config.method === 'supervised'
      ? learnBy(() => continuedSupervision(config, logicTokensOf(folder), { evaluate }))
      : learnBy(() => rubricAsReward(config, { task, evaluate }))
  })
}

const openSolver = async (
  { grader }: RubricAsRewardConfig,
  { run, use }: Session,
  tell?: (message: string) => void,
): Promise<LogicSolver> => {
  const solver = await use(LogicSolver.start(grader?.solver))
  if (solver.stats().backend !== 'z3') {
    const message =
      'Z3 could not start: the built-in solver checks the steps, and formulas beyond its fragment go unchecked'
    run.appendEvent({ level: 'warning', message })
    tell?.(message)
  }
  return solver
}

/** The sources with what the solver says of their rows; what of them is not used is told, and stands among the run's events. */
const decidedSources = async (
  config: RubricAsRewardConfig,
  solver: LogicSolver,
  { run }: Session,
  tell?: (message: string) => void,
) => {
  const decided = async (sources: OpenSource[] | null) => sources && (await decideSources(sources, solver))
  const trained = await decided(trainingSources(config))
  const tested = await decided(testSources(config))
  const told = [
    ...(trained ?? []).flatMap(source => leftOutWords(source, 'training')),
    ...(tested ?? []).flatMap(source => leftOutWords(source, 'test')),
    ...(tested === null ? [] : smallerTestWords(tested, config.evaluation.problems)),
  ]
  for (const message of told) {
    run.appendEvent({ level: 'info', message })
    tell?.(message)
  }
  return { trained, tested }
}

const runInfo = (config: RubricAsRewardConfig) => ({
  config,
  recipe: config.recipe,
  model: modelName(config),
  seed: config.seed,
  steps: trainingSteps(config),
  primarySet: primarySet(config),
  criterionNames: CRITERION_NAMES,
  ...rewardWords(config),
})
