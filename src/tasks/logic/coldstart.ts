/** @file Supervised examples for the cold start: generated proofs as tokens, mixed by a curriculum. Data only, no model. */

import type { z } from 'zod'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import { encodePrompt, encodeResponse } from './format.ts'
import { type LogicGeneratorOptions, logicGenerator, longestOf, TEN_KINDS_HOPS } from './generator.ts'
import { lookingProof, type ProofStyle, proofSteps } from './looking.ts'
import { drawIndex } from './plan.ts'
import { type RecitationOptions, recitationDrill } from './recitation-drill.ts'
import type { keyframeSchema, LogicStart } from './start-settings.ts'
import { hasPhrases, LOGIC_TOKENS, tokenId, WORD_COUNT } from './vocabulary.ts'
import { canonicalWording, type RuleWording } from './wording.ts'

/**
 * One demonstration: learn `responseTokens` (they end with `<eos>`, but for recitation drills) after `promptTokens` (they start with
 * `<bos>`).
 */
export interface SupervisedExample {
  promptTokens: number[]
  responseTokens: number[]
  /** Loss weight of each response token; absent when all are 1. */
  responseWeights?: Float32Array
}

/** What to learn from at a moment of the training: weights of the sources, not necessarily normalised, at least one above zero. */
export type CurriculumKeyframe = z.output<typeof keyframeSchema>

/** Problems of a sort, and what their demonstrations are. */
export interface CurriculumSource extends RecitationOptions {
  /** How rules are worded, where that is not as everywhere. */
  wording?: RuleWording
}

/** A mix of generators whose weights are piecewise linear in the training's progress. */
export interface Curriculum {
  sources: readonly CurriculumSource[]
  /** In ascending order of `at`; before the first and after the last the weights stay. */
  keyframes: readonly CurriculumKeyframe[]
}

export type StepNumbering = LogicStart['numbering']

type Demonstrated = Pick<LogicStart, 'signWeight' | 'wording' | 'proofs' | 'numbering' | 'numberedTo'>

/**
 * Absent: weights of 1, rules as they are given, the shortest proofs, numbered from one. Most first errors of small models are in the
 * tokens that decide a sign; with `random-start`, short proofs teach all the numbers and a policy can be trained on towards longer ones.
 */
export interface ColdStartOptions extends Partial<Demonstrated> {
  curriculum: Curriculum
  seed: number | string
  /** How many tokens the model has; with all of the long vocabulary phrases are one each. Default: words alone. */
  vocabulary?: number
}

/**
 * Sources for proofs of the given lengths: first on short chains, where the rule that comes next has few rivals (a model
 * learns to look rules up there several times sooner), then on chains like the real ones.
 */
const shortThenReal = (hops: readonly number[], common: LogicGeneratorOptions): LogicGeneratorOptions[] => [
  ...hops.slice(1).map(count => ({ ...common, hops: count, nodes: [count + 1, count + 2] as const })),
  ...hops.map(count => ({ ...common, hops: count })),
]

/** Three to five hops on short chains first, mostly five hops like the real rows from half-way on. */
export const growingCurriculum = (common: LogicGeneratorOptions = {}): Curriculum => ({
  sources: [{ ...common, hops: 3, nodes: [4, 5] }, ...shortThenReal([3, 4, 5], common)],
  keyframes: [
    { at: 0, weights: [2, 1, 0, 0, 0, 0] },
    { at: 0.25, weights: [0.3, 1, 1, 0.2, 0.2, 0.5] },
    { at: 0.5, weights: [0.1, 0.1, 0.2, 0.2, 0.4, 2] },
    { at: 1, weights: [0, 0, 0, 0.1, 0.2, 2] },
  ],
})

/** Short proofs only: what reinforcement learning by verification then has to extend to longer ones. */
export const shortProofCurriculum = (maxHops = 3, common: LogicGeneratorOptions = {}): Curriculum => {
  const hops = Array.from({ length: maxHops }, (_, i) => i + 1)
  const sources = shortThenReal(hops, common)
  const rising = (weight: (hop: number) => number) => hops.map(weight)
  const short = (weight: number) => hops.slice(1).map(hop => weight * (hop / maxHops))
  return {
    sources,
    keyframes: [
      { at: 0, weights: [...short(maxHops > 1 ? 2 : 0), ...rising(() => (maxHops > 1 ? 0 : 1))] },
      { at: 0.25, weights: [...short(2), ...rising(hop => (hop === maxHops ? 0.5 : 0.1))] },
      { at: 0.4, weights: [...short(0.5), ...rising(hop => 2 * (hop / maxHops) ** 2)] },
      { at: 1, weights: [...short(0.1), ...rising(hop => 2 * (hop / maxHops) ** 2)] },
    ],
  }
}

const checkKeyframe = (
  { at, weights, until }: CurriculumKeyframe,
  i: number,
  { sources, keyframes }: Curriculum,
) => {
  const place = `curriculum.keyframes[${i}]`
  if (!(at >= 0 && at <= 1) || (i > 0 && at <= keyframes[i - 1].at)) {
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
  if (until !== undefined && until.atMost < at)
    throw new ConfigError(
      `${place}.until.atMost: expected at least the keyframe's own ${at}, got ${until.atMost}`,
    )
}

/** The sources' weights at `progress` in [0, 1], between the keyframes on either side. */
export const weightsAt = ({ keyframes }: Curriculum, progress: number): number[] => {
  const next = keyframes.findIndex(keyframe => keyframe.at >= progress)
  if (next === 0) return [...keyframes[0].weights]
  if (next < 0) return [...keyframes[keyframes.length - 1].weights]
  const [before, after] = [keyframes[next - 1], keyframes[next]]
  const t = (progress - before.at) / (after.at - before.at)
  return before.weights.map((weight, i) => weight * (1 - t) + after.weights[i] * t)
}

const KIND_ARTICLES = new Set([tokenId(' a'), tokenId(' an')])
const VERBS = new Set([tokenId(' is'), tokenId(' are')])
const PLURAL = tokenId('es')
/** What joins a subject with a property, or in the plural with a kind, where phrases are one token. */
const SIGNED = new Set([' is', ' is not', 'es are', 'es are not'].map(tokenId))

/**
 * Whether a token says or leaves out `not` of a property: the one behind the verb, or the verb itself where phrases are one
 * token.
 */
const decidesSign = (tokens: readonly number[], i: number, phrased: boolean): boolean => {
  const isKind = (j: number) => KIND_ARTICLES.has(tokens[j]) || tokens[j + 1] === PLURAL
  return phrased
    ? SIGNED.has(tokens[i]) && !isKind(i + 1)
    : VERBS.has(tokens[i - 1]) && (tokens[i] === LOGIC_TOKENS.not || !isKind(i))
}

/** Weighs the tokens by which a property statement says or leaves out `not`, beside what else its tokens weigh. */
const weighted = (example: SupervisedExample, signWeight: number, phrased: boolean): SupervisedExample => {
  if (signWeight === 1) return example
  const { responseTokens: tokens, responseWeights: own } = example
  const responseWeights = own ? own.slice() : new Float32Array(tokens.length).fill(1)
  for (let i = 1; i < tokens.length; i++)
    if (decidesSign(tokens, i, phrased)) responseWeights[i] *= signWeight
  return { ...example, responseWeights }
}

const STEP_INDEX: ReadonlyMap<number, number> = new Map(LOGIC_TOKENS.steps.map((token, i) => [token, i]))

/** The same response with its steps numbered from a random start, half of the time. */
const renumber = (tokens: number[], rng: Rng, numberedTo: number): number[] => {
  const steps = tokens.filter(token => STEP_INDEX.has(token)).length
  const room = numberedTo - steps
  if (room <= 0 || rng.next() < 0.5) return tokens
  const offset = rng.int(room + 1)
  return tokens.map(token => {
    const index = STEP_INDEX.get(token)
    return index === undefined ? token : LOGIC_TOKENS.steps[index + offset]
  })
}

/** Step number that random starts reach unless told otherwise. */
const usualNumbering = (sources: readonly LogicGeneratorOptions[], proofs: ProofStyle): number => {
  const longest = Math.max(TEN_KINDS_HOPS, ...sources.map(({ hops = TEN_KINDS_HOPS }) => longestOf(hops)))
  return proofSteps(longest, proofs)
}

/** @throws ConfigError naming the source that the generator refuses */
const generatorOf = (
  { wording: _, recite: __, reciteOnly: ___, reciteAsked: ____, ...options }: CurriculumSource,
  i: number,
  seed: number | string,
) => {
  try {
    return logicGenerator(options, `${seed}/source-${i}`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(`curriculum.sources[${i}]: ${error.message}`)
  }
}

/**
 * A function from (index, progress) to a demonstration. Which source is drawn depends on seed, index and progress alone, so a
 * stopped training continues with the same examples.
 * @throws ConfigError for a curriculum whose keyframes or weights do not fit.
 */
export const coldStartStream = ({
  curriculum,
  seed,
  signWeight = 1,
  wording = 'as-given',
  proofs = 'shortest',
  numbering = 'from-one',
  vocabulary = WORD_COUNT,
  numberedTo = usualNumbering(curriculum.sources, proofs),
}: ColdStartOptions) => {
  const proved = (problem: LogicTaskExample, wording: RuleWording): SupervisedExample => {
    const shown = proofs === 'looking' ? lookingProof({ proof: [], ...problem }) : problem.proof
    const proof = wording === 'canonical' ? shown?.map(canonicalWording) : shown
    return {
      promptTokens: encodePrompt(problem, vocabulary),
      responseTokens: encodeResponse({ ...problem, proof }, vocabulary),
    }
  }
  if (curriculum.keyframes.length === 0)
    throw new ConfigError('curriculum.keyframes: expected at least one, got none')
  for (const [i, keyframe] of curriculum.keyframes.entries()) checkKeyframe(keyframe, i, curriculum)
  const generators = curriculum.sources.map((source, i) => generatorOf(source, i, seed))
  return (index: number, progress: number): SupervisedExample => {
    const rng = new Rng(`cold start/${seed}/${index}`)
    const drawn = drawIndex(rng, weightsAt(curriculum, progress))
    const problem = generators[drawn](index)
    const { recite, reciteOnly, reciteAsked, wording: own = wording } = curriculum.sources[drawn]
    const shown =
      recite === undefined
        ? proved(problem, own)
        : recitationDrill(problem, { recite, reciteOnly, reciteAsked }, own, rng, vocabulary)
    return weighted(
      numbering === 'random-start'
        ? { ...shown, responseTokens: renumber(shown.responseTokens, rng, numberedTo) }
        : shown,
      signWeight,
      hasPhrases(vocabulary),
    )
  }
}
