/** @file Reads the controlled English of ProntoQA and ProofWriter into formulas. */

import { DataError } from '../../util/errors.ts'
import { atom, conjunction, exists, type Formula, forall, implies, normaliseName, not } from './formula.ts'
import {
  ARTICLES,
  AUXILIARIES,
  baseVerb,
  COPULAS,
  EACH_WORDS,
  EMPTY_HEADS,
  FUNCTION_WORDS,
  INDEFINITES,
  isPlural,
  NEGATIVES,
  PRONOUNS,
  singular,
  UNIVERSALS,
} from './lexicon.ts'

/** A sentence outside the controlled English. */
export class SentenceError extends DataError {}

const X = 'x'

const MAX_SENTENCE = 5_000

const fail = (words: readonly string[], expected: string): never => {
  throw new SentenceError(`expected ${expected}, got "${words.join(' ')}"`)
}

/** A word that may name a predicate or a thing. @throws SentenceError for function words and symbols. */
const content = (word: string): string => {
  if (FUNCTION_WORDS.has(word) || PRONOUNS.has(word)) fail([word], 'a noun, an adjective or a name')
  const name = normaliseName(word)
  if (!/^[a-z0-9_]+$/.test(name)) fail([word], 'a word')
  return name
}

const wordsOf = (text: string): string[] => {
  const words = text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[.!]\s*$/, '')
    .replace(/-(?=\p{L})/gu, '_')
    .replace(/,/g, ' , ')
    .trim()
    .split(/\s+/)
  while (/^(?:therefore|so|thus|hence|then|,)$/.test(words[0] ?? '') && words.length > 1) words.shift()
  return words
}

const withoutCommas = (words: readonly string[]) => words.filter(word => word !== ',')

/** Modifiers and head as one condition on `subject`: "cold, smart things" -> cold(x) and smart(x). */
const nounPhrase = (words: readonly string[], subject: string, plural: boolean): Formula => {
  const parts = withoutCommas(words).filter(word => word !== 'and')
  if (parts.length === 0) fail(words, 'a noun')
  const head = parts[parts.length - 1]
  const modifiers = parts.slice(0, -1).map(word => atom(content(word), subject))
  if (EMPTY_HEADS.has(head) && modifiers.length > 0) return conjunction(modifiers)
  return conjunction([...modifiers, atom(content(plural ? singular(head) : head), subject)])
}

/** What follows is/are: "(not) a/an NOUN", "(not) ADJ", "(not) NOUNs". */
const complement = (words: readonly string[], subject: string, copula: string): Formula => {
  if (words[0] === 'not') return not(complement(words.slice(1), subject, copula))
  const hasArticle = ARTICLES.has(words[0])
  const rest = hasArticle ? words.slice(1) : words
  if (rest.length === 0 || rest.includes(',') || rest.includes('and')) fail(words, 'a noun or an adjective')
  return nounPhrase(rest, subject, !hasArticle && copula === 'are' && isPlural(rest[rest.length - 1]))
}

/** A thing named by "the bald eagle", "bob" or a pronoun that stands for `antecedent`. */
const thing = (words: readonly string[], antecedent: string | null): string => {
  if (words.length === 1 && PRONOUNS.has(words[0])) return antecedent ?? fail(words, 'a name')
  if (words.length === 1 && INDEFINITES.has(words[0])) return X
  const parts = words[0] === 'the' ? words.slice(1) : words
  if (parts.length === 0 || (words[0] !== 'the' && parts.length > 1)) fail(words, 'a name or "the ..."')
  return parts.map(content).join('_')
}

interface Clause {
  formula: Formula
  subject: string
}

/** Where a clause's verb stands: a copula or auxiliary, or else the word before the object. */
const verbIndex = (words: readonly string[]): number => {
  const marked = words.findIndex(word => COPULAS.has(word) || AUXILIARIES.has(word))
  if (marked >= 0) return marked
  const object = words.lastIndexOf('the')
  return object > 0 ? object - 1 : words.length - 2
}

const predicateOf = (words: readonly string[], subject: string): Formula => {
  const verb = words[0]
  if (COPULAS.has(verb)) return complement(words.slice(1), subject, verb)
  if (AUXILIARIES.has(verb)) {
    if (words[1] !== 'not' || words.length < 4) fail(words, '"does not VERB ..."')
    return not(atom(content(words[2]), subject, thing(words.slice(3), null)))
  }
  if (words.length < 2) fail(words, 'a verb and an object')
  return atom(baseVerb(content(verb)), subject, thing(words.slice(1), null))
}

const startsWithVerb = (words: readonly string[]) => COPULAS.has(words[0]) || AUXILIARIES.has(words[0])

/** One clause about one thing; the subject may be left out ("and is cold") when `antecedent` gives it. */
const clause = (words: readonly string[], antecedent: string | null): Clause => {
  if (startsWithVerb(words) && antecedent !== null) {
    return { formula: predicateOf(words, antecedent), subject: antecedent }
  }
  const at = verbIndex(words)
  if (at < 1) fail(words, 'a subject and a verb')
  const subject = thing(words.slice(0, at), antecedent)
  return { formula: predicateOf(words.slice(at), subject), subject }
}

const splitAt = (words: readonly string[], separator: string): string[][] => {
  const parts: string[][] = [[]]
  for (const word of words) {
    if (word === separator) parts.push([])
    else parts[parts.length - 1].push(word)
  }
  return parts
}

/** "something is cold and not red and it sees the cat": clauses, or bare complements that carry on the last copula. */
const clauses = (words: readonly string[], antecedent: string | null): Clause => {
  let subject = antecedent
  const formulas: Formula[] = []
  let copula: string | null = null
  for (const part of splitAt(withoutCommas(words), 'and')) {
    const carriesOn = copula !== null && subject !== null && !hasVerb(part)
    if (carriesOn) {
      formulas.push(complement(part, subject!, copula!))
      continue
    }
    const one = clause(part, subject)
    subject = one.subject
    copula = part.find(word => COPULAS.has(word)) ?? null
    formulas.push(one.formula)
  }
  return { formula: conjunction(formulas), subject: subject! }
}

const hasVerb = (words: readonly string[]) => {
  const body = words[0] === 'not' ? words.slice(1) : words
  if (body.some(word => COPULAS.has(word) || AUXILIARIES.has(word))) return true
  return body.length > 1 && !ARTICLES.has(body[0])
}

const close = (formula: Formula, usesX: boolean) => (usesX ? forall(X, formula) : formula)

const conditional = (words: readonly string[]): Formula => {
  const then = words.indexOf('then')
  const comma = words.indexOf(',')
  const at = then >= 0 ? then : comma
  if (at < 2) fail(words, '"if ... then ..."')
  const antecedentWords = words.slice(1, at)
  const antecedent = clauses(antecedentWords, null)
  // A pronoun after "then" means the something, wherever else the if-part ended.
  const general = antecedentWords.some(word => INDEFINITES.has(word))
  const consequent = clauses(words.slice(at + 1), general ? X : antecedent.subject)
  return close(implies(antecedent.formula, consequent.formula), general)
}

/** "every A is ...", "all As are ...", "As are ...", "a A is ...", "no A is ...". */
const general = (subjectWords: readonly string[], rest: readonly string[], plural: boolean): Formula =>
  forall(X, implies(nounPhrase(subjectWords, X, plural), predicateOf(rest, X)))

const verbAfterSubject = (words: readonly string[]) => {
  const at = verbIndex(words)
  if (at < 1) fail(words, 'a subject and a verb')
  return at
}

const quantified = (words: readonly string[]): Formula | null => {
  const [first] = words
  const rest = words.slice(1)
  if (EACH_WORDS.has(first) || ARTICLES.has(first)) {
    const at = verbAfterSubject(rest)
    return general(rest.slice(0, at), rest.slice(at), false)
  }
  if (first === 'all') {
    const at = verbAfterSubject(rest)
    return general(rest.slice(0, at), rest.slice(at), true)
  }
  if (first === 'no') {
    const at = verbAfterSubject(rest)
    const subject = nounPhrase(rest.slice(0, at), X, rest[at] === 'are')
    return forall(X, implies(subject, not(predicateOf(rest.slice(at), X))))
  }
  if (first === 'some') {
    const at = verbAfterSubject(rest)
    const subject = nounPhrase(rest.slice(0, at), X, rest[at] === 'are')
    return exists(X, conjunction([subject, predicateOf(rest.slice(at), X)]))
  }
  if (UNIVERSALS.has(first)) return forall(X, predicateOf(rest, X))
  if (NEGATIVES.has(first)) return forall(X, not(predicateOf(rest, X)))
  if (INDEFINITES.has(first)) return exists(X, predicateOf(rest, X))
  return null
}

/** A sentence without a quantifier word: "Xs are ..." speaks of all, "X is ...", "the cat likes ..." of one thing. */
const plain = (words: readonly string[]): Formula => {
  const at = verbAfterSubject(words)
  const subject = words.slice(0, at)
  const rest = words.slice(at)
  const pluralVerb = rest[0] === 'are' || rest[0] === 'do'
  if (pluralVerb && subject[0] !== 'the') return general(subject, rest, true)
  return predicateOf(rest, thing(subject, null))
}

const sentence = (words: readonly string[]): Formula => {
  if (words[0] === 'if') return conditional(words)
  const byQuantifier = quantified(words)
  if (byQuantifier) return byQuantifier
  return words.includes('and') && !words.includes('are') ? clauses(words, null).formula : plain(words)
}

/**
 * Reads one sentence of the controlled English; case does not matter, names come out in lower case, nouns in the
 * singular. "Stella is a yumpus" -> yumpus(stella); "Yumpuses are not kind" -> forall x (yumpus(x) -> not kind(x));
 * "The cat sees Bob" -> see(cat, bob).
 * @throws SentenceError saying what was expected.
 * @example
 * printFormula(parseSentence('Every cat is an animal.')) // '∀x (cat(x) → animal(x))'
 */
export const parseSentence = (text: string): Formula => {
  if (text.length > MAX_SENTENCE)
    throw new SentenceError(`expected a sentence of at most ${MAX_SENTENCE} characters, got ${text.length}`)
  const words = wordsOf(text)
  if (words.length < 2) fail(words, 'a sentence')
  return sentence(words)
}

/**
 * Splits a context into its sentences, each with its full stop.
 * @example
 * logicSentences('Rex is a cat. Rex is red.') // [ 'Rex is a cat.', 'Rex is red.' ]
 */
export const logicSentences = (context: string): string[] =>
  context
    .split(/(?<=[.!?])\s+/)
    .map(text => text.trim())
    .filter(text => text !== '')
