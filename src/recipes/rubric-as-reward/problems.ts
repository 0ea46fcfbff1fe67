/** @file The problems that rubric-as-reward trains on: generated, or the rows of a file. */

import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { isGradable, loadFolio, loadProntoQa, loadProofWriter } from '../../tasks/logic/loaders.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { RubricAsRewardConfig } from './config.ts'

/** Problem i of the training stream; files are shuffled anew every pass. */
export const problemSource = ({
  task,
  seed,
}: Pick<RubricAsRewardConfig, 'task' | 'seed'>): ((index: number) => LogicTaskExample) => {
  if (task.file === null)
    return logicGenerator({ hops: task.hops, style: task.style, labels: task.labels }, `train:${seed}`)
  const rows = loadRows(task.file, task.format)
  if (rows.length === 0) throw new ConfigError(`task.file: ${task.file} holds no usable problems`)
  return index => {
    const pass = Math.floor(index / rows.length)
    return new Rng(seed).fork(`pass ${pass}`).shuffle(rows)[index % rows.length]
  }
}

const loadRows = (path: string, format: RubricAsRewardConfig['task']['format']): LogicTaskExample[] => {
  if (format === 'prontoqa') return loadProntoQa(path)
  if (format === 'proofwriter') return loadProofWriter(path)
  return loadFolio(path).examples.filter(isGradable)
}
