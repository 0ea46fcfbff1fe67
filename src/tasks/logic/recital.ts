/** @file Recitals: rules of a problem said again, subject by subject. Short drills in looking a rule up, its sign included. */

import { parseSentence } from '../../grade/logic/english.ts'
import type { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import { encodePremises, encodeStatements } from './format.ts'
import type { LogicGeneratorOptions } from './generator.ts'
import { readRule } from './rules.ts'
import { ALL_NOUNS, LOGIC_TOKENS, tokenId, WORD_COUNT } from './vocabulary.ts'
import { canonicalWording, type RuleWording } from './wording.ts'

/** Problems of a sort, and whether their rules are recited in place of proofs. */
export interface RecitalOptions extends LogicGeneratorOptions {
  /** Prompts hold one to so many of a problem's rules, and no question. */
  recite?: number
  /** The sort of rules shown and recited; all when absent. */
  reciteOnly?: RecitedRules
}

/** Rules that lead from kind to kind, or that give a kind a property. */
export type RecitedRules = 'kinds' | 'properties'

const KIND_NAMES: ReadonlySet<string> = new Set(ALL_NOUNS)
const KIND_TOKENS = new Set(ALL_NOUNS.map(noun => tokenId(` ${noun}`)))
const STEPS: ReadonlySet<number> = new Set(LOGIC_TOKENS.steps)

interface Sayable {
  text: string
  subject: string
  /** Whether it gives the subject a property, and no parent. */
  isProperty: boolean
}

const sayable = (text: string): Sayable[] => {
  const rule = readRule(parseSentence(text))
  return rule === null || rule.fact
    ? []
    : [{ text, subject: rule.subject, isProperty: !KIND_NAMES.has(rule.object) }]
}

/** Subjects in an order of their own, of each its property before its parent. */
const bySubject = (rules: readonly Sayable[], rng: Rng): Sayable[] => {
  const own = new Map<string, Sayable[]>()
  for (const rule of rules) own.set(rule.subject, [...(own.get(rule.subject) ?? []), rule])
  return rng
    .shuffle([...own.values()])
    .flatMap(said => said.toSorted((a, b) => Number(b.isProperty) - Number(a.isProperty)))
}

/** Nothing is learnt of what is drawn by chance: step numbers, and which subject comes next. */
const weightsOf = (tokens: readonly number[]): Float32Array => {
  let open = false
  return Float32Array.from(tokens, token => {
    if (STEPS.has(token)) open = false
    const learnt = open
    if (KIND_TOKENS.has(token)) open = true
    return Number(learnt)
  })
}

/**
 * A demonstration that says rules again, in place of a proof.
 * @param problem of the ProntoQA fragment; its fact, question and proof are not used
 * @param source the prompt holds one to `recite` of the problem's rules, of the sort `reciteOnly`, and nothing else
 * @param vocabulary how many tokens the model has
 * @throws SentenceError for a premise outside the controlled English
 */
export const recital = (
  problem: Pick<LogicTaskExample, 'id' | 'premises'>,
  { recite: most, reciteOnly }: { recite: number; reciteOnly?: RecitedRules },
  wording: RuleWording,
  rng: Rng,
  vocabulary = WORD_COUNT,
): { promptTokens: number[]; responseTokens: number[]; responseWeights: Float32Array } => {
  const all = problem.premises.flatMap(sayable)
  const sort = all.filter(({ isProperty }) => isProperty === (reciteOnly === 'properties'))
  const rules = rng.shuffle(reciteOnly === undefined ? all : sort)
  const shown = rules.slice(0, 1 + rng.int(Math.min(most, rules.length)))
  const said = bySubject(shown, rng).map(({ text }) =>
    wording === 'canonical' ? canonicalWording(text) : text,
  )
  const responseTokens = encodeStatements(said, problem.id, vocabulary)
  return {
    promptTokens: encodePremises({ id: problem.id, premises: shown.map(({ text }) => text) }, vocabulary),
    responseTokens,
    responseWeights: weightsOf(responseTokens),
  }
}
