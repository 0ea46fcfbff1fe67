/** @file How long problems and proofs can get in tokens of the small model, from the generator's options alone. */

import { ConfigError } from '../../util/errors.ts'
import { type LogicGeneratorOptions, longestOf, mentionsOf, settleLogicOptions } from './generator.ts'
import { mostTreeKinds } from './plan.ts'
import { LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY, NOUNS } from './vocabulary.ts'

/** Tokens of the longest sentence of each sort with its full stop ("every x is not bright."; "stella is a x."). */
const RULE = 6
const FACT = 5
const STATEMENT = 5
/** Of a step with its number: a rule, and what follows from it. */
const HOP = 6 + 5
const FIRST_STEP = 5
/** `<reasoning>` before the steps; closing tag, the answer in its tags and `<eos>` after them. */
const AROUND_STEPS = 6
/** Kinds that an Unknown proof may climb beyond the hops asked for: all that a chain of the real rows' length has. */
const UNKNOWN_EXTRA = 2

/** Most rules of a problem with the longest proofs. */
const mostRules = (options: LogicGeneratorOptions): number => {
  const settled = settleLogicOptions(options)
  const { hops, distractors, nodes } = settled
  const longest = longestOf(hops)
  if (distractors === 'connected') {
    // Every kind but the last has one above it; all but two have a property.
    return Math.max(
      ...mentionsOf(options).map(mentions => {
        const kinds = mostTreeKinds(longest, mentions, settled)
        return kinds - 1 + Math.max(kinds - 2, mentions)
      }),
    )
  }
  const chain = Math.max(nodes ? nodes[1] : longest + 4, 3)
  return 2 * (chain - 1) + (distractors === 'none' ? 0 : 1)
}

/** Most tokens of a prompt. @throws ConfigError nowhere; options that the generator refuses give a length all the same */
export const longestPrompt = (options: LogicGeneratorOptions): number =>
  1 + RULE * mostRules(options) + FACT + 1 + STATEMENT

/** Most rules that a proof applies: those asked for, or of Unknown all that bear on the individual. */
const mostHops = (options: LogicGeneratorOptions): number => {
  const { hops, labels, distractors, nodes } = settleLogicOptions(options)
  const longest = longestOf(hops)
  if (labels === 'two-way' || distractors === 'connected') return longest
  return Math.max(nodes ? nodes[1] - 2 : longest + UNKNOWN_EXTRA, longest)
}

/** Steps of the longest proof: the fact, then a rule and its consequence for every hop. */
export const longestProof = (options: LogicGeneratorOptions): number => 1 + 2 * mostHops(options)

/** Most tokens of a gold response, `<eos>` included. */
export const longestResponse = (options: LogicGeneratorOptions): number =>
  AROUND_STEPS + FIRST_STEP + HOP * mostHops(options)

/** Positions of context that a problem and its gold response take at most. */
export const contextNeeded = (options: LogicGeneratorOptions): number =>
  longestPrompt(options) + longestResponse(options)

/**
 * Refuses problems whose gold responses do not fit the context.
 * @param maxPositions context of the model
 * @param place of the options in the configuration, for the error
 * @throws ConfigError naming how many positions it takes
 */
export const assertContext = (options: LogicGeneratorOptions, maxPositions: number, place: string): void => {
  const needed = contextNeeded(options)
  if (needed > maxPositions)
    throw new ConfigError(
      `${place}: expected at most ${maxPositions} tokens, the context of the model, got up to ${needed}: ${longestPrompt(options)} of the problem, ${longestResponse(options)} of its proof and answer`,
      {
        hint: `set model.shape.maxPositions of the cold start to at least ${needed}, or make problems shorter`,
      },
    )
}

/** The smaller of the two vocabularies that says these problems and proofs of so many steps. */
export const vocabularyFor = (sources: readonly LogicGeneratorOptions[], steps = 0): readonly string[] => {
  const short = sources.every(
    options => settleLogicOptions(options).kinds <= NOUNS.length && longestProof(options) <= SHORT_PROOF,
  )
  return short && steps <= SHORT_PROOF ? LOGIC_VOCABULARY : LONG_LOGIC_VOCABULARY
}

const SHORT_PROOF = LOGIC_VOCABULARY.filter(token => /^\n\d/.test(token)).length
