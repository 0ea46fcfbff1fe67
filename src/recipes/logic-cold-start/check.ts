/** @file What a logic cold start refuses before it trains; its plan refuses the same. */

import { modelPath } from '../../model/model-place.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { assertContext } from '../../tasks/logic/lengths.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { checkTrainingSeed, type LogicTestSetName, logicTestSet } from '../../tasks/logic/testsets.ts'
import { ConfigError } from '../../util/errors.ts'
import { assertLogicVocabulary, logicTokensOf, positionsOf, wholeModel } from '../common/starting-model.ts'
import { assertProblemsFit } from '../logic/format.ts'
import type { ColdStartPhase } from './config.ts'
import { freshLogicModel } from './model.ts'
import { type CurriculumSettings, coldStartVocabulary, demonstrations, sourcesOf } from './recipe.ts'

/**
 * The model to start from and the demonstrations of every step.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkLogicColdStart = (config: ColdStartPhase) => {
  checkTrainingSeed(config.seed)
  const source = startOf(config)
  const vocabulary = vocabularyOf(config)
  const draw = demonstrations(config, vocabulary)
  const { realFile, maxTokens } = config.evaluation
  const real = realFile === null ? [] : logicTestSet('real', { realPath: realFile })
  const tested = testSets(config).map(({ name, hops }) => testSet(config, name, hops, FITTED))
  const problems = [...tested.flat(), ...real]
  const maxPositions = source.init?.config.maxPositions ?? positionsOf(source.folder!)
  assertDemonstrationsFit(config, vocabulary, maxPositions)
  assertProblemsFit(problems, miniatureFormat(vocabulary), maxTokens, { maxPositions })
  return { source, draw, vocabulary }
}

/**
 * Refuses sources whose demonstrations do not fit the context.
 * @param vocabulary how many tokens the model has
 * @param prefix of the settings in the configuration, for the error
 * @throws ConfigError naming the source
 */
export const assertDemonstrationsFit = (
  settings: CurriculumSettings,
  vocabulary: number,
  maxPositions: number,
  prefix = '',
): void => {
  const isCustom = settings.curriculum.kind === 'custom'
  for (const [i, options] of sourcesOf(settings).entries())
    assertContext(
      options,
      maxPositions,
      `${prefix}curriculum${isCustom ? `.sources[${i}]` : ''}`,
      vocabulary,
      settings.proofs,
    )
}

/** How many tokens the model has, fresh or gone on from. */
const vocabularyOf = (config: ColdStartPhase): number =>
  config.start === null ? coldStartVocabulary(config).length : logicTokensOf(modelPath(config.start))

/** Problems of each set that are looked at for their lengths. */
const FITTED = 64

const startOf = (config: ColdStartPhase): ModelSource => {
  const { start, model, seed } = config
  if (start === null) return freshLogicModel(model.shape, seed, coldStartVocabulary(config))
  const folder = wholeModel(start, 'start')
  assertLogicVocabulary(folder)
  assertTokens(config, folder)
  return { folder, seed }
}

/** @throws ConfigError for a model to go on from that lacks tokens */
const assertTokens = (config: ColdStartPhase, folder: string): void => {
  const needed = coldStartVocabulary(config).length
  const known = logicTokensOf(folder)
  if (known >= needed) return
  const asked = config.vocabulary === 'long'
  throw new ConfigError(
    `start: expected a model of the ${needed} tokens that ${asked ? 'vocabulary "long" names' : 'the curriculum and its evaluation take'}, got one of ${known} in ${folder}`,
    {
      hint: `${asked ? 'leave vocabulary out' : 'leave kinds out and keep to five hops'}, or make a model of \`vocabulary: long\` from fresh weights`,
    },
  )
}

/** A test set of a hop count, and what it is called. */
export interface HopSet {
  title: string
  name: LogicTestSetName
  hops: number
}

/** The test sets of the configuration, in its order; a hop count alone is the title where there is one set of each. */
export const testSets = ({ evaluation, style }: Pick<ColdStartPhase, 'evaluation' | 'style'>): HopSet[] => {
  const own = style === 'real' ? 'train-distribution' : style
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
