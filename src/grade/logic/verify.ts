/** @file Verifies rows of a file: labels of FOLIO rows, steps of premises-and-steps rows. */

import { DataError } from '../../util/errors.ts'
import { parseSentence } from './english.ts'
import { type Formula, freeVariables, predicates, renameNames } from './formula.ts'
import { singular } from './lexicon.ts'
import { looksSymbolic, parseFormula } from './parse.ts'
import type { LogicLabel } from './problem.ts'
import { type LogicSolver, STEP_CREDIT, type StepStatus } from './solver.ts'
import { splitAnnotation } from './steps.ts'
import { fitStatement, parseStatement, vocabularyOf } from './vocabulary.ts'

/** A label that the formulas prove; `reason` says why there is none, or what had to be mended first. */
export interface LabelVerdict {
  label: LogicLabel | null
  reason: string | null
}

export interface StepVerdict {
  /** 0, .3, .5 or 1; null when nothing can be said: faulty premises, or a solver that failed. */
  credit: number | null
  status: StepStatus | 'unverifiable' | 'premises-unparsed'
}

export interface StepsVerdict {
  steps: StepVerdict[]
  reason?: string
}

const strings = (row: Record<string, unknown>, field: string): string[] => {
  const value = row[field]
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string')) {
    throw new DataError(`${field}: expected a list of texts, got ${JSON.stringify(value)?.slice(0, 60)}`)
  }
  return value
}

/** Renamings of names to the first one that equals them by `form`. */
const variants = (names: Iterable<string>, form: (name: string) => string): Map<string, string> => {
  const first = new Map<string, string>()
  const renamings = new Map<string, string>()
  for (const name of names) {
    const known = first.get(form(name))
    if (known === undefined) first.set(form(name), name)
    else if (known !== name) renamings.set(name, known)
  }
  return renamings
}

const caseless = (name: string) => name.toLowerCase()
const caselessSingular = (name: string) => singular(name.toLowerCase())

/** Takes names as one that differ in case alone, and predicates also when they differ in number (Meeting, Meetings). */
const unifyNames = (formulas: readonly Formula[], repairs: string[]): Formula[] => {
  const arities = predicates(formulas)
  const sameArity = ([from, to]: [string, string]) =>
    [...arities.get(from)!].join() === [...arities.get(to)!].join()
  const ofPredicates = new Map([...variants(arities.keys(), caselessSingular)].filter(sameArity))
  const ofConstants = variants(
    formulas.flatMap(formula => [...freeVariables(formula)]),
    caseless,
  )
  for (const [from, to] of [...ofPredicates, ...ofConstants]) repairs.push(`read ${from} as ${to}`)
  return formulas.map(formula =>
    renameNames(
      formula,
      name => ofPredicates.get(name) ?? name,
      name => ofConstants.get(name) ?? name,
    ),
  )
}

/**
 * Decides a FOLIO row `{premises-FOL, conclusion-FOL}` by its formulas. Hand-written formulas are mended where that is
 * mechanical: parentheses balanced at the end, a comma between formulas read as "and", the words of a name joined, names that differ in case alone, and
 * predicates that differ in number alone, taken as one. Everything mended is named in `reason`.
 */
export const verifyLabel = async (
  premises: readonly string[],
  conclusion: string,
  solver: LogicSolver,
): Promise<LabelVerdict> => {
  const repairs: string[] = []
  const parsed: Formula[] = []
  for (const [index, text] of [...premises, conclusion].entries()) {
    const place = index < premises.length ? `premise ${index + 1}` : 'conclusion'
    try {
      const { formula, repairs: mended } = parseFormula(text, { repair: true })
      parsed.push(formula)
      repairs.push(...mended.map(repair => `${place}: ${repair}`))
    } catch (error) {
      return { label: null, reason: `${place}: ${(error as Error).message}` }
    }
  }
  const formulas = unifyNames(parsed, repairs)
  const decision = await solver.decide(formulas.slice(0, -1), formulas[formulas.length - 1])
  if (decision.label === null) return decision
  return { label: decision.label, reason: repairs.length > 0 ? repairs.join('; ') : null }
}

const premiseOf = (text: string): Formula =>
  looksSymbolic(text) ? parseFormula(text).formula : parseSentence(text)

const NUMBER = /^\s*(?:step\s*)?\d{1,4}\s*[.):]\s+/i

/**
 * Grades steps against premises; either may be formulas or sentences, a step may carry a number and `[rule; refs]`.
 * @example
 * const solver = await LogicSolver.start({ backend: 'ground' })
 * const { steps } = await verifySteps(['Every cat is an animal.', 'Rex is a cat.'], ['Rex is an animal.'], solver)
 * steps[0].status // 'entailed'
 * await solver.close()
 */
export const verifySteps = async (
  premises: readonly string[],
  steps: readonly string[],
  solver: LogicSolver,
): Promise<StepsVerdict> => {
  const premisesFol: Formula[] = []
  for (const [index, text] of premises.entries()) {
    try {
      premisesFol.push(premiseOf(text))
    } catch (error) {
      const reason = `premise ${index + 1}: ${(error as Error).message}`
      return { steps: steps.map(() => ({ credit: null, status: 'premises-unparsed' })), reason }
    }
  }
  const vocabulary = vocabularyOf(premisesFol)
  const read = steps.map(step => {
    const { text, rule } = splitAnnotation(step.replace(NUMBER, ''))
    const statement = parseStatement(text)
    return { rule, formula: statement && fitStatement(statement, vocabulary) }
  })
  const falsehood: Formula = { kind: 'false' }
  const queries = [...read.map(step => step.formula), falsehood]
  const statuses = await solver.checkSteps(queries.map(formula => ({ premises: premisesFol, formula })))
  if (statuses[statuses.length - 1] === 'inconsistent-premises') {
    return {
      steps: steps.map(() => ({ credit: null, status: 'inconsistent-premises' })),
      reason: 'the premises contradict each other',
    }
  }
  return {
    steps: read.map(({ rule }, index) => {
      const status = statuses[index]
      if (status === 'unparsed' && rule !== null) return { credit: 0.3, status: 'unverifiable' }
      return { credit: STEP_CREDIT[status], status }
    }),
  }
}

/**
 * One row of a file for `gradus verify logic`: a FOLIO row (`premises-FOL`, `conclusion-FOL`) or `{premises, steps}`.
 * @throws DataError for a row that is neither.
 */
export const verifyLogicRow = async (
  row: unknown,
  solver: LogicSolver,
): Promise<LabelVerdict | StepsVerdict> => {
  if (typeof row !== 'object' || row === null) throw new DataError('expected an object a line')
  const fields = row as Record<string, unknown>
  if ('steps' in fields) return verifySteps(strings(fields, 'premises'), strings(fields, 'steps'), solver)
  if ('premises-FOL' in fields) {
    const conclusion = fields['conclusion-FOL']
    if (typeof conclusion !== 'string') {
      return { label: null, reason: 'conclusion-FOL: expected a formula, got none' }
    }
    return verifyLabel(strings(fields, 'premises-FOL'), conclusion, solver)
  }
  throw new DataError('expected "premises" and "steps", or "premises-FOL" and "conclusion-FOL"', {
    hint: 'see docs on gradus verify logic',
  })
}
