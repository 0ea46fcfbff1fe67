/** @file Whether premises entail, contradict or leave open a formula: Z3 behind a memory, many problems a script. */

import { parseWith } from '../../util/schema.ts'
import { type Formula, formulaKey } from './formula.ts'
import { type GroundAnswer, GroundProcess } from './ground-process.ts'
import type { LogicLabel } from './problem.ts'
import { type SolverSettings, solverSchema } from './settings.ts'
import { type CheckResult, readResults, type ScriptOptions, type SmtProblem, scriptFor } from './smt.ts'
import { SolverProcess, SolverTimeout } from './solver-process.ts'
import { type AskedPremises, type StepStatus, VerdictMemory } from './verdict-memory.ts'

export type { StepStatus }

/** Graded credit of a status; null where nothing can be said and the item is to be left out. */
export const STEP_CREDIT: Readonly<Record<StepStatus, number | null>> = {
  entailed: 1,
  consistent: 0.5,
  unknown: 0.3,
  failed: null,
  contradicted: 0,
  unparsed: 0,
  'inconsistent-premises': null,
}

/** Settings left out have the defaults of `solverSchema`. */
export interface SolverOptions extends Partial<SolverSettings>, Pick<Partial<ScriptOptions>, 'encoding'> {
  /** `auto` takes Z3 and falls back to the ground solver where Z3 cannot start. */
  backend?: 'auto' | 'z3' | 'ground'
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

export interface SolverDecision {
  /** Null when the question cannot be decided; `reason` says why. */
  label: LogicLabel | null
  reason: string | null
}

type Batch = Map<number, AskedPremises>

const statusOf = (negated: CheckResult, stated: CheckResult): StepStatus => {
  if (negated === 'unsat') return 'entailed'
  if (stated === 'unsat') return 'contradicted'
  return negated === 'sat' && stated === 'sat' ? 'consistent' : 'unknown'
}

/** What is left where Z3 had no time and the built-in solver was asked: it may not know, or have failed. */
const settled = (answer: GroundAnswer | undefined): StepStatus =>
  answer === 'failed' ? 'unknown' : (answer ?? 'unknown')

/** Asked about every set of premises, so that its consistency is known: falsehood follows from inconsistent premises only. */
const FALSEHOOD: Formula = { kind: 'false' }
const CONSISTENCY = formulaKey(FALSEHOOD)
const PROBLEM_CHECKS = 4

/** Extra time for writing models and starting up, on top of the checks' own limits. */
const GRACE_MS = 10_000

/**
 * Answers questions about premises. Calls may overlap: they are served one after the other, and a verdict found for one is
 * remembered for the next. One solver serves a whole run; `close` it at the end.
 * @example
 * const solver = await LogicSolver.start({ backend: 'ground' })
 * const premises = ['Every cat is an animal.', 'Rex is a cat.'].map(parseSentence)
 * const queries = ['Rex is an animal.', 'Rex is not an animal.'].map(text => ({ premises, formula: parseSentence(text) }))
 * await solver.checkSteps(queries) // [ 'entailed', 'contradicted' ]
 * await solver.close()
 */
export class LogicSolver {
  readonly #process: SolverProcess | null
  readonly #ground: GroundProcess
  readonly #options: ScriptOptions & { labelTimeoutMs: number; checksPerScript: number }
  readonly #memory: VerdictMemory
  #tail: Promise<unknown> = Promise.resolve()
  readonly #stats = { steps: 0, remembered: 0, restated: 0, solved: 0, timeouts: 0, errors: 0, scripts: 0 }

  private constructor(
    process: SolverProcess | null,
    { memory, groundWork, ...settings }: SolverSettings,
    { encoding = 'auto', checksPerScript = 2000 }: SolverOptions,
  ) {
    this.#process = process
    this.#ground = new GroundProcess(groundWork)
    this.#options = { ...settings, encoding, checksPerScript }
    this.#memory = new VerdictMemory(memory)
  }

  /** @throws ConfigError for a setting out of range; SolverError when Z3 cannot be started and the backend is `z3`. */
  static async start({ backend = 'auto', ...options }: SolverOptions = {}): Promise<LogicSolver> {
    const { encoding, checksPerScript, ...given } = options
    const settings = parseWith(solverSchema, given, 'solver')
    if (backend === 'ground') return new LogicSolver(null, settings, options)
    try {
      return new LogicSolver(await SolverProcess.start(), settings, options)
    } catch (error) {
      if (backend === 'z3') throw error
      return new LogicSolver(null, settings, options)
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

  /** The same with the time that a label may take, `labelTimeoutMs`: for the conclusions of many problems at once. */
  checkLabels(items: readonly StepQuery[]): Promise<StepStatus[]> {
    return this.checkSteps(items, this.#options.labelTimeoutMs)
  }

  /** Whether the premises make the conclusion True, False or Unknown, within `labelTimeoutMs` unless given. */
  async decide(
    premises: readonly Formula[],
    conclusion: Formula,
    timeoutMs = this.#options.labelTimeoutMs,
  ): Promise<SolverDecision> {
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
      restarts: (this.#process?.restarts ?? 0) + this.#ground.restarts,
      solverMs: this.#process?.solverMs ?? 0,
    }
  }

  /** Ends the solver's threads, so that the process can exit. */
  async close(): Promise<void> {
    await Promise.all([this.#process?.close(), this.#ground.close()])
  }

  async #check(items: readonly StepQuery[], timeoutMs: number): Promise<StepStatus[]> {
    const batch: Batch = new Map()
    const patient = timeoutMs > this.#options.timeoutMs
    for (const item of items) this.#prepare(item, batch, patient)
    await this.#solve(
      [...batch.values()].filter(({ open }) => open),
      timeoutMs,
    )
    return items.map(item => this.#verdict(item, batch))
  }

  #asked(premises: readonly Formula[], batch: Batch): AskedPremises {
    const premisesId = this.#memory.premisesId(premises)
    let asked = batch.get(premisesId)
    if (!asked) {
      asked = { premises, premisesId, verdicts: new Map(), queries: new Map(), open: false }
      batch.set(premisesId, asked)
    }
    return asked
  }

  #prepare({ premises, formula }: StepQuery, batch: Batch, patient: boolean): void {
    this.#stats.steps++
    if (formula === null) return
    const asked = this.#asked(premises, batch)
    const key = formulaKey(formula)
    const restated = this.#memory.premiseKeys(premises).has(key)
    if (restated) this.#stats.restated++
    const wanted: [string, Formula][] = restated ? [] : [[key, formula]]
    wanted.push([CONSISTENCY, FALSEHOOD])
    const open = wanted.filter(([name]) => {
      const known = this.#memory.known(asked, name)
      return known === undefined || (patient && known === 'unknown')
    })
    if (open.length === 0) {
      this.#stats.remembered++
      return
    }
    asked.open = true
    for (const [name, query] of open) if (name !== CONSISTENCY) asked.queries.set(name, query)
  }

  #verdict({ premises, formula }: StepQuery, batch: Batch): StepStatus {
    if (formula === null) return 'unparsed'
    const { verdicts } = this.#asked(premises, batch)
    const consistency = verdicts.get(CONSISTENCY)
    // What was asked and has no verdict, the solver failed on; then nothing can be said of the premises' own words either.
    if (consistency === undefined) return 'failed'
    if (consistency === 'inconsistent-premises') return consistency
    const key = formulaKey(formula)
    if (this.#memory.premiseKeys(premises).has(key)) return 'entailed'
    return verdicts.get(key) ?? 'failed'
  }

  async #solve(asked: readonly AskedPremises[], timeoutMs: number): Promise<void> {
    let batch: AskedPremises[] = []
    let checks = 0
    for (const entry of asked) {
      batch.push(entry)
      checks += PROBLEM_CHECKS + 2 * entry.queries.size
      if (checks < this.#options.checksPerScript) continue
      await this.#solveBatch(batch, timeoutMs)
      batch = []
      checks = 0
    }
    if (batch.length > 0) await this.#solveBatch(batch, timeoutMs)
  }

  async #solveBatch(batch: readonly AskedPremises[], timeoutMs: number): Promise<void> {
    if (!this.#process) {
      await Promise.all(batch.map(entry => this.#solveGround(entry)))
      return
    }
    const results = await this.#run(batch, timeoutMs)
    for (const [index, entry] of batch.entries()) {
      // A problem that failed in company gets a second chance by itself, so that it cannot spoil its neighbours.
      const [result] = results[index] === null ? await this.#run([entry], timeoutMs, true) : [results[index]]
      await this.#remember(entry, result)
    }
  }

  /** Results by problem: null where the solver failed. A problem that hangs it when `alone` has unknown results. */
  async #run(
    batch: readonly AskedPremises[],
    timeoutMs: number,
    alone = batch.length === 1,
  ): Promise<(CheckResult[] | null)[]> {
    const problems: SmtProblem[] = batch.map(({ premises, queries }) => ({
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
  async #remember(asked: AskedPremises, results: CheckResult[] | null): Promise<void> {
    const { premises, queries } = asked
    this.#stats.solved += queries.size
    if (results === null) {
      // Not remembered: a solver that failed says nothing about the formula.
      this.#stats.errors++
      return
    }
    if (results.includes('unknown')) this.#stats.timeouts++
    const byZ3 = [...queries.keys()].map((_, index) =>
      statusOf(results[1 + 2 * index], results[2 + 2 * index]),
    )
    const open = [...queries.values()].filter((_, index) => byZ3[index] === 'unknown')
    const left = results[0] === 'unknown' ? [FALSEHOOD, ...open] : open
    // Z3's time is over all the same, whatever becomes of the second try.
    const decided = await this.#ground.statuses(premises, left).catch(() => left.map(() => 'failed' as const))
    const premisesAgain = results[0] === 'unknown' ? decided.shift() : null
    const inconsistent = results[0] === 'unsat' || premisesAgain === 'inconsistent-premises'
    this.#memory.keep(asked, CONSISTENCY, inconsistent ? 'inconsistent-premises' : 'consistent')
    for (const [index, key] of [...queries.keys()].entries()) {
      const status = byZ3[index]
      this.#memory.keep(asked, key, status === 'unknown' ? settled(decided.shift()) : status)
    }
  }

  async #solveGround(asked: AskedPremises): Promise<void> {
    const { premises, queries } = asked
    this.#stats.solved += queries.size
    const asksAll = [FALSEHOOD, ...queries.values()]
    const [premisesAre, ...statuses] = await this.#ground
      .statuses(premises, asksAll)
      .catch(() => asksAll.map(() => 'failed' as const))
    if (premisesAre === 'failed' || statuses.includes('failed')) this.#stats.errors++
    // What failed is not kept: it says nothing, and is asked again the next time.
    if (premisesAre === 'failed') return
    const inconsistent = premisesAre === 'inconsistent-premises'
    this.#memory.keep(asked, CONSISTENCY, inconsistent ? 'inconsistent-premises' : 'consistent')
    for (const [index, key] of [...queries.keys()].entries()) {
      const status = statuses[index]
      if (status !== 'failed') this.#memory.keep(asked, key, status ?? 'unknown')
    }
  }
}
