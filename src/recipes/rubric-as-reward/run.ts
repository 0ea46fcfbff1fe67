/** @file Runs the recipe: model, solver, task and run folder put together, from the start or from a checkpoint. */

import { LogicSolver } from '../../grade/logic/solver.ts'
import { type LogicGrading, logicTask, type TrainedLogicTask } from '../../tasks/logic/task.ts'
import type { StepsResult } from '../../train/steps.ts'
import { type MethodRun, runMethod, STOPPED } from '../common/method-run.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { logicTokensOf } from '../common/starting-model.ts'
import { CRITERION_NAMES } from '../logic/evaluate.ts'
import { formatFor } from '../logic/format.ts'
import { checkRubricAsReward } from './check.ts'
import { type RubricAsRewardConfig, trainingSteps } from './config.ts'
import { controlledTask, softlyJudged } from './controls.ts'
import { primarySet, rubricAsRewardEvaluation } from './evaluation.ts'
import { rubricAsReward } from './recipe.ts'
import { describeRubricRewards } from './rewards.ts'
import {
  decideSources,
  describeLeftOut,
  describeSmallerTest,
  type OpenSource,
  problemSource,
  testSources,
  trainingSources,
} from './sources.ts'
import { continuedSupervision } from './supervised.ts'
import { hasVerifier, learnedJudge, openLearnedVerifier, trainVerifier } from './verifier.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRubricAsReward = async (
  config: RubricAsRewardConfig,
  options: RunOptions,
): Promise<RunResult> =>
  runMethod({ ...config, steps: trainingSteps(config) }, options, {
    start: checkRubricAsReward(config, 'run'),
    info: {
      ...{ config, primarySet: primarySet(config), criterionNames: CRITERION_NAMES },
      ...describeRubricRewards(config),
    },
    keeps: hasVerifier,
    learn: run => learn(config, run, options),
  })

const learn = async (
  config: RubricAsRewardConfig,
  run: MethodRun,
  { events = {}, ...options }: RunOptions,
): Promise<StepsResult> => {
  const { noveltyDiscount, grader } = config
  const { folder } = run
  const tell = (level: 'info' | 'warning', message: string) => {
    run.run.appendEvent({ level, message })
    events.onMessage?.(message)
  }
  const solver = await run.use(LogicSolver.start(grader?.solver))
  if (solver.stats().backend !== 'z3')
    tell(
      'warning',
      'Z3 could not start: the built-in solver checks the steps, and formulas beyond its fragment go unchecked',
    )
  const format = formatFor(config.task.prompt, folder, config.task)
  const sources = await decidedSources(config, solver)
  for (const message of sources.messages) tell('info', message)
  const stream = problemSource(config, sources.trained)
  const taskBy = (truth?: LogicGrading['truth']): TrainedLogicTask => ({
    ...logicTask(format, solver, { noveltyDiscount, proxies: grader?.proxies, truth }),
    stream,
  })
  const truth = taskBy('only')
  let trained = config.softCriteria === 'exact' ? taskBy('preferred') : taskBy()
  if (config.softCriteria === 'learned') {
    const verifier = await trainVerifier(config, folder, run.run.dir, truth, { ...options, events })
    if (verifier === null) return STOPPED
    trained = softlyJudged(trained, learnedJudge(await run.use(openLearnedVerifier(verifier)), truth))
  }
  const policy = await run.openPolicy()
  const evaluate = rubricAsRewardEvaluation(config, { policy, task: truth }, run.run.dir, sources.tested)
  return config.method === 'supervised'
    ? run.train(policy, () => continuedSupervision(config, logicTokensOf(folder), { evaluate }))
    : run.train(policy, () => rubricAsReward(config, { task: controlledTask(trained, config), evaluate }))
}

/** The sources with what the solver says of their rows, and what is to be told of them. */
const decidedSources = async (config: RubricAsRewardConfig, solver: LogicSolver) => {
  const decided = async (sources: OpenSource[] | null) => sources && (await decideSources(sources, solver))
  const trained = await decided(trainingSources(config))
  const tested = await decided(testSources(config))
  const messages = [
    ...(trained ?? []).flatMap(source => describeLeftOut(source, 'training')),
    ...(tested ?? []).flatMap(source => describeLeftOut(source, 'test')),
    ...(tested === null ? [] : describeSmallerTest(tested, config.evaluation.problems)),
  ]
  return { trained, tested, messages }
}
