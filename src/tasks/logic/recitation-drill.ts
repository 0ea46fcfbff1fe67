/** @file Recitation drills: rules of a problem said again, subject by subject. Short drills in looking a rule up, its sign included. */

import type { z } from 'zod'
import type { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import { encodePremises, encodePrompt, encodeStatements } from './format.ts'
import type { LogicGeneratorOptions } from './generator.ts'
import { ruleIn } from './rules.ts'
import { propertyFact } from './sentences.ts'
import type { sourceSchema } from './start-settings.ts'
import { ALL_NOUNS, LOGIC_TOKENS, tokenId, WORD_COUNT } from './vocabulary.ts'
import { canonicalWording, type RuleWording } from './wording.ts'

type Recited = Pick<z.output<typeof sourceSchema>, 'recite' | 'reciteOnly' | 'reciteAsked'>

/** Problems of a sort, and whether their rules are recited in place of proofs. */
export interface RecitationOptions extends LogicGeneratorOptions, Recited {}

/**
 * What is recited where a question is asked. `found`: the rules of the property that it asks about. `reached`: rules in any order
 * until one is of that property, and then what it says of the individual.
 */
export type AskedRecitation = NonNullable<Recited['reciteAsked']>

/** Rules that lead from kind to kind, or that give a kind a property. */
export type RecitedRules = NonNullable<Recited['reciteOnly']>

const KIND_TOKENS = new Set(ALL_NOUNS.map(noun => tokenId(` ${noun}`)))
const EVERY = tokenId(' every')
const STEPS: ReadonlySet<number> = new Set(LOGIC_TOKENS.steps)

type Sayable = NonNullable<ReturnType<typeof ruleIn>> & { text: string }

const sayable = (text: string): Sayable[] => {
  const rule = ruleIn(text)
  return rule === null ? [] : [{ ...rule, text }]
}

/** Subjects in an order of their own, of each its property before its parent. */
const bySubject = (rules: readonly Sayable[], rng: Rng): Sayable[] => {
  const own = new Map<string, Sayable[]>()
  for (const rule of rules) own.set(rule.subject, [...(own.get(rule.subject) ?? []), rule])
  return rng
    .shuffle([...own.values()])
    .flatMap(said => said.toSorted((a, b) => Number(a.leadsOn) - Number(b.leadsOn)))
}

/** The fact that a rule gives the individual of whom the question asks. */
const consequence = ({ negated, object }: Sayable, individual: string): string =>
  propertyFact(individual, object, negated).text

/** A question about a property of the rules shown, and what is said then. */
const askedRecitation = (
  shown: readonly Sayable[],
  individual: string,
  how: AskedRecitation,
  rng: Rng,
): { question: string; said: string[] } => {
  const asked = rng.pick(shown.filter(({ leadsOn }) => !leadsOn)).object
  const question = propertyFact(individual, asked, rng.int(2) === 0).text
  const ordered = bySubject(shown, rng)
  const isAsked = ({ object }: Sayable) => object === asked
  const said = how === 'found' ? ordered.filter(isAsked) : ordered.slice(0, ordered.findIndex(isAsked) + 1)
  return {
    question,
    said: said.flatMap(rule =>
      how === 'reached' && !rule.leadsOn ? [rule.text, consequence(rule, individual)] : [rule.text],
    ),
  }
}

/**
 * What is drawn at random is not learnt: step numbers, and which subject comes next. It is no chance where a question decides it:
 * the subject of the property that it asks about, and whether that property is reached.
 */
const weightsOf = (tokens: readonly number[], asked?: AskedRecitation): Float32Array => {
  let open = false
  let chance = true
  return Float32Array.from(tokens, token => {
    if (STEPS.has(token)) open = asked !== undefined && !chance
    const learnt = open || (asked === 'found' && !STEPS.has(token))
    if (asked !== 'found' && token === EVERY) open = false
    if (KIND_TOKENS.has(token)) {
      open = true
      chance = false
    }
    return Number(learnt)
  })
}

const drawRules = (
  all: readonly Sayable[],
  { recite: most, reciteOnly }: { recite: number; reciteOnly?: RecitedRules },
  rng: Rng,
): Sayable[] => {
  const sort = all.filter(({ leadsOn }) => leadsOn === (reciteOnly === 'kinds'))
  const rules = rng.shuffle(reciteOnly === undefined ? all : sort)
  return rules.slice(0, 1 + rng.int(Math.min(most, rules.length)))
}

/**
 * A demonstration that says rules again, in place of a proof.
 * @param problem of the ProntoQA fragment; its fact and proof are not used, of its conclusion the individual alone
 * @param source the prompt holds one to `recite` of the problem's rules, of the sort `reciteOnly`, and nothing else but the
 *   question where one is asked (of rules that have a property among them)
 * @param vocabulary how many tokens the model has
 * @throws SentenceError for a premise outside the controlled English
 */
export const recitationDrill = (
  problem: Pick<LogicTaskExample, 'id' | 'premises' | 'conclusion'>,
  source: { recite: number; reciteOnly?: RecitedRules; reciteAsked?: AskedRecitation },
  wording: RuleWording,
  rng: Rng,
  vocabulary = WORD_COUNT,
): { promptTokens: number[]; responseTokens: number[]; responseWeights: Float32Array } => {
  const { id, premises, conclusion } = problem
  const shown = drawRules(premises.flatMap(sayable), source, rng)
  const asked = shown.some(({ leadsOn }) => !leadsOn) ? source.reciteAsked : undefined
  const { question, said } =
    asked === undefined
      ? { question: null, said: bySubject(shown, rng).map(({ text }) => text) }
      : askedRecitation(shown, conclusion.split(' ')[0], asked, rng)
  const recited = wording === 'canonical' ? said.map(canonicalWording) : said
  const statements = encodeStatements(recited, id, vocabulary)
  const responseTokens = asked === undefined ? statements : [...statements, LOGIC_TOKENS.reasoningClose]
  const texts = shown.map(({ text }) => text)
  return {
    promptTokens:
      question === null
        ? encodePremises({ id, premises: texts }, vocabulary)
        : encodePrompt({ id, premises: texts, conclusion: question }, vocabulary),
    responseTokens,
    responseWeights: weightsOf(responseTokens, asked),
  }
}
