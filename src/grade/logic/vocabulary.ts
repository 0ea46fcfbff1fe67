/** @file Names that a problem uses, and how a statement's names are fitted to them. */

import { parseSentence } from './english.ts'
import { type Formula, freeVariables, normaliseFormula, predicates, renameNames } from './formula.ts'
import { looksSymbolic, parseFormula } from './parse.ts'

export interface Vocabulary {
  /** Arities of each predicate. */
  predicates: ReadonlyMap<string, ReadonlySet<number>>
  constants: ReadonlySet<string>
  /** The one spelling of a name for each lower-case form; null where two names differ in case alone. */
  spellings: ReadonlyMap<string, string | null>
}

const spell = (spellings: Map<string, string | null>, name: string) => {
  const lower = name.toLowerCase()
  const known = spellings.get(lower)
  if (known === undefined) spellings.set(lower, name)
  else if (known !== name) spellings.set(lower, null)
}

/** The names in some formulas. */
export const vocabularyOf = (formulas: readonly Formula[]): Vocabulary => {
  const found = predicates(formulas)
  const constants = new Set(formulas.flatMap(formula => [...freeVariables(formula)]))
  const spellings = new Map<string, string | null>()
  for (const name of found.keys()) spell(spellings, name)
  for (const name of constants) spell(spellings, name)
  return { predicates: found, constants, spellings }
}

export interface LogicStatement {
  formula: Formula
  /** True for a sentence, false for a symbolic formula. */
  english: boolean
}

const MAX_CACHED = 50_000
const statements = new Map<string, LogicStatement | null>()

const readStatement = (text: string): LogicStatement | null => {
  const attempt = (read: () => LogicStatement) => {
    try {
      return read()
    } catch {
      return null
    }
  }
  const symbolic = () => ({ formula: parseFormula(text).formula, english: false })
  const english = () => ({ formula: parseSentence(text), english: true })
  return looksSymbolic(text) ? attempt(symbolic) : attempt(english)
}

/** Reads a step's statement, formula or sentence; null when it is neither. Remembered per text. */
export const parseStatement = (text: string): LogicStatement | null => {
  let statement = statements.get(text)
  if (statement === undefined) {
    statement = readStatement(text)
    if (statements.size >= MAX_CACHED) statements.delete(statements.keys().next().value!)
    statements.set(text, statement)
  }
  return statement
}

/** Predicates of a statement that the vocabulary, or the statement itself, uses with another number of arguments. */
const arityClashes = (formula: Formula, vocabulary: Vocabulary): string[] => {
  const clashes: string[] = []
  for (const [name, arities] of predicates([formula])) {
    const known = vocabulary.predicates.get(name)
    const foreign = known !== undefined && [...arities].some(arity => !known.has(arity))
    // A lone word that names a thing or a predicate of the problem, however spelt, is no proposition.
    const proposition = arities.has(0) && known === undefined && vocabulary.spellings.has(name.toLowerCase())
    if (arities.size > 1 || foreign || proposition) clashes.push(name)
  }
  return clashes
}

/** Names of a statement that the problem never uses. */
export const foreignNames = (formula: Formula, vocabulary: Vocabulary): string[] => [
  ...[...predicates([formula]).keys()].filter(name => !vocabulary.predicates.has(name)),
  ...[...freeVariables(formula)].filter(name => !vocabulary.constants.has(name)),
]

/**
 * A statement's formula in the problem's names, or null when one predicate has two arities (a parse error for
 * that step). A sentence carries no case, so its names take the spelling of the problem; formulas are case-sensitive.
 */
export const fitStatement = (statement: LogicStatement, vocabulary: Vocabulary): Formula | null => {
  const spelling = (name: string) => vocabulary.spellings.get(name.toLowerCase()) ?? name
  const formula = statement.english
    ? renameNames(statement.formula, spelling, spelling)
    : normaliseFormula(statement.formula)
  return arityClashes(formula, vocabulary).length > 0 ? null : formula
}
