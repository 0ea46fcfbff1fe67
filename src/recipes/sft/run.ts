/** @file Runs sft: supervised learning on rows of a file or on the demonstrations of a task. */

import type { ModelSource } from '../../policy/local/model-source.ts'
import { isRemote, openPolicy } from '../../policy/open.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/training.ts'
import { checkSft } from './check.ts'
import type { SftConfig } from './config.ts'
import { learnRows } from './rows.ts'

/** What a run records as its model. */
const startName = ({ policy, model }: SftConfig): string => {
  const { layers, hiddenSize, heads } = model.shape
  return isRemote(policy) || model.folder !== null
    ? modelName({ policy, model })
    : `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runSftRecipe = async (config: SftConfig, options: RunOptions): Promise<RunResult> => {
  const { source, rows, task } = checkSft(config, 'run')
  // In a run nothing comes later: there are rows, or a task.
  const learnt = task ?? learnRows(rows!, config)
  const { events = {} } = options
  const { seed, steps, recipe } = config
  const { primarySet, criterionNames, notes = [] } = learnt
  const info = { config, recipe, model: startName(config), seed, steps, primarySet, criterionNames }
  const result = await withRun({ ...options, info }, async ({ use, ...session }) => {
    const { dir } = session.run
    session.note(notes)
    const open = (from: ModelSource) => openPolicy(config.policy, from)
    const grown = await task?.grown?.make(dir, source!.folder!, open)
    const policy = await use(open({ ...source, ...(grown && { folder: grown.folder }) }))
    const phase = {
      name: 'supervised',
      policy,
      draw: grown?.draw ?? learnt.draw,
      evaluate: learnt.evaluate(policy, dir),
      testsStart: !grown && (config.model.folder !== null || isRemote(config.policy)),
      config,
    }
    return runSupervised(session, phase, events)
  })
  // Also of a run that was at its end already: it may have been killed before this.
  if (result.finished) task?.finish?.(options.dir)
  return result
}
