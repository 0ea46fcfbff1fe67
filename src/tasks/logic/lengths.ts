/** @file How long problems, proofs and recitation drills can get in tokens of the small model, from the generator's options alone. */

import { ConfigError } from '../../util/errors.ts'
import { type LogicGeneratorOptions, longestOf, mentionsOf, settleLogicOptions } from './generator.ts'
import { type ProofStyle, proofSteps } from './looking.ts'
import { mostTreeKinds } from './plan.ts'
import type { RecitationOptions } from './recitation-drill.ts'
import {
  hasPhrases,
  LOGIC_VOCABULARY,
  LONG_LOGIC_VOCABULARY,
  MAX_STEPS,
  NOUNS,
  WORD_COUNT,
} from './vocabulary.ts'

/** Most tokens of each sort of sentence, without its full stop. */
const sentenceLengths = (vocabulary: number) => {
  // ` is not` or ` is a`: the longest of what joins a subject with what is said of it.
  const joint = hasPhrases(vocabulary) ? 1 : 2
  return {
    /** "every x is not bright" */
    rule: 3 + joint,
    /** "stella is a x", "stella is not bright" */
    statement: 2 + joint,
  }
}

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

/**
 * Most tokens of a prompt. Options that the generator refuses give a length all the same.
 * @param vocabulary how many tokens the model has: phrases make problems shorter
 */
export const longestPrompt = (options: LogicGeneratorOptions, vocabulary = WORD_COUNT): number => {
  const { rule, statement } = sentenceLengths(vocabulary)
  // `<bos>`; each sentence with its full stop; the question's token.
  return 1 + (rule + 1) * mostRules(options) + (statement + 1) + 1 + (statement + 1)
}

/** Most rules that a proof applies: those asked for, or of Unknown all that bear on the individual. */
const mostHops = (options: LogicGeneratorOptions): number => {
  const { hops, labels, distractors, nodes } = settleLogicOptions(options)
  const longest = longestOf(hops)
  if (labels === 'two-way' || distractors === 'connected') return longest
  return Math.max(nodes ? nodes[1] - 2 : longest + UNKNOWN_EXTRA, longest)
}

/** Steps of the longest proof. */
export const longestProof = (options: LogicGeneratorOptions, proofs: ProofStyle = 'shortest'): number => {
  // A proof for Unknown goes on from its last kind, too.
  const isLonger = proofs === 'looking' && settleLogicOptions(options).labels === 'three-way'
  return proofSteps(mostHops(options), proofs) + (isLonger ? 2 : 0)
}

/** Most tokens of a gold response, `<eos>` included. @param vocabulary how many tokens the model has */
export const longestResponse = (
  options: LogicGeneratorOptions,
  vocabulary = WORD_COUNT,
  proofs: ProofStyle = 'shortest',
): number => {
  const { rule, statement } = sentenceLengths(vocabulary)
  const steps = longestProof(options, proofs)
  // Every rule is followed by what it says of the individual, whose kind comes first. A step begins with its number.
  const rules = (steps - 1) / 2
  return AROUND_STEPS + (1 + statement) * (steps - rules) + (1 + rule) * rules
}

/** Rules of the longest drill. */
const mostRecited = ({ recite = 0, ...options }: RecitationOptions): number =>
  Math.min(recite, mostRules(options))

/** Most tokens of a demonstration: of what is shown, and of what is to be said. */
const longestDemonstration = (options: RecitationOptions, vocabulary: number, proofs: ProofStyle) => {
  if (options.recite === undefined)
    return { shown: longestPrompt(options, vocabulary), said: longestResponse(options, vocabulary, proofs) }
  const { rule, statement } = sentenceLengths(vocabulary)
  const rules = mostRecited(options)
  // `<bos>` and each rule with its full stop; `<reasoning>` and each rule with its number.
  const most = 1 + (rule + 1) * rules
  // The question's token, and the statement with its full stop.
  const question = options.reciteAsked === undefined ? 0 : 1 + statement + 1
  // What each rule says of the individual, with its number.
  const facts = options.reciteAsked === 'reached' ? rules * (1 + statement) : 0
  return { shown: most + question, said: most + facts + (options.reciteAsked === undefined ? 0 : 1) }
}

/**
 * Positions of context that a problem and its gold response take at most, or a recitation drill.
 * @param vocabulary how many tokens the model has
 */
export const contextNeeded = (
  options: RecitationOptions,
  vocabulary = WORD_COUNT,
  proofs: ProofStyle = 'shortest',
): number => {
  const { shown, said } = longestDemonstration(options, vocabulary, proofs)
  return shown + said
}

/**
 * Refuses demonstrations that do not fit the context, and proofs of more steps than there are numbers.
 * @param maxPositions context of the model
 * @param place of the options in the configuration, for the error
 * @param vocabulary how many tokens the model has
 * @throws ConfigError naming how many positions or steps it takes
 */
export const assertContext = (
  options: RecitationOptions,
  maxPositions: number,
  place: string,
  vocabulary = WORD_COUNT,
  proofs: ProofStyle = 'shortest',
): void => {
  const recites = options.recite !== undefined
  const steps = recites ? 0 : longestProof(options, proofs)
  if (steps > MAX_STEPS)
    throw new ConfigError(`${place}: expected proofs of at most ${MAX_STEPS} steps, got up to ${steps}`, {
      hint: proofs === 'looking' ? 'lower hops, or set proofs to shortest' : 'lower hops',
    })
  const { shown, said } = longestDemonstration(options, vocabulary, proofs)
  const needed = shown + said
  if (needed <= maxPositions) return
  const parts = recites
    ? `${shown} of ${mostRecited(options)} rules, ${said} to recite them`
    : `${shown} of the problem, ${said} of its proof and answer`
  throw new ConfigError(
    `${place}: expected at most ${maxPositions} tokens, the context of the model, got up to ${needed}: ${parts}`,
    {
      hint: `set model.shape.maxPositions of the cold start to at least ${needed}, or ${recites ? 'lower recite' : 'make problems shorter'}`,
    },
  )
}

/** The smaller of the two vocabularies that says these problems and proofs of so many steps. */
export const vocabularyFor = (
  sources: readonly LogicGeneratorOptions[],
  steps = 0,
  proofs: ProofStyle = 'shortest',
): readonly string[] => {
  const short = sources.every(
    options =>
      settleLogicOptions(options).kinds <= NOUNS.length && longestProof(options, proofs) <= SHORT_PROOF,
  )
  return short && steps <= SHORT_PROOF ? LOGIC_VOCABULARY : LONG_LOGIC_VOCABULARY
}

const SHORT_PROOF = LOGIC_VOCABULARY.filter(token => /^\n\d/.test(token)).length
