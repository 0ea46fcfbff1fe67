/** @file Runs the cold start: model, demonstrations, evaluation and run folder put together. */

import { LogicSolver } from '../../grade/logic/solver.ts'
import { openPolicy } from '../../policy/open.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { logicTask } from '../../tasks/logic/task.ts'
import { logicTestSet } from '../../tasks/logic/testsets.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { CRITERION_NAMES, type EvaluationParts, evaluateSets, type TestSet } from '../logic/evaluate.ts'
import { checkLogicColdStart, testSet, testSets } from './check.ts'
import type { ColdStartPhase } from './config.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runLogicColdStart = async (config: ColdStartPhase, options: RunOptions): Promise<RunResult> => {
  const { source, draw, vocabulary } = checkLogicColdStart(config)
  const { events = {} } = options
  return withRun({ ...options, info: runInfo(config) }, async ({ use, ...session }) => {
    const [policy, solver] = await Promise.all([
      use(openPolicy(config.policy, source)),
      use(LogicSolver.start({ backend: 'ground' })),
    ])
    const parts = { policy, task: logicTask(miniatureFormat(vocabulary), solver, { truth: 'only' }) }
    const phase = {
      name: 'supervised',
      policy,
      draw,
      evaluate: (step: number, last: boolean) => evaluateHops(config, parts, step, last),
      testsStart: config.start !== null,
      config,
    }
    return runSupervised(session, phase, events)
  })
}

const runInfo = (config: ColdStartPhase) => {
  const { hiddenSize, layers, heads } = config.model.shape
  return {
    config,
    recipe: 'logic-cold-start',
    model: config.start ?? `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`,
    seed: config.seed,
    steps: config.steps,
    primarySet: primarySet(config),
    criterionNames: CRITERION_NAMES,
  }
}

/** The longest problems, of the first set where there are several. */
const primarySet = (config: ColdStartPhase): string =>
  testSets(config).reduce((longest, set) => (set.hops > longest.hops ? set : longest)).title

/** The end is evaluated in full, the rest briefly. */
const evaluateHops = (
  config: ColdStartPhase,
  parts: EvaluationParts,
  step: number,
  last: boolean,
): Promise<EvalRow[]> => {
  const { problems, problemsBetween, samples, greedy, maxTokens, realFile } = config.evaluation
  const sets: TestSet[] = testSets(config).map(({ title, name, hops }) => ({
    title,
    problems: () => testSet(config, name, hops, last ? problems : problemsBetween),
  }))
  if (realFile !== null && last)
    sets.push({ title: 'real', problems: () => logicTestSet('real', { realPath: realFile }) })
  const sampling = { maxTokens, temperature: 1, seed: 'evaluation' }
  return evaluateSets(parts, step, sets, { samples, greedy: greedy && last, sampling })
}
