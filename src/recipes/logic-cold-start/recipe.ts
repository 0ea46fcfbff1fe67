/** @file Cold start of the logic task: supervised learning on generated proofs, so that reinforcement has something to choose from. */

import {
  type Curriculum,
  coldStartStream,
  growingCurriculum,
  type SupervisedExample,
  shortProofCurriculum,
} from '../../tasks/logic/coldstart.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ColdStartPhase } from './config.ts'

const curriculumOf = ({ curriculum, labels, style }: ColdStartPhase): Curriculum => {
  const { kind, maxHops, sources, knots } = curriculum
  const common = { labels, style }
  if (kind === 'growing') return growingCurriculum(common)
  if (kind === 'short-proofs') return shortProofCurriculum(maxHops, common)
  if (sources.length === 0)
    throw new ConfigError('curriculum.sources: expected at least one for a custom curriculum, got none')
  return {
    sources: sources.map(({ hops, nodes }) => ({ ...common, hops, ...(nodes && { nodes }) })),
    knots,
  }
}

/** The demonstrations of a step; they depend on seed and step alone. */
export const demonstrations = (config: ColdStartPhase): ((step: number) => SupervisedExample[]) => {
  const { batch, steps, seed, signWeight, wording, numbering } = config
  const stream = coldStartStream({ curriculum: curriculumOf(config), seed, signWeight, wording, numbering })
  return step =>
    Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i, (step - 1) / Math.max(1, steps)))
}
