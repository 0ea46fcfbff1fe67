/** @file The training heuristics of C4 and C5: cheap proxies that a policy can game, on purpose. */

import { freeVariables, predicates } from './formula.ts'
import { singular } from './lexicon.ts'
import { looksSymbolic, parseFormula } from './parse.ts'
import { DEFAULT_PROXIES, type ProxySettings } from './settings.ts'

const STOP_WORDS = new Set(
  (
    'a an the is are was were be been am do does did has have had not no nor and or but if then else so than that which ' +
    'who whom whose this these those it its he she they them their his her him we us you i as at by for from in into of on ' +
    'to with without about over under up down out all any both each every either neither some someone something anyone ' +
    'anything everyone everything thing things people person one ones will would can could may might must shall should ' +
    'there here also only very therefore thus hence because since when while what how why'
  ).split(' '),
)

const stems = new Map<string, string>()

/** A crude stem: singular, without -ing, -ed or -ly. */
const stem = (word: string): string => {
  let found = stems.get(word)
  if (found === undefined) {
    const one = singular(word)
    found = one.length > 5 ? one.replace(/(?:ing|ed|ly)$/, '') : one
    if (stems.size < 100_000) stems.set(word, found)
  }
  return found
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

const symbols = (text: string): string[] | null => {
  if (!looksSymbolic(text)) return null
  try {
    const { formula } = parseFormula(text, { repair: true })
    return [...predicates([formula]).keys(), ...freeVariables(formula)].map(name => name.toLowerCase())
  } catch {
    return null
  }
}

/** Key terms of a premise: its predicate and constant symbols, or the stems of a sentence's content words. */
export const keyTerms = (premise: string): string[] => {
  const names = symbols(premise)
  if (names) return [...new Set(names)]
  return [
    ...new Set(
      wordsOf(premise)
        .filter(word => !STOP_WORDS.has(word))
        .map(stem),
    ),
  ]
}

/** C4 for training: share of the premises of which at least `termShare` of the key terms occur in the reasoning. In [0, 1]. */
export const premiseUseProxy = (
  terms_P: readonly (readonly string[])[],
  reasoning: string,
  { termShare }: ProxySettings = DEFAULT_PROXIES,
): number => {
  if (terms_P.length === 0) return 0
  const found = new Set<string>()
  for (const word of wordsOf(reasoning)) found.add(word).add(stem(word))
  const used = terms_P.filter(terms => {
    const hits = terms.filter(term => found.has(term)).length
    return terms.length > 0 && hits >= terms.length * termShare
  })
  return used.length / terms_P.length
}

/**
 * C5 for training: a weighted mean of min(steps / `fullSteps`, 1), weighing `stepShare`, and min(words / `fullWords`, 1); 0
 * without reasoning. In [0, 1].
 */
export const completenessProxy = (
  steps: number,
  reasoning: string,
  { stepShare, fullSteps, fullWords }: ProxySettings = DEFAULT_PROXIES,
): number => {
  const words = reasoning.split(/\s+/).filter(word => word !== '').length
  if (words === 0) return 0
  return stepShare * Math.min(steps / fullSteps, 1) + (1 - stepShare) * Math.min(words / fullWords, 1)
}
