/** @file Cold start of the packing task: habit and following hints by supervised learning, evaluated without and with a scaffold. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import {
  demonstration,
  PackingWorld,
  packingTask,
  splitTrips,
  type Trip,
  thinkingPackingTask,
  thoughtDemonstration,
} from '../../tasks/checklist/index.ts'
import { type ScoredTask, scored } from '../../tasks/scored-response.ts'
import { evaluateScores } from '../checklist/evaluate.ts'
import { assertTripsFit, freshPackingModel, packingCriterionNames } from '../checklist/packing.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { decidingHash, withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import type { ChecklistPhase } from './config.ts'

/** The demonstrations of a step; they depend on seed and step alone. */
export const demonstrations =
  ({ batch, seed, hinted, thinking = false }: ChecklistPhase, world: PackingWorld) =>
  (step: number) =>
    Array.from({ length: batch }, (_, i) => {
      const index = (step - 1) * batch + i
      const demonstrate = thinking ? thoughtDemonstration : demonstration
      return demonstrate(world, index, seed, hinted)
    })

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

/**
 * The model to start from. What a run refuses before it trains is refused here, for its plan as well.
 * @throws ConfigError, DataError for a shape that cannot be, or without room for prompts and lists
 */
export const checkChecklistColdStart = ({
  model,
  seed,
  world,
  thinking,
  evaluation,
}: ChecklistPhase): ModelSource => {
  const source = freshPackingModel(model.shape, seed, thinking)
  assertTripsFit(new PackingWorld(world), splitTrips().test, evaluation.maxTokens, model.shape)
  return source
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runChecklistColdStart = async (
  config: ChecklistPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const source = checkChecklistColdStart(config)
  const hash = decidingHash(config)
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
  return withRun({ ...options, info, configHash: hash }, async ({ run, from, fork, use }) => {
    const world = new PackingWorld(config.world)
    const task = scored(config.thinking ? thinkingPackingTask(world) : packingTask(world))
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config, world),
      evaluate: (step: number) => evaluatePacking(policy, task, config, step),
      testsStart: false,
      configHash: hash,
      config,
    }
    return runSupervised({ run, from, fork }, phase, events)
  })
}
