/** @file Cold start of the records task: an agent of mixed habits and a reflector in one model, by supervised learning. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { openPolicy } from '../../policy/open.ts'
import { agentPrompt } from '../../tasks/records/index.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { decidingHash, withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import type { RecordsPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { evaluateRecords, LENGTHS, testQuestions } from './evaluate.ts'
import { freshRecordsModel } from './model.ts'

/**
 * The model to start from. What a run refuses before it trains is refused here, for its plan as well.
 * @throws ConfigError, DataError for a shape that cannot be, or without room for an attempt and a reflection on it
 */
export const checkRecordsColdStart = (config: RecordsPhase): ModelSource => {
  const { shape } = config.model
  const source = freshRecordsModel(shape, config.seed)
  const [question] = testQuestions({ ...config, evaluation: { ...config.evaluation, problems: 1 } })
  const asked = agentPrompt(question).length + LENGTHS.attempt
  assertRoom('an attempt, for a reflection', asked, LENGTHS.reflection, shape.maxPositions)
  return source
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runRecordsColdStart = async (config: RecordsPhase, options: RunOptions): Promise<RunResult> => {
  const source = checkRecordsColdStart(config)
  const configHash = decidingHash(config)
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
  return withRun({ ...options, info, configHash }, async ({ run, from, fork, use }) => {
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config),
      evaluate: (step: number) => evaluateRecords(policy, config, step),
      testsStart: false,
      configHash,
      config,
    }
    return runSupervised({ run, from, fork }, phase, events)
  })
}
