/** @file Cold start of the logic task: supervised learning on generated proofs, so that reinforcement has something to choose from. */

import {
  type Curriculum,
  type CurriculumSource,
  coldStartStream,
  growingCurriculum,
  type SupervisedExample,
  shortProofCurriculum,
} from '../../tasks/logic/coldstart.ts'
import { curriculumProgress } from '../../tasks/logic/curriculum-clock.ts'
import type { LogicGeneratorOptions } from '../../tasks/logic/generator.ts'
import { vocabularyFor } from '../../tasks/logic/lengths.ts'
import { LONG_LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ColdStartPhase } from './config.ts'

/** What a source may say and else the recipe does. */
const SHAPE = [
  'style',
  'order',
  'distractors',
  'negation',
  'mentions',
  'sideKinds',
  'above',
  'kinds',
] as const

export type Shape = Pick<LogicGeneratorOptions, (typeof SHAPE)[number]>

/** The options of problems among settings; of those that a source leaves out, the usual ones. */
export const shapeOf = (own: Shape, usual: Shape = {}): Shape =>
  Object.fromEntries(
    SHAPE.flatMap(name => {
      const value = own[name] ?? usual[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** What decides which demonstrations are drawn. */
export type DemonstrationSettings = Pick<
  ColdStartPhase,
  | 'batch'
  | 'steps'
  | 'seed'
  | 'signWeight'
  | 'wording'
  | 'proofs'
  | 'numbering'
  | 'numberedTo'
  | 'curriculum'
  | 'labels'
  | keyof Shape
>

/** What decides the sorts of problems that they are about. */
export type CurriculumSettings = Pick<DemonstrationSettings, 'curriculum' | 'labels' | 'proofs' | keyof Shape>

const curriculumOf = (config: CurriculumSettings): Curriculum => {
  const { kind, maxHops, sources, knots } = config.curriculum
  const { labels } = config
  const common = { labels, ...shapeOf(config) }
  if (kind === 'growing') return growingCurriculum(common)
  if (kind === 'short-proofs') return shortProofCurriculum(maxHops, common)
  if (sources.length === 0)
    throw new ConfigError('curriculum.sources: expected at least one for a custom curriculum, got none')
  return {
    sources: sources.map(
      ({ hops, nodes, wording, recite, reciteOnly, reciteAsked, ...own }): CurriculumSource => ({
        labels,
        ...shapeOf(own, config),
        hops,
        ...(nodes && { nodes }),
        ...(wording && { wording }),
        ...(recite && { recite }),
        ...(reciteOnly && { reciteOnly }),
        ...(reciteAsked && { reciteAsked }),
      }),
    ),
    knots,
  }
}

/** The sorts of problems that a cold start learns from. @throws ConfigError for a custom curriculum without any */
export const sourcesOf = (config: CurriculumSettings): readonly CurriculumSource[] =>
  curriculumOf(config).sources

/**
 * The tokens of the fresh model: the long vocabulary where its demonstrations or test problems take it, or the settings say
 * so.
 */
export const coldStartVocabulary = (config: ColdStartPhase): readonly string[] => {
  const { labels, kinds, evaluation, numberedTo, vocabulary, proofs } = config
  const tested = evaluation.hops.map(hops => ({ hops, labels, kinds }))
  return vocabulary === 'long'
    ? LONG_LOGIC_VOCABULARY
    : vocabularyFor([...sourcesOf(config), ...tested], numberedTo, proofs)
}

/** The demonstrations of a step, by seed, step, and the losses of the steps before, for which knots may wait. */
export type DrawDemonstrations = (step: number, losses?: readonly number[]) => SupervisedExample[]

/** @param vocabulary how many tokens the model has */
export const demonstrations = (config: DemonstrationSettings, vocabulary: number): DrawDemonstrations => {
  const { batch, steps, seed, signWeight, wording, proofs, numbering, numberedTo } = config
  const curriculum = curriculumOf(config)
  const stream = coldStartStream({
    ...{ curriculum, seed, signWeight, wording, proofs, numbering, numberedTo, vocabulary },
  })
  return (step, losses = []) => {
    const progress = curriculumProgress(curriculum.knots, Math.max(1, steps), step, losses)
    return Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i, progress))
  }
}
