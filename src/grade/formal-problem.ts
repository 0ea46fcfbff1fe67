/** @file The logic problem that a formal criterion is about: from the criterion's parameters or the item's metadata. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { GradeItem } from './grader.ts'
import { logicSentences, parseSentence } from './logic/english.ts'
import type { Formula } from './logic/formula.ts'
import { looksSymbolic, parseFormula } from './logic/parse.ts'
import type { LogicLabel, LogicProblem } from './logic/problem.ts'
import type { LogicSolver } from './logic/solver.ts'

const statement = z.string().min(1)
/** Statements, or one text of sentences. */
const premisesSchema = z.union([statement, z.array(statement).min(1)])

const paramsSchema = z.strictObject({
  /** Sentences of controlled English or formulas. */
  premises: premisesSchema.optional(),
  conclusion: statement.optional(),
  /** Where the item's metadata has them, unless they are given. */
  premisesKey: z.string().min(1).default('premises'),
  conclusionKey: z.string().min(1).default('conclusion'),
  /** Leave out of the mean what restates a premise, repeats a step, or holds without premises. */
  noveltyDiscount: z.boolean().default(false),
})

export type FormalParams = z.output<typeof paramsSchema>

/** @throws DataError naming what cannot be used, also premises that are neither formulas nor controlled English. */
export const parseFormalParams = (params: unknown, source: string): FormalParams => {
  const checked = parseWith(paramsSchema, params ?? {}, source, DataError)
  for (const [name, texts] of [
    ['premises', listOf(checked.premises)],
    ['conclusion', listOf(checked.conclusion)],
  ] as const) {
    const fault = texts && parseAll(texts, name)
    if (typeof fault === 'string') throw new DataError(`${source}: ${fault}; write it as a formula`)
  }
  return checked
}

const listOf = (given: string | string[] | undefined): string[] | null => {
  if (given === undefined) return null
  return typeof given === 'string' ? logicSentences(given) : given
}

/** Formulas of statements, or what is wrong with the first that cannot be read. */
const parseAll = (texts: readonly string[], name: string): Formula[] | string => {
  const formulas: Formula[] = []
  for (const [index, text] of texts.entries()) {
    try {
      formulas.push(looksSymbolic(text) ? parseFormula(text, { repair: true }).formula : parseSentence(text))
    } catch (error) {
      return `${name}[${index}]: ${(error as Error).message}`
    }
  }
  return formulas
}

/** What is to be proved from what, as texts; or why that is not known. */
export interface Statements {
  premises: string[]
  conclusion: string | null
}

const readPremises = premisesSchema.optional()
const readConclusion = statement.optional()

/** The statements of an item, or why there are none. */
export const statementsOf = (params: FormalParams, item: GradeItem): Statements | string => {
  const { premisesKey, conclusionKey } = params
  const premises = readPremises.safeParse(params.premises ?? item.metadata?.[premisesKey])
  const conclusion = readConclusion.safeParse(params.conclusion ?? item.metadata?.[conclusionKey])
  const texts = premises.success ? listOf(premises.data) : null
  if (texts === null)
    return `no premises: give them as the parameter premises or in the item's metadata.${premisesKey}`
  return { premises: texts, conclusion: conclusion.success ? (conclusion.data ?? null) : null }
}

export interface FormalProblem {
  logic: LogicProblem
  /** What the premises say of the conclusion; null without a conclusion or a decision. */
  label: LogicLabel | null
  /** Why there is no label. */
  reason: string
}

const FALSEHOOD: Formula = { kind: 'false' }

/** Reads the statements and asks the solver for the label; or says why they cannot be read. */
export const decideProblem = async (
  { premises, conclusion }: Statements,
  solver: LogicSolver,
): Promise<FormalProblem | string> => {
  const premisesFol = parseAll(premises, 'premises')
  if (typeof premisesFol === 'string') return premisesFol
  const read = conclusion === null ? [FALSEHOOD] : parseAll([conclusion], 'conclusion')
  if (typeof read === 'string') return read
  const [conclusionFol] = read
  const decision =
    conclusion === null
      ? { label: null, reason: 'there is no conclusion' }
      : await solver.decide(premisesFol, conclusionFol)
  const logic: LogicProblem = {
    id: 'item',
    premises,
    premisesFol,
    conclusion: conclusion ?? '',
    conclusionFol,
    // Without a decision nothing that depends on the label is reported.
    label: decision.label ?? 'Unknown',
    source: 'rubric',
  }
  return { logic, label: decision.label, reason: decision.reason ?? '' }
}
