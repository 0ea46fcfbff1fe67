/** @file The grader of criteria that name a formal check: answers and reasoning steps proved or refuted by a solver. */

import { z } from 'zod'
import type { Criterion, Verdict, Verifier } from '../rubric/criterion.ts'
import { countEach } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { closest, parseWith } from '../util/schema.ts'
import type { GradeItem, GradeOptions, Grader } from './grader.ts'
import { gradeLogicBatch } from './logic/criteria.ts'
import { logicSentences, parseSentence } from './logic/english.ts'
import type { Formula } from './logic/formula.ts'
import type { LogicGrade, LogicGradeOptions } from './logic/grade.ts'
import { looksSymbolic, parseFormula } from './logic/parse.ts'
import type { LogicLabel, LogicProblem } from './logic/problem.ts'
import { LogicSolver, type SolverOptions } from './logic/solver.ts'
import { lengthFault } from './rules/settings.ts'

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

type FormalParams = z.output<typeof paramsSchema>

/** @throws DataError naming what cannot be used, also premises that are neither formulas nor controlled English. */
const parseFormalParams = (params: unknown, source: string): FormalParams => {
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
interface Statements {
  premises: string[]
  conclusion: string | null
}

const readPremises = premisesSchema.optional()
const readConclusion = statement.optional()

/** The statements of an item, or why there are none. */
const statementsOf = (params: FormalParams, item: GradeItem): Statements | string => {
  const { premisesKey, conclusionKey } = params
  const premises = readPremises.safeParse(params.premises ?? item.metadata?.[premisesKey])
  const conclusion = readConclusion.safeParse(params.conclusion ?? item.metadata?.[conclusionKey])
  const texts = premises.success ? listOf(premises.data) : null
  if (texts === null)
    return `no premises: give them as the parameter premises or in the item's metadata.${premisesKey}`
  return { premises: texts, conclusion: conclusion.success ? (conclusion.data ?? null) : null }
}

interface FormalProblem {
  logic: LogicProblem
  /** What the premises say of the conclusion; null without a conclusion or a decision. */
  label: LogicLabel | null
  /** Why there is no label. */
  reason: string
}

const FALSEHOOD: Formula = { kind: 'false' }

/** Reads the statements and asks the solver for the label; or says why they cannot be read. */
const decideProblem = async (
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

interface FormalCheck {
  about: string
  /** The premises must decide the conclusion, or the check has nothing to compare with. */
  needsLabel: boolean
  /** Asks the solver more than the response's own steps. */
  truth: boolean
  /** Credit in [0, 1]; null where nothing can be said. */
  credit(grade: LogicGrade): number | null
}

const check = (
  about: string,
  credit: FormalCheck['credit'],
  { needsLabel = true, truth = false } = {},
): FormalCheck => ({ about, credit, needsLabel, truth })

/** What a criterion with `verifier: {kind: formal}` may ask for (Rubric as Reward section 2.2). Responses follow the step grammar. */
export const FORMAL_CHECKS: Readonly<Record<string, FormalCheck>> = {
  entailed_answer: check('The answer is what the premises entail: True, False or Unknown.', grade =>
    Number(grade.answerCorrect),
  ),
  step_validity: check(
    'Mean over the steps: 1 for one that the premises entail, .5 consistent, .3 unverifiable, 0 otherwise.',
    grade => grade.criteria.C2,
    { needsLabel: false },
  ),
  valid_proof: check('Every step is entailed, and the steps settle the question.', grade =>
    grade.validProof === null ? null : Number(grade.validProof),
  ),
  premise_use: check(
    'Share of the premises of a minimal proof that the steps use.',
    grade => grade.truth?.C4 ?? null,
    { truth: true },
  ),
  completeness: check(
    'The supported steps entail the answer by themselves; else the share of a proof that they reach.',
    grade => grade.truth?.C5 ?? null,
    { truth: true },
  ),
}

interface Compiled {
  check: FormalCheck
  params: FormalParams
}

const compiled = new WeakMap<Verifier, Compiled>()

/** @throws DataError for a check that does not exist or parameters that it does not take. */
const compileFormal = (verifier: Verifier, place: string): Compiled => {
  const known = compiled.get(verifier)
  if (known) return known
  const found = Object.hasOwn(FORMAL_CHECKS, verifier.fn) ? FORMAL_CHECKS[verifier.fn] : undefined
  if (!found) {
    const names = Object.keys(FORMAL_CHECKS)
    const near = closest(verifier.fn, names)
    throw new DataError(
      `${place}: fn: expected one of ${names.join(', ')}, got ${JSON.stringify(verifier.fn)}; ${near ? `did you mean ${near}?` : 'correct the name'}`,
    )
  }
  const result = { check: found, params: parseFormalParams(verifier.params, `${place}: params`) }
  compiled.set(verifier, result)
  return result
}

/**
 * Checks the formal check of a criterion, if it has one.
 * @param place names the criterion in errors
 * @throws DataError for a check that does not exist or parameters that it does not take.
 */
export const validateFormal = ({ verifier }: Criterion, place: string): void => {
  if (verifier?.kind === 'formal') compileFormal(verifier, place)
}

interface Waiting {
  problem: FormalProblem
  response: string
  options: LogicGradeOptions
  resolve(grade: LogicGrade): void
  reject(reason: unknown): void
}

/** Problems remembered; the oldest go first. */
const MAX_PROBLEMS = 5_000

export interface FormalGraderOptions {
  /** A solver to share, which the grader leaves open; or settings of one of its own, started when it is first needed. */
  solver?: LogicSolver | SolverOptions
  /** Characters of a response (UTF-16 units). A longer one is not checked: null, with the reason. Default: that of rules. */
  maxResponseChars?: number
}

/**
 * Grades by proof. Calls that overlap are put into one script for the solver, which makes a batch far cheaper than its
 * parts; so do not wait for one item before you give it the next. Verdicts carry `source: 'formal'`.
 */
export class FormalGrader implements Grader {
  readonly #solverGiven: LogicSolver | SolverOptions
  readonly #maxResponseChars: number | undefined
  #own: Promise<LogicSolver> | null = null
  readonly #problems = new Map<string, Promise<FormalProblem | string>>()
  #waiting: Waiting[] = []
  #busy = false

  constructor({ solver = {}, maxResponseChars }: FormalGraderOptions = {}) {
    this.#solverGiven = solver
    this.#maxResponseChars = maxResponseChars
  }

  /** @throws DataError for a criterion without a formal check, or with one that cannot be used. */
  async grade(
    item: GradeItem,
    criteria: readonly Criterion[],
    options: GradeOptions = {},
  ): Promise<Verdict[]> {
    options.signal?.throwIfAborted()
    const checks = criteria.map(({ id, verifier }) => {
      if (verifier?.kind === 'formal')
        return compileFormal(verifier, `criterion ${JSON.stringify(id)}: verifier`)
      throw new DataError(
        `criterion ${JSON.stringify(id)}: expected a formal check, got ${verifier?.kind ?? 'none'}; give it to another grader`,
      )
    })
    const verdicts = await Promise.all(
      checks.map((each, index) => this.#verdict(criteria[index].id, each, item)),
    )
    options.signal?.throwIfAborted()
    return verdicts
  }

  async close(): Promise<void> {
    await (await this.#own)?.close()
  }

  async #verdict(criterionId: string, { check, params }: Compiled, item: GradeItem): Promise<Verdict> {
    const noVerdict = (explanation: string): Verdict => ({
      criterionId,
      met: null,
      explanation,
      source: 'formal',
    })
    const tooLong = lengthFault(item.response, this.#maxResponseChars)
    if (tooLong !== null) return noVerdict(tooLong)
    const statements = statementsOf(params, item)
    if (typeof statements === 'string') return noVerdict(statements)
    const problem = await this.#problem(statements)
    if (typeof problem === 'string') return noVerdict(problem)
    if (check.needsLabel && problem.label === null) return noVerdict(problem.reason)
    const grade = await this.#grade(problem, item.response, {
      noveltyDiscount: params.noveltyDiscount,
      truth: check.truth,
      support: false,
    })
    const credit = grade.excluded === null ? check.credit(grade) : null
    if (credit === null) return noVerdict(grade.excluded ?? 'undefined for this problem')
    return { criterionId, met: credit === 1, credit, explanation: stepsInWords(grade), source: 'formal' }
  }

  #solver(): Promise<LogicSolver> {
    if (this.#solverGiven instanceof LogicSolver) return Promise.resolve(this.#solverGiven)
    this.#own ??= LogicSolver.start(this.#solverGiven)
    return this.#own
  }

  /** Equal statements are one problem: what the solver found out about it serves all responses. */
  #problem(statements: Statements): Promise<FormalProblem | string> {
    const key = JSON.stringify(statements)
    const known = this.#problems.get(key)
    if (known) return known
    const problem = this.#solver().then(solver => decideProblem(statements, solver))
    if (this.#problems.size >= MAX_PROBLEMS)
      this.#problems.delete(this.#problems.keys().next().value as string)
    this.#problems.set(key, problem)
    // What the solver failed to decide may be decided the next time.
    void problem.then(
      result => typeof result !== 'string' && result.label === null && this.#problems.delete(key),
      () => this.#problems.delete(key),
    )
    return problem
  }

  #grade(problem: FormalProblem, response: string, options: LogicGradeOptions): Promise<LogicGrade> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ problem, response, options, resolve, reject })
      if (!this.#busy) void this.#serve()
    })
  }

  /** Everything that came in while the last batch was being solved is the next one. */
  async #serve(): Promise<void> {
    this.#busy = true
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      for (const alike of groupByOptions(batch)) await this.#solve(alike)
    }
    this.#busy = false
  }

  async #solve(batch: readonly Waiting[]): Promise<void> {
    try {
      const items = batch.map(({ problem, response }) => ({ problem: problem.logic, response }))
      const grades = await gradeLogicBatch(items, await this.#solver(), batch[0].options)
      for (const [index, { resolve }] of batch.entries()) resolve(grades[index])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

const groupByOptions = (batch: readonly Waiting[]): Waiting[][] => {
  const groups = new Map<string, Waiting[]>()
  for (const waiting of batch) {
    const key = JSON.stringify(waiting.options)
    groups.set(key, [...(groups.get(key) ?? []), waiting])
  }
  return [...groups.values()]
}

const stepsInWords = ({ answer, steps }: LogicGrade): string => {
  const counts = countEach(steps.map(({ status }) => status))
  const found = [...counts].map(([status, count]) => `${count} ${status}`)
  return `answer ${answer ?? 'none'}; steps: ${found.join(', ') || 'none'}`
}
