/** @file Cold start of the small chat model: answers and verdicts in one model, by supervised learning on text that is made here. */

import { join } from 'node:path'
import { loadConfig, readCompanionFiles, saveCheckpoint } from '../../model/checkpoint.ts'
import { loadWeights } from '../../model/weights.ts'
import { openPolicy } from '../../policy/open.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import type { ChatPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { evaluateChat, REQUEST_SET } from './evaluate.ts'
import { freshChatModel } from './model.ts'

/** Of the run, beside its checkpoints: the model in half precision, half as large, which is what ships. */
const MODEL_FOLDER = 'model'

/** The last checkpoint's model without the state of its training, in half precision. */
const saveSmall = (dir: string): void => {
  const checkpoint = latestCheckpoint(dir)
  if (checkpoint === null) return
  const config = loadConfig(checkpoint)
  const content = { config, weights: loadWeights(checkpoint, config), files: readCompanionFiles(checkpoint) }
  saveCheckpoint(join(dir, MODEL_FOLDER), content, { dtype: 'float16' })
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runChatColdStart = async (config: ChatPhase, options: RunOptions): Promise<RunResult> => {
  const { source, format } = freshChatModel(config)
  const { events = {} } = options
  const { hiddenSize, layers, heads } = config.model.shape
  const info = {
    config,
    recipe: 'chat-cold-start',
    model: `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`,
    seed: config.seed,
    steps: config.steps,
    primarySet: REQUEST_SET,
  }
  const result = await withRun({ ...options, info }, async ({ use, ...session }) => {
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config, format),
      evaluate: (step: number) => evaluateChat(policy, format, config, step),
      testsStart: false,
      config,
    }
    return runSupervised(session, phase, events)
  })
  // Also of a run that was at its end already: it may have been killed before this.
  if (result.finished) saveSmall(options.dir)
  return result
}
