/** @file Rules at work in threads of their own: what a rule does to its thread is that rule's outcome, and no other's. */

import { GradusError, NumericError } from '../../util/errors.ts'
import {
  WorkCrashed,
  type WorkError,
  WorkFailed,
  WorkPool,
  type WorkPoolStats,
  WorkTimeout,
} from '../../util/work-pool.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { GradeItem } from '../grader.ts'
import { AllowanceSpent, type RuleAllowance } from './allowance.ts'
import type { RuleOutcome, RuleReply, RuleRequest } from './rule.ts'
import type { RuleSettings } from './settings.ts'

/** A rule may take so many times the budget of all before its thread is ended. */
const HARD_LIMIT = 1.5

/** Threads that one response may cost; after that what is left of its rules is given up. */
const MAX_KILLS = 2

/** A rule that cannot be used: which one, and why, with `PLACE` where its name belongs. */
export class UnusableRules extends GradusError {
  readonly faults: readonly { index: number; why: string }[]

  constructor(faults: readonly { index: number; why: string }[]) {
    super('rules that cannot be used')
    this.faults = faults
  }
}

/** A worker takes its time to start on a busy machine, and little memory while it waits. */
const IDLE_MS = 5 * 60_000

/** One pool for all that ask with the same settings. Idle threads end by themselves, so nobody has to close it. */
const pools = new Map<string, WorkPool<RuleRequest, RuleReply>>()

const poolFor = ({ threads, heapMb }: RuleSettings): WorkPool<RuleRequest, RuleReply> => {
  const key = `${threads}/${heapMb}`
  let pool = pools.get(key)
  if (!pool) {
    pool = new WorkPool(workerUrl(import.meta.url, './rule-worker.js'), { threads, heapMb, idleMs: IDLE_MS })
    pools.set(key, pool)
  }
  return pool
}

const noVerdict = (explanation: string): RuleOutcome => ({ met: null, explanation })

const reasonOf = (error: WorkError, budgetMs: number): string => {
  if (error instanceof WorkTimeout)
    return `stopped: this rule was not done with the response after ${HARD_LIMIT * budgetMs} ms (budgetMs)`
  return error instanceof WorkCrashed ? `the rule failed: ${error.message}` : error.message
}

const outcomesOf = (reply: RuleReply): RuleOutcome[] => {
  if ('outcomes' in reply) return reply.outcomes
  if ('notFinite' in reply) throw new NumericError(reply.notFinite)
  throw new UnusableRules(reply.unusable)
}

/** Who asks: what ends the work, and what it is charged to. */
interface Asking {
  signal?: AbortSignal
  allowance?: RuleAllowance
}

/** Runs rules on responses. */
export class RuleRunner {
  readonly #settings: RuleSettings
  readonly #pool: WorkPool<RuleRequest, RuleReply>

  constructor(settings: RuleSettings) {
    this.#settings = settings
    this.#pool = poolFor(settings)
  }

  /**
   * Outcomes in the order of the rules, each of them JSON `{fn, params}`.
   * @throws UnusableRules, NumericError, WorkUnstarted, the signal's reason, AllowanceSpent where the allowance says so
   */
  async run(rules: readonly string[], item: GradeItem, asking: Asking = {}): Promise<RuleOutcome[]> {
    const outcomes = new Array<RuleOutcome>(rules.length)
    let left = rules.map((_, index) => index)
    for (let kills = 0; left.length > 0; kills++) {
      const stopped = await this.#attempt(rules, left, item, outcomes, asking)
      if (stopped === null) break
      const { at, why } = stopped
      if (at !== null) outcomes[at] = noVerdict(why)
      left = left.filter(index => index !== at)
      if (at !== null && kills + 1 < MAX_KILLS) continue
      for (const index of left) outcomes[index] = noVerdict(at === null ? why : GIVEN_UP)
      break
    }
    return outcomes
  }

  stats(): WorkPoolStats {
    return this.#pool.stats()
  }

  /** @throws UnusableRules, WorkError when that cannot be found out, AllowanceSpent */
  async check(rules: readonly string[], asking: Asking = {}): Promise<void> {
    const reply = await this.#send(rules, null, asking)
    if ('tookMs' in reply) asking.allowance?.charge(reply.tookMs)
    outcomesOf(reply)
  }

  /** Null when all that was left has an outcome; else the rule that ended its thread, where it is known. */
  async #attempt(
    rules: readonly string[],
    left: readonly number[],
    item: GradeItem,
    outcomes: RuleOutcome[],
    asking: Asking,
  ): Promise<{ at: number | null; why: string } | null> {
    try {
      const reply = await this.#send(
        left.map(index => rules[index]),
        item,
        asking,
      )
      if ('tookMs' in reply) asking.allowance?.charge(reply.tookMs)
      for (const [at, outcome] of outcomesOf(reply).entries()) outcomes[left[at]] = outcome
      return null
    } catch (error) {
      if (error instanceof UnusableRules)
        throw new UnusableRules(error.faults.map(({ index, why }) => ({ index: left[index], why })))
      if (error instanceof AllowanceSpent && asking.allowance?.onSpent === 'nulls')
        return { at: null, why: `not checked: ${error.message}` }
      const survivable =
        error instanceof WorkTimeout || error instanceof WorkCrashed || error instanceof WorkFailed
      if (!survivable) throw error
      asking.allowance?.charge(HARD_LIMIT * this.#settings.budgetMs)
      const why = reasonOf(error, this.#settings.budgetMs)
      return { at: error.part === null ? null : left[error.part], why }
    }
  }

  #send(rules: readonly string[], item: GradeItem | null, { signal, allowance }: Asking): Promise<RuleReply> {
    const { budgetMs } = this.#settings
    const signals = [signal, allowance?.signal].filter(each => each !== undefined)
    return this.#pool.run(
      { rules: [...rules], item, budgetMs },
      {
        budgetMs: HARD_LIMIT * budgetMs,
        signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
      },
    )
  }
}

const GIVEN_UP = `not checked: ${MAX_KILLS} rules before it had to be stopped on this response`
