/** @file Whether premises entail, contradict or leave open a formula: Z3 behind a memory, many problems a script. */

import { type Formula, formulaKey } from './formula.ts'
import { groundStatus } from './ground.ts'
import type { LogicLabel } from './problem.ts'
import { type CheckResult, type Problem, readResults, type ScriptOptions, scriptFor } from './smt.ts'
import { SolverProcess, SolverTimeout } from './solver-process.ts'

/**
 * - entailed: premises and not(formula) have no model.
 * - contradicted: premises and formula have no model.
 * - consistent: both have one.
 * - unknown: Z3 ran out of time, and the question is outside the ground solver's fragment.
 * - failed: the solver crashed, or could not be started again; nothing is known of the formula.
 * - unparsed: there is no formula.
 * - inconsistent-premises: the premises alone have no model; the item is a data error and must be left out.
 */
export type StepStatus =
  | 'entailed'
  | 'contradicted'
  | 'consistent'
  | 'unknown'
  | 'failed'
  | 'unparsed'
  | 'inconsistent-premises'

/** Graded credit of a status (spec 6.3); null where nothing can be said and the item is to be left out. */
export const STEP_CREDIT: Readonly<Record<StepStatus, number | null>> = {
  entailed: 1,
  consistent: 0.5,
  unknown: 0.3,
  failed: null,
  contradicted: 0,
  unparsed: 0,
  'inconsistent-premises': null,
}

export interface SolverOptions extends Partial<ScriptOptions> {
  /** `auto` takes Z3 and falls back to the ground solver where Z3 cannot start. */
  backend?: 'auto' | 'z3' | 'ground'
  /** Verdicts remembered; the oldest go first. */
  memory?: number
  /** Checks put into one script at most. */
  checksPerScript?: number
}

export interface SolverStats {
  backend: 'z3' | 'ground'
  /** Formulas asked about. */
  steps: number
  /** Answered from memory. */
  remembered: number
  /** Premises asked about, which need no check of their own. */
  restated: number
  /** Formulas that went to the solver. */
  solved: number
  timeouts: number
  errors: number
  restarts: number
  scripts: number
  /** Milliseconds inside the solver. */
  solverMs: number
}

export interface StepQuery {
  premises: readonly Formula[]
  /** Null for a step that did not parse. */
  formula: Formula | null
}

export interface Decision {
  /** Null when the question cannot be decided; `reason` says why. */
  label: LogicLabel | null
  reason: string | null
}

interface Pending {
  premises: readonly Formula[]
  premisesId: number
  queries: Map<string, Formula>
}

/** A map that forgets its oldest entries. */
class Memory<V> {
  readonly #values = new Map<string, V>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): V | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: V): void {
    if (this.#values.size >= this.#limit) this.#values.delete(this.#values.keys().next().value!)
    this.#values.set(key, value)
  }
}

const statusOf = (negated: CheckResult, stated: CheckResult): StepStatus => {
  if (negated === 'unsat') return 'entailed'
  if (stated === 'unsat') return 'contradicted'
  return negated === 'sat' && stated === 'sat' ? 'consistent' : 'unknown'
}

/** Asked about every set of premises, so that its consistency is known: falsehood follows from inconsistent premises only. */
const FALSEHOOD: Formula = { kind: 'false' }
const CONSISTENCY = formulaKey(FALSEHOOD)
const PROBLEM_CHECKS = 4

/** Extra time for writing models and starting up, on top of the checks' own limits. */
const GRACE_MS = 10_000

/**
 * Answers questions about premises. Calls may overlap: they are served one after the other, and a verdict found for one is
 * remembered for the next. One solver serves a whole run; `close` it at the end.
 */
export class LogicSolver {
  readonly #process: SolverProcess | null
  readonly #options: ScriptOptions & { checksPerScript: number }
  readonly #verdicts: Memory<StepStatus>
  readonly #premiseIds: Memory<number>
  readonly #idOfArray = new WeakMap<readonly Formula[], number>()
  readonly #keysOfArray = new WeakMap<readonly Formula[], ReadonlySet<string>>()
  #nextPremisesId = 0
  #tail: Promise<unknown> = Promise.resolve()
  readonly #stats = { steps: 0, remembered: 0, restated: 0, solved: 0, timeouts: 0, errors: 0, scripts: 0 }

  private constructor(process: SolverProcess | null, options: SolverOptions) {
    this.#process = process
    this.#options = {
      timeoutMs: options.timeoutMs ?? 200,
      uniqueNames: options.uniqueNames ?? false,
      encoding: options.encoding ?? 'auto',
      checksPerScript: options.checksPerScript ?? 2000,
    }
    this.#verdicts = new Memory(options.memory ?? 200_000)
    this.#premiseIds = new Memory(Math.ceil((options.memory ?? 200_000) / 10))
  }

  /** @throws SolverError when Z3 cannot be started and the backend is `z3`. */
  static async start(options: SolverOptions = {}): Promise<LogicSolver> {
    if (options.backend === 'ground') return new LogicSolver(null, options)
    try {
      return new LogicSolver(await SolverProcess.start(), options)
    } catch (error) {
      if (options.backend === 'z3') throw error
      return new LogicSolver(null, options)
    }
  }

  /**
   * Statuses in the order of the questions. Questions about equal premises are put together. A `timeoutMs` beyond the
   * solver's own tries again what was left unknown.
   */
  checkSteps(items: readonly StepQuery[], timeoutMs = this.#options.timeoutMs): Promise<StepStatus[]> {
    const result = this.#tail.then(() => this.#check(items, timeoutMs))
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Whether the premises make the conclusion True, False or Unknown (spec 6.1). */
  async decide(
    premises: readonly Formula[],
    conclusion: Formula,
    timeoutMs = this.#options.timeoutMs,
  ): Promise<Decision> {
    const [status] = await this.checkSteps([{ premises, formula: conclusion }], timeoutMs)
    switch (status) {
      case 'entailed':
        return { label: 'True', reason: null }
      case 'contradicted':
        return { label: 'False', reason: null }
      case 'consistent':
        return { label: 'Unknown', reason: null }
      case 'inconsistent-premises':
        return { label: null, reason: 'the premises contradict each other' }
      case 'failed':
        return { label: null, reason: 'the solver failed' }
      default:
        return { label: null, reason: `undecided within ${timeoutMs} ms` }
    }
  }

  stats(): SolverStats {
    return {
      backend: this.#process ? 'z3' : 'ground',
      ...this.#stats,
      restarts: this.#process?.restarts ?? 0,
      solverMs: this.#process?.solverMs ?? 0,
    }
  }

  /** Ends the solver's threads, so that the process can exit. */
  async close(): Promise<void> {
    await this.#process?.close()
  }

  async #check(items: readonly StepQuery[], timeoutMs: number): Promise<StepStatus[]> {
    const pending = new Map<number, Pending>()
    const patient = timeoutMs > this.#options.timeoutMs
    for (const item of items) this.#prepare(item, pending, patient)
    await this.#solve([...pending.values()], timeoutMs)
    return items.map(item => this.#verdict(item))
  }

  #prepare({ premises, formula }: StepQuery, pending: Map<number, Pending>, patient: boolean): void {
    this.#stats.steps++
    if (formula === null) return
    const id = this.#premisesId(premises)
    const key = formulaKey(formula)
    const restated = this.#premiseKeys(premises).has(key)
    if (restated) this.#stats.restated++
    const wanted: [string, Formula][] = restated ? [] : [[key, formula]]
    wanted.push([CONSISTENCY, FALSEHOOD])
    const open = wanted.filter(([name]) => {
      const known = this.#verdicts.get(`${id}|${name}`)
      return known === undefined || (patient && known === 'unknown')
    })
    if (open.length === 0) {
      this.#stats.remembered++
      return
    }
    const entry = pending.get(id) ?? { premises, premisesId: id, queries: new Map() }
    pending.set(id, entry)
    for (const [name, query] of open) if (name !== CONSISTENCY) entry.queries.set(name, query)
  }

  #verdict({ premises, formula }: StepQuery): StepStatus {
    if (formula === null) return 'unparsed'
    const id = this.#premisesId(premises)
    const consistency = this.#verdicts.get(`${id}|${CONSISTENCY}`)
    if (consistency === 'inconsistent-premises') return consistency
    const key = formulaKey(formula)
    if (this.#premiseKeys(premises).has(key)) return 'entailed'
    // What was asked and is not remembered, the solver failed on.
    return this.#verdicts.get(`${id}|${key}`) ?? 'failed'
  }

  #premisesId(premises: readonly Formula[]): number {
    let id = this.#idOfArray.get(premises)
    if (id === undefined) {
      const key = premises.map(formulaKey).join('\n')
      id = this.#premiseIds.get(key)
      if (id === undefined) {
        id = this.#nextPremisesId++
        this.#premiseIds.set(key, id)
      }
      this.#idOfArray.set(premises, id)
    }
    return id
  }

  #premiseKeys(premises: readonly Formula[]): ReadonlySet<string> {
    let keys = this.#keysOfArray.get(premises)
    if (!keys) {
      keys = new Set(premises.map(formulaKey))
      this.#keysOfArray.set(premises, keys)
    }
    return keys
  }

  async #solve(pending: readonly Pending[], timeoutMs: number): Promise<void> {
    let batch: Pending[] = []
    let checks = 0
    for (const entry of pending) {
      batch.push(entry)
      checks += PROBLEM_CHECKS + 2 * entry.queries.size
      if (checks < this.#options.checksPerScript) continue
      await this.#solveBatch(batch, timeoutMs)
      batch = []
      checks = 0
    }
    if (batch.length > 0) await this.#solveBatch(batch, timeoutMs)
  }

  async #solveBatch(batch: readonly Pending[], timeoutMs: number): Promise<void> {
    if (!this.#process) {
      for (const entry of batch) this.#solveGround(entry)
      return
    }
    const results = await this.#run(batch, timeoutMs)
    for (const [index, entry] of batch.entries()) {
      // A problem that failed in company gets a second chance by itself, so that it cannot spoil its neighbours.
      const [result] = results[index] === null ? await this.#run([entry], timeoutMs, true) : [results[index]]
      this.#remember(entry, result)
    }
  }

  /** Results by problem: null where the solver failed. A problem that hangs it when `alone` has unknown results. */
  async #run(
    batch: readonly Pending[],
    timeoutMs: number,
    alone = batch.length === 1,
  ): Promise<(CheckResult[] | null)[]> {
    const problems: Problem[] = batch.map(({ premises, queries }) => ({
      premises,
      queries: [...queries.values()],
    }))
    const checks = problems.reduce((sum, problem) => sum + 1 + 2 * problem.queries.length, 0)
    this.#stats.scripts++
    try {
      const script = scriptFor(problems, { ...this.#options, timeoutMs })
      return readResults(await this.#process!.run(script, GRACE_MS + checks * timeoutMs), problems)
    } catch (error) {
      const hung = alone && error instanceof SolverTimeout
      return problems.map(({ queries }) =>
        hung ? new Array<CheckResult>(1 + 2 * queries.length).fill('unknown') : null,
      )
    }
  }

  /** What Z3 left open for lack of time, the ground solver decides where it can: a busy machine must not change a verdict. */
  #remember({ premises, premisesId, queries }: Pending, results: CheckResult[] | null): void {
    this.#stats.solved += queries.size
    if (results === null) {
      // Not remembered: a solver that failed says nothing about the formula.
      this.#stats.errors++
      return
    }
    if (results.includes('unknown')) this.#stats.timeouts++
    const decided = (formula: Formula) => groundStatus(premises, formula) ?? 'unknown'
    const inconsistent =
      results[0] === 'unsat' || (results[0] === 'unknown' && decided(FALSEHOOD) === 'inconsistent-premises')
    this.#verdicts.set(`${premisesId}|${CONSISTENCY}`, inconsistent ? 'inconsistent-premises' : 'consistent')
    let at = 1
    for (const [key, formula] of queries) {
      const status = statusOf(results[at], results[at + 1])
      this.#verdicts.set(`${premisesId}|${key}`, status === 'unknown' ? decided(formula) : status)
      at += 2
    }
  }

  #solveGround({ premises, premisesId, queries }: Pending): void {
    this.#stats.solved += queries.size
    const consistency = groundStatus(premises, FALSEHOOD)
    const inconsistent = consistency === 'inconsistent-premises'
    this.#verdicts.set(`${premisesId}|${CONSISTENCY}`, inconsistent ? 'inconsistent-premises' : 'consistent')
    for (const [key, formula] of queries) {
      this.#verdicts.set(`${premisesId}|${key}`, groundStatus(premises, formula) ?? 'unknown')
    }
  }
}
