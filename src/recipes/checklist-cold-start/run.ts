/** @file Cold start of the packing task: habit and following hints by supervised learning, evaluated without and with a scaffold. */

import { openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import {
  PackingWorld,
  packingTask,
  splitTrips,
  type Trip,
  thinkingPackingTask,
} from '../../tasks/checklist/index.ts'
import { type ScoredTask, scored } from '../../tasks/scored-response.ts'
import { evaluateScores } from '../checklist/evaluate.ts'
import { packingCriterionNames } from '../checklist/packing.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { checkChecklistColdStart } from './check.ts'
import type { ChecklistPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'

/** Scores on the plain prompt, and on the prompt that says the whole rubric. */
const evaluatePacking = async (
  policy: Policy,
  task: ScoredTask<Trip>,
  { evaluation }: Pick<ChecklistPhase, 'evaluation'>,
  step: number,
): Promise<EvalRow[]> => {
  const problems = splitTrips().test.slice(0, evaluation.problems)
  const settings = {
    samples: evaluation.samples,
    sampling: { maxTokens: evaluation.maxTokens, temperature: 1, seed: 'evaluation' },
  }
  const full = (trip: Trip) => task.prompt(trip, task.rubric(trip).criteria)
  return [
    await evaluateScores(policy, task, { set: 'unseen trips', step, problems }, settings),
    await evaluateScores(policy, task, { set: 'full scaffold', step, problems }, settings, full),
  ]
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runChecklistColdStart = async (
  config: ChecklistPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const source = checkChecklistColdStart(config)
  const { events = {} } = options
  const { hiddenSize, layers, heads } = config.model.shape
  const info = {
    config,
    recipe: 'checklist-cold-start',
    model: `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen trips',
    criterionNames: packingCriterionNames(new PackingWorld(config.world)),
  }
  return withRun({ ...options, info }, async ({ use, ...session }) => {
    const world = new PackingWorld(config.world)
    const task = scored(config.thinking ? thinkingPackingTask(world) : packingTask(world))
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config, world),
      evaluate: (step: number) => evaluatePacking(policy, task, config, step),
      testsStart: false,
      config,
    }
    return runSupervised(session, phase, events)
  })
}
