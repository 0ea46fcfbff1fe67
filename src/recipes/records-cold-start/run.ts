/** @file Cold start of the records task: an agent of mixed habits and a reflector in one model, by supervised learning. */

import { openPolicy } from '../../policy/open.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { checkRecordsColdStart } from './check.ts'
import type { RecordsPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { evaluateRecords } from './evaluate.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRecordsColdStart = async (config: RecordsPhase, options: RunOptions): Promise<RunResult> => {
  const source = checkRecordsColdStart(config)
  const { events = {} } = options
  const { hiddenSize, layers, heads } = config.model.shape
  const info = {
    config,
    recipe: 'records-cold-start',
    model: `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen',
  }
  return withRun({ ...options, info }, async ({ use, ...session }) => {
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config),
      evaluate: (step: number) => evaluateRecords(policy, config, step),
      testsStart: false,
      config,
    }
    return runSupervised(session, phase, events)
  })
}
