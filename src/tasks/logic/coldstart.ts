/** @file Supervised examples for the cold start: generated proofs as tokens, mixed by a curriculum. Data only, no model. */

import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import { encodePrompt, encodeResponse } from './format.ts'
import { type LogicGeneratorOptions, logicGenerator } from './generator.ts'
import { LOGIC_TOKENS, tokenId } from './vocabulary.ts'
import { canonicalWording, type RuleWording } from './wording.ts'

/** One demonstration: learn `responseTokens` (they end with `<eos>`) after `promptTokens` (they start with `<bos>`). */
export interface SupervisedExample {
  promptTokens: number[]
  responseTokens: number[]
  /** Loss weight of each response token; absent when all are 1. */
  responseWeights?: Float32Array
}

/** What to learn from at a moment of the training: weights of the sources, not necessarily normalised. */
export interface CurriculumKnot {
  /** Progress in [0, 1]. */
  at: number
  /** One weight a source, at least one above zero. */
  weights: readonly number[]
}

/** A mix of generators whose weights are piecewise linear in the training's progress. */
export interface Curriculum {
  sources: readonly LogicGeneratorOptions[]
  /** In ascending order of `at`; before the first and after the last the weights stay. */
  knots: readonly CurriculumKnot[]
}

export interface ColdStartOptions {
  curriculum: Curriculum
  seed: number | string
  /**
   * Loss weight of the tokens that decide a statement's sign: `not`, or the adjective where `not` could stand. Most first
   * errors of small models are there. Default 1.
   */
  signWeight?: number
  /** How rules are worded in the responses; the premises keep their variety. Default `as-given`. */
  wording?: RuleWording
}

const oneToFive = (common: LogicGeneratorOptions): LogicGeneratorOptions[] =>
  [1, 2, 3, 4, 5].map(hops => ({ ...common, hops }))

/** Short proofs first, mostly five hops from 40% on; all hop counts stay in the mix. */
export const growingCurriculum = (common: LogicGeneratorOptions = {}): Curriculum => ({
  sources: oneToFive(common),
  knots: [
    { at: 0, weights: [0.3, 0.4, 0.3, 0, 0] },
    { at: 0.2, weights: [0.1, 0.2, 0.4, 0.2, 0.1] },
    { at: 0.4, weights: [0.05, 0.05, 0.1, 0.2, 0.6] },
  ],
})

/** Short proofs only: what reinforcement learning by verification then has to extend to longer ones. */
export const shortProofCurriculum = (maxHops = 3, common: LogicGeneratorOptions = {}): Curriculum => ({
  sources: oneToFive(common).slice(0, maxHops),
  knots: [
    { at: 0, weights: Array.from({ length: maxHops }, (_, i) => 1 / (i + 1)) },
    { at: 0.4, weights: Array.from({ length: maxHops }, (_, i) => i + 1) },
  ],
})

const checkKnot = ({ at, weights }: CurriculumKnot, i: number, { sources, knots }: Curriculum) => {
  const place = `curriculum.knots[${i}]`
  if (!(at >= 0 && at <= 1) || (i > 0 && at <= knots[i - 1].at)) {
    throw new ConfigError(`${place}.at: expected ascending values in [0, 1], got ${at}`)
  }
  if (weights.length !== sources.length) {
    throw new ConfigError(
      `${place}.weights: expected ${sources.length} (one a source), got ${weights.length}`,
    )
  }
  if (!weights.every(weight => weight >= 0) || !weights.some(weight => weight > 0)) {
    throw new ConfigError(`${place}.weights: expected weights of at least 0, one above, got [${weights}]`)
  }
}

/** The sources' weights at `progress` in [0, 1], between the knots on either side. */
export const weightsAt = ({ knots }: Curriculum, progress: number): number[] => {
  const next = knots.findIndex(knot => knot.at >= progress)
  if (next === 0) return [...knots[0].weights]
  if (next < 0) return [...knots[knots.length - 1].weights]
  const [before, after] = [knots[next - 1], knots[next]]
  const t = (progress - before.at) / (after.at - before.at)
  return before.weights.map((weight, i) => weight * (1 - t) + after.weights[i] * t)
}

const drawIndex = (rng: Rng, weights: readonly number[]): number => {
  let left = rng.next() * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [i, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return i
  }
  return weights.findLastIndex(weight => weight > 0)
}

const KIND_ARTICLES = new Set([tokenId(' a'), tokenId(' an')])
const VERBS = new Set([tokenId(' is'), tokenId(' are')])
const PLURAL = tokenId('es')

/** Loss weights that are `signWeight` where a property statement says or leaves out `not`, and 1 elsewhere. */
const weightSigns = (tokens: readonly number[], signWeight: number): Float32Array => {
  const weights = new Float32Array(tokens.length).fill(1)
  for (let i = 1; i < tokens.length; i++) {
    const property = !KIND_ARTICLES.has(tokens[i]) && tokens[i + 1] !== PLURAL
    if (VERBS.has(tokens[i - 1]) && (tokens[i] === LOGIC_TOKENS.not || property)) weights[i] = signWeight
  }
  return weights
}

/**
 * A function from (index, progress) to a demonstration. Which source is drawn depends on seed, index and progress alone, so a
 * stopped training continues with the same examples.
 * @throws ConfigError for a curriculum whose knots or weights do not fit.
 */
export const coldStartStream = ({
  curriculum,
  seed,
  signWeight = 1,
  wording = 'as-given',
}: ColdStartOptions) => {
  const worded = (problem: LogicTaskExample): LogicTaskExample =>
    wording === 'canonical' ? { ...problem, proof: problem.proof?.map(canonicalWording) } : problem
  if (curriculum.knots.length === 0)
    throw new ConfigError('curriculum.knots: expected at least one, got none')
  for (const [i, knot] of curriculum.knots.entries()) checkKnot(knot, i, curriculum)
  const generators = curriculum.sources.map((options, i) => logicGenerator(options, `${seed}/source-${i}`))
  return (index: number, progress: number): SupervisedExample => {
    const source = drawIndex(new Rng(`cold start/${seed}/${index}`), weightsAt(curriculum, progress))
    const problem = generators[source](index)
    const promptTokens = encodePrompt(problem)
    const responseTokens = encodeResponse(worded(problem))
    return signWeight === 1
      ? { promptTokens, responseTokens }
      : { promptTokens, responseTokens, responseWeights: weightSigns(responseTokens, signWeight) }
  }
}
