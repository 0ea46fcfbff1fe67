/** @file Logic as it is learnt before it is rewarded: generated proofs, so that reinforcement has something to choose from. */

import { ConfigError } from '../../util/errors.ts'
import {
  type Curriculum,
  type CurriculumSource,
  coldStartStream,
  growingCurriculum,
  type SupervisedExample,
  shortProofCurriculum,
} from './coldstart.ts'
import { curriculumProgress } from './curriculum-clock.ts'
import type { LogicGeneratorOptions } from './generator.ts'
import { assertContext, vocabularyFor } from './lengths.ts'
import { type LogicStart, problemShape } from './start-settings.ts'
import { LONG_LOGIC_VOCABULARY } from './vocabulary.ts'

type Shape = Pick<LogicGeneratorOptions, 'style' | keyof typeof problemShape>

const SHAPE = ['style', ...Object.keys(problemShape)] as (keyof Shape)[]

/** The options of problems among settings. */
export const shapeOf = (settings: Shape): Shape =>
  Object.fromEntries(SHAPE.flatMap(name => (settings[name] === undefined ? [] : [[name, settings[name]]])))

/** What decides the sorts of problems that are learnt. */
export type CurriculumSettings = Pick<LogicStart, 'curriculum' | 'labels' | 'proofs' | keyof Shape>

/** What decides which demonstrations are drawn. */
export interface DemonstrationSettings
  extends CurriculumSettings,
    Pick<LogicStart, 'signWeight' | 'wording' | 'numbering' | 'numberedTo'> {
  batch: number
  steps: number
  seed: number | string
}

const curriculumOf = (settings: CurriculumSettings): Curriculum => {
  const { kind, maxHops, sources, keyframes } = settings.curriculum
  const common = { labels: settings.labels, ...shapeOf(settings) }
  if (kind === 'growing') return growingCurriculum(common)
  if (kind === 'short-proofs') return shortProofCurriculum(maxHops, common)
  if (sources.length === 0)
    throw new ConfigError('curriculum.sources: expected at least one for a custom curriculum, got none')
  return {
    sources: sources.map(({ nodes, ...own }) => ({ ...common, ...own, ...(nodes && { nodes }) })),
    keyframes,
  }
}

/** The sorts of problems that are learnt. @throws ConfigError for a custom curriculum without any */
export const curriculumSources = (settings: CurriculumSettings): readonly CurriculumSource[] =>
  curriculumOf(settings).sources

/** The tokens of a fresh model: the long vocabulary where its demonstrations or test problems take it, or the settings say so. */
export const startVocabulary = (settings: LogicStart): readonly string[] => {
  const { labels, kinds, tests, numberedTo, vocabulary, proofs } = settings
  const tested = tests.hops.map(hops => ({ hops, labels, kinds }))
  return vocabulary === 'long'
    ? LONG_LOGIC_VOCABULARY
    : vocabularyFor([...curriculumSources(settings), ...tested], numberedTo, proofs)
}

/**
 * Refuses sources whose demonstrations do not fit the context.
 * @param vocabulary how many tokens the model has
 * @throws ConfigError naming the source
 */
export const assertDemonstrationsFit = (
  settings: CurriculumSettings,
  vocabulary: number,
  maxPositions: number,
): void => {
  for (const [i, options] of curriculumSources(settings).entries()) {
    const place = settings.curriculum.kind === 'custom' ? `curriculum.sources[${i}]` : 'curriculum'
    assertContext(options, maxPositions, place, vocabulary, settings.proofs)
  }
}

/** Names the place of what is wrong with settings below a key. @throws ConfigError whose place is below it */
export const below = <Result>(key: string, work: () => Result): Result => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(`${key}.${error.message}`)
  }
}

/** The demonstrations of a step, by seed, step, and the losses of the steps before, for which keyframes may wait. */
export type DrawDemonstrations = (step: number, losses?: readonly number[]) => SupervisedExample[]

/** @param vocabulary how many tokens the model has */
export const demonstrations = (
  { batch, steps, ...settings }: DemonstrationSettings,
  vocabulary: number,
): DrawDemonstrations => {
  const curriculum = curriculumOf(settings)
  const stream = coldStartStream({ ...settings, curriculum, vocabulary })
  return (step, losses = []) => {
    const progress = curriculumProgress(curriculum.keyframes, Math.max(1, steps), step, losses)
    return Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i, progress))
  }
}
