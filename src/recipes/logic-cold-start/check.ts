/** @file What a logic cold start refuses before it trains; its plan refuses the same. */

import { loadConfig } from '../../model/checkpoint.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { checkTrainingSeed, logicTestSet } from '../../tasks/logic/testsets.ts'
import { assertLogicVocabulary, wholeModel } from '../common/starting-model.ts'
import { assertProblemsFit, miniatureFormat } from '../logic/format.ts'
import type { ColdStartPhase } from './config.ts'
import { freshLogicModel } from './model.ts'
import { demonstrations } from './recipe.ts'

/**
 * The model to start from and the demonstrations of every step.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkLogicColdStart = (config: ColdStartPhase) => {
  checkTrainingSeed(config.seed)
  const source = startOf(config)
  const draw = demonstrations(config)
  const { realFile, maxTokens } = config.evaluation
  const real = realFile === null ? [] : logicTestSet('real', { realPath: realFile })
  const problems = [...config.evaluation.hops.flatMap(hops => testSet(config, hops, FITTED)), ...real]
  const shape = source.init?.config ?? (isAdapterFolder(source.folder!) ? null : loadConfig(source.folder!))
  if (shape) assertProblemsFit(problems, miniatureFormat(), maxTokens, shape)
  return { source, draw }
}

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64

const startOf = ({ start, model, seed }: ColdStartPhase): ModelSource => {
  if (start === null) return freshLogicModel(model.shape, seed)
  const folder = wholeModel(start, 'start')
  assertLogicVocabulary(folder)
  return { folder, seed }
}

/** The first so many test problems of a hop count. */
export const testSet = (
  { labels, style }: Pick<ColdStartPhase, 'labels' | 'style'>,
  hops: number,
  count: number,
): LogicTaskExample[] =>
  logicTestSet(style === 'real' ? 'train-distribution' : 'shortcut-free', { count, hops, labels })
