/** @file Cold start of the arithmetic task: a reasoner of mixed habits and a rubricator in one model, by supervised learning. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { openPolicy } from '../../policy/open.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { decidingHash, withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { freshArithmeticModel } from '../reasoning/arithmetic.ts'
import type { ArithmeticPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { evaluateRoles } from './evaluate.ts'

/** The model to start from. @throws ConfigError for a shape that cannot be */
export const checkArithmeticColdStart = ({ model, seed }: ArithmeticPhase): ModelSource =>
  freshArithmeticModel(model.shape, seed)

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runArithmeticColdStart = async (
  config: ArithmeticPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const source = checkArithmeticColdStart(config)
  const configHash = decidingHash(config)
  const { events = {} } = options
  const { hiddenSize, layers, heads } = config.model.shape
  const info = {
    config,
    recipe: 'arithmetic-cold-start',
    model: `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen',
  }
  return withRun({ ...options, info, configHash }, async ({ run, from, use }) => {
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config),
      evaluate: async (step: number) => (step === 0 ? [] : evaluateRoles(policy, config, step)),
      configHash,
      config,
    }
    return runSupervised({ run, from }, phase, events)
  })
}
