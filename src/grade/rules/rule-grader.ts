/** @file The grader of criteria that name a rule. */

import type { Criterion, Rubric, Verdict, Verifier } from '../../rubric/criterion.ts'
import { DataError, NumericError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { WorkPoolStats } from '../../util/work-pool.ts'
import type { GradeItem, GradeOptions, Grader } from '../grader.ts'
import { criterionPlace, RULES } from './registry.ts'
import { PLACE, type RuleOutcome, type RuleSource } from './rule.ts'
import { RuleRunner, UnusableRules } from './rule-runner.ts'
import { lengthFault, type RuleSettings, ruleSettingsSchema } from './settings.ts'

/**
 * Checks criteria by their rules, without a model, in worker threads: neither response nor rubric can hold up the process or
 * end it. What a rule cannot say within the budget is null, with the reason. Verdicts carry `source: 'rule'`.
 */
export class RuleGrader implements Grader {
  readonly #settings: RuleSettings
  readonly #runner: RuleRunner

  /** @throws ConfigError for a setting out of range; those left out have the defaults of `ruleSettingsSchema`. */
  constructor(settings: Partial<RuleSettings> = {}) {
    this.#settings = parseWith(ruleSettingsSchema, settings, 'rules')
    this.#runner = new RuleRunner(this.#settings)
  }

  /**
   * @throws DataError for a criterion without a rule, or with one that cannot be used; WorkUnstarted when no worker can be
   * started.
   */
  async grade(
    item: GradeItem,
    criteria: readonly Criterion[],
    options: GradeOptions = {},
  ): Promise<Verdict[]> {
    options.signal?.throwIfAborted()
    const verifiers = criteria.map((criterion, index) => ruleOf(criterion, index))
    const fault = lengthFault(item.response, this.#settings.maxResponseChars)
    if (fault !== null) return criteria.map(({ id }) => asVerdict(id, { met: null, explanation: fault }))
    const outcomes = await named(criteria, 'rubric', () =>
      this.#runner.run(verifiers.map(textOf), sentItem(item, verifiers), options),
    )
    return criteria.map(({ id }, index) => asVerdict(id, outcomes[index]))
  }

  /** Starts a worker, so that the first response need not wait for it. @throws WorkUnstarted */
  async start(): Promise<void> {
    await this.#runner.check([])
  }

  /** What the workers did, for all graders with the same `threads` and `heapMb` together. */
  stats(): WorkPoolStats {
    return this.#runner.stats()
  }

  /**
   * Whether every rule of a rubric can be used, looked at in a worker: for rubrics that come from anybody.
   * @throws DataError as `validateRules` does; WorkError where it takes too long to find out; AllowanceSpent.
   */
  async check({ criteria }: Rubric, source = 'rubric', options: GradeOptions = {}): Promise<void> {
    const ruled = criteria.flatMap((criterion, index) => (criterion.verifier?.kind === 'rule' ? [index] : []))
    if (ruled.length === 0) return
    const verifiers = ruled.map(index => criteria[index].verifier!)
    await named(criteria, source, () => this.#runner.check(verifiers.map(textOf), options), ruled)
  }
}

const ruleOf = (criterion: Criterion, index: number): Verifier => {
  const { verifier } = criterion
  if (verifier?.kind === 'rule') return verifier
  throw new DataError(
    `${criterionPlace('rubric', index, criterion)}: expected a rule, got ${verifier?.kind ?? 'none'}; give it to another grader`,
  )
}

const texts = new WeakMap<Verifier, string>()

/** A rule as its worker reads it. Remembered with its object: never change one in place. */
const textOf = (verifier: Verifier): string => {
  let text = texts.get(verifier)
  if (text === undefined) {
    text = JSON.stringify({ fn: verifier.fn, params: verifier.params })
    texts.set(verifier, text)
  }
  return text
}

/** What the rules look at, and nothing else: conversations and metadata may be large. */
const sentItem = (item: GradeItem, verifiers: readonly Verifier[]): GradeItem => {
  const looksAt = (part: RuleSource) => verifiers.some(({ fn }) => RULES.get(fn)?.uses.includes(part))
  return {
    response: item.response,
    prompt: looksAt('prompt') ? item.prompt : [],
    ...(item.reference !== undefined && { reference: item.reference }),
    ...(item.metadata !== undefined && looksAt('metadata') && { metadata: item.metadata }),
    ...(item.startLogprob !== undefined && looksAt('startLogprob') && { startLogprob: item.startLogprob }),
  }
}

/** Puts the places of criteria into what the worker says of their rules. */
const named = async <T>(
  criteria: readonly Criterion[],
  source: string,
  work: () => Promise<T>,
  places: readonly number[] = criteria.map((_, index) => index),
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UnusableRules)) throw error
    const lines = error.faults.map(({ index, why }) =>
      why.replaceAll(PLACE, criterionPlace(source, places[index], criteria[places[index]])),
    )
    throw new DataError(lines.join('\n'))
  }
}

const asVerdict = (criterionId: string, { met, credit, explanation }: RuleOutcome): Verdict => {
  if (credit !== undefined && !(credit >= 0 && credit <= 1))
    throw new NumericError(
      `criterion ${criterionId}: expected a credit in [0, 1], got ${credit}; check its rule`,
    )
  return {
    criterionId,
    met,
    ...(credit !== undefined && { credit }),
    ...(explanation !== undefined && { explanation }),
    source: 'rule',
  }
}
