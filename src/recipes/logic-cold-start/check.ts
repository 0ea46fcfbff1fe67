/** @file What a logic cold start refuses before it trains; its plan refuses the same. */

import { loadConfig } from '../../model/checkpoint.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { assertContext } from '../../tasks/logic/lengths.ts'
import { checkTrainingSeed, type LogicTestSetName, logicTestSet } from '../../tasks/logic/testsets.ts'
import { ConfigError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { assertLogicVocabulary, logicWordsOf, wholeModel } from '../common/starting-model.ts'
import { assertProblemsFit, miniatureFormat } from '../logic/format.ts'
import type { ColdStartPhase } from './config.ts'
import { freshLogicModel } from './model.ts'
import { coldStartVocabulary, demonstrations, sourcesOf } from './recipe.ts'

/**
 * The model to start from and the demonstrations of every step.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkLogicColdStart = (config: ColdStartPhase) => {
  checkTrainingSeed(config.seed)
  const source = startOf(config)
  const words = wordsOf(config)
  const draw = demonstrations(config, words)
  const { realFile, maxTokens } = config.evaluation
  const real = realFile === null ? [] : logicTestSet('real', { realPath: realFile })
  const tested = testSets(config).map(({ name, hops }) => testSet(config, name, hops, FITTED))
  const problems = [...tested.flat(), ...real]
  const shape = source.init?.config ?? (isAdapterFolder(source.folder!) ? null : loadConfig(source.folder!))
  if (shape) {
    for (const [i, options] of sourcesOf(config).entries())
      assertContext(options, shape.maxPositions, placeOf(config, i))
    assertProblemsFit(problems, miniatureFormat(words), maxTokens, shape)
  }
  return { source, draw, words }
}

const placeOf = ({ curriculum: { kind } }: ColdStartPhase, i: number): string =>
  kind === 'custom' ? `curriculum.sources[${i}]` : 'curriculum'

/** Tokens that the model knows, fresh or gone on from. */
const wordsOf = (config: ColdStartPhase): number =>
  config.start === null ? coldStartVocabulary(config).length : logicWordsOf(resolveShipped(config.start))

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64

const startOf = (config: ColdStartPhase): ModelSource => {
  const { start, model, seed } = config
  if (start === null) return freshLogicModel(model.shape, seed, coldStartVocabulary(config))
  const folder = wholeModel(start, 'start')
  assertLogicVocabulary(folder)
  const needed = coldStartVocabulary(config).length
  if (logicWordsOf(folder) < needed)
    throw new ConfigError(
      `start: expected a model of the ${needed} tokens that the curriculum and its evaluation take, got one of ${logicWordsOf(folder)} in ${folder}`,
      {
        hint: 'leave kinds out and keep to five hops, or make a model with kinds above 10 from fresh weights',
      },
    )
  return { folder, seed }
}

/** A test set of a hop count, and what it is called. */
export interface HopSet {
  title: string
  name: LogicTestSetName
  hops: number
}

/** The test sets of the configuration, in its order; a hop count alone is the title where there is one set of each. */
export const testSets = ({ evaluation, style }: Pick<ColdStartPhase, 'evaluation' | 'style'>): HopSet[] => {
  const own = style === 'real' ? 'train-distribution' : 'shortcut-free'
  return (evaluation.sets ?? [own]).flatMap(name =>
    evaluation.hops.map(hops => ({
      title: `${hopsTitle(hops)}${evaluation.sets ? `, ${name}` : ''}`,
      name,
      hops,
    })),
  )
}

/** Name of the test set of a hop count. */
export const hopsTitle = (hops: number): string => (hops === 1 ? '1 hop' : `${hops} hops`)

/** The first so many problems of a test set. */
export const testSet = (
  { labels, kinds }: Pick<ColdStartPhase, 'labels' | 'kinds'>,
  name: LogicTestSetName,
  hops: number,
  count: number,
): LogicTaskExample[] => logicTestSet(name, { count, hops, labels, kinds })
