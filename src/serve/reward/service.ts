/** @file The reward service without HTTP: items in, results out, through a bounded queue and under a deadline. */

import { setMaxListeners } from 'node:events'
import type { GradeOptions, Grader } from '../../grade/grader.ts'
import { AllowanceSpent, RuleAllowance } from '../../grade/rules/allowance.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { DataError, JudgeError, NumericError } from '../../util/errors.ts'
import { WorkCrashed, WorkFailed, WorkRefused, WorkTimeout } from '../../util/work-pool.ts'
import type { RewardAggregation, RewardConfig, RouteConfig } from './config.ts'
import { ServiceError } from './errors.ts'
import type { RewardItem, RewardResult } from './item.ts'
import { AdmissionQueue } from './queue.ts'
import { responseReward } from './reward.ts'
import type { KnownRubric, RubricStore } from './rubric-store.ts'

/** Called with every item that was graded. */
export type ResultListener = (result: RewardResult, criteria: readonly Criterion[]) => void

/** What the service is made of. */
export interface ServiceParts {
  rubrics: RubricStore
  grader: Grader
  /** Criteria without a verifier can be graded. */
  hasJudge: boolean
  /** As in `Grading`. */
  checkVerifiers(rubric: Rubric, where: string, options: GradeOptions): Promise<void>
}

/** The reason that a deadline gives to everything it stops. */
export class DeadlineReached extends Error {}

/** The reason given when the client is gone. */
export class ClientGone extends Error {}

interface Work {
  item: RewardItem
  known: KnownRubric
  aggregation: RewardAggregation
  /** Why the response is not graded. */
  tooLong: string | null
}

/** Grades items of any route. */
export class RewardService {
  readonly config: RewardConfig
  readonly queue: AdmissionQueue
  private readonly parts: ServiceParts
  private readonly listeners: ResultListener[] = []

  constructor(config: RewardConfig, parts: ServiceParts) {
    this.config = config
    this.parts = parts
    this.queue = new AdmissionQueue(config.limits)
  }

  onResult(listener: ResultListener): void {
    this.listeners.push(listener)
  }

  /**
   * Grades the items of a request; results are in their order.
   * @param place names an item in errors
   * @param signal ends the work when the client is gone
   * @throws ServiceError: 400 for an item without a usable rubric, 429 when there is no room, 504 at the deadline and when the
   * rules have used up their time, 502 for judges that can answer nothing
   */
  async grade(
    items: readonly RewardItem[],
    route: RouteConfig,
    place: (index: number) => string,
    signal: AbortSignal,
  ): Promise<RewardResult[]> {
    const work = this.prepareAll(items, route, place)
    const { deadlineMs, rulesMs, onRulesSpent } = this.config.limits
    const allowance = new RuleAllowance(rulesMs, 'limits.rulesMs', onRulesSpent)
    const stop = new AbortController()
    // Every item of a request listens to it, and lets go when it is done.
    setMaxListeners(0, stop.signal)
    const leave = () => stop.abort(new ClientGone('the client is gone'))
    const late = () => stop.abort(new DeadlineReached(`the deadline of ${deadlineMs} ms has passed`))
    const timer = setTimeout(late, deadlineMs)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      const inline = this.inlineOf(work)
      if (inline.size > 0) await this.checkInline(inline, place, stop.signal, allowance)
      this.queue.admit(work.length)
      return await Promise.all(work.map(each => this.one(each, stop.signal, allowance)))
    } catch (error) {
      // What is still under way is of no use to anyone.
      stop.abort(error)
      throw asServiceError(error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
  }

  /** Items of a request that bring the same rubric share what was made of it. */
  private prepareAll(
    items: readonly RewardItem[],
    route: RouteConfig,
    place: (index: number) => string,
  ): Work[] {
    const inline = new Map<unknown, KnownRubric>()
    return items.map((item, index) => {
      const work = this.prepare(item, route, place(index), inline.get(item.rubric))
      if (work.known.name === undefined && item.rubric !== undefined) inline.set(item.rubric, work.known)
      return work
    })
  }

  /** Rubrics that came with the request, each with the first item that has it. */
  private inlineOf(work: readonly Work[]): Map<Rubric, number> {
    const inline = new Map<Rubric, number>()
    for (const [index, { known }] of work.entries())
      if (known.name === undefined && !inline.has(known.rubric)) inline.set(known.rubric, index)
    return inline
  }

  /** @throws DataError, WorkError for a rubric whose verifiers cannot be used */
  private async checkInline(
    inline: ReadonlyMap<Rubric, number>,
    place: (index: number) => string,
    signal: AbortSignal,
    allowance: RuleAllowance,
  ): Promise<void> {
    const checks = [...inline].map(([rubric, index]) =>
      this.parts.checkVerifiers(rubric, `${place(index)}.rubric`, { signal, allowance }),
    )
    await unlessAborted(Promise.all(checks), signal)
  }

  /** Finds the rubric of an item before anything is queued, so that a wrong request costs nothing. */
  private prepare(item: RewardItem, route: RouteConfig, where: string, same?: KnownRubric): Work {
    const known = same ?? this.parts.rubrics.choose(item, route, where, this.config.limits.criteria)
    if (!this.parts.hasJudge) this.needsNoJudge(known, where)
    const aggregation = { ...this.config.aggregation, ...route.aggregation, ...known.aggregation }
    const reference = item.reference ?? known.reference
    const tooLong = this.tooLong(item, where)
    return { item: reference === undefined ? item : { ...item, reference }, known, aggregation, tooLong }
  }

  /** Why a response is not graded, where that is no error. @throws ServiceError (422) where it is */
  private tooLong({ response }: RewardItem, where: string): string | null {
    const { responseCharacters, onLongResponse } = this.config.limits
    if (response.length <= responseCharacters) return null
    const fault = `the response has ${response.length} characters, more than ${responseCharacters} (limits.responseCharacters)`
    if (onLongResponse === 'nulls') return fault
    throw new ServiceError('response_too_long', `${where}: ${fault}`, {
      hint: 'shorten it, raise the limit, or set limits.onLongResponse: nulls',
    })
  }

  private needsNoJudge({ rubric }: KnownRubric, where: string): void {
    const judged = rubric.criteria.find(({ verifier }) => verifier === undefined)
    if (judged === undefined) return
    throw new ServiceError(
      'invalid_request',
      `${where}: criterion ${judged.id} needs a judge; the configuration has none`,
      { hint: 'add judges and judge to the configuration, or give the criterion a verifier' },
    )
  }

  private async one(work: Work, signal: AbortSignal, allowance: RuleAllowance): Promise<RewardResult> {
    const { criteria } = work.known.rubric
    const lateIsNull = this.config.limits.onDeadline === 'nulls'
    if (work.tooLong !== null) return this.finish(work, unknownVerdicts(criteria, work.tooLong))
    try {
      const { item } = work
      const options = { signal, sampleIndex: item.sampleIndex, allowance }
      const grade = () => unlessAborted(this.parts.grader.grade(item, criteria, options), signal)
      return this.finish(work, await this.queue.run(grade, signal))
    } catch (error) {
      if (!lateIsNull || !(signal.reason instanceof DeadlineReached)) throw error
      return this.finish(work, unknownVerdicts(criteria, signal.reason.message))
    }
  }

  private finish({ item, known, aggregation }: Work, verdicts: Verdict[]): RewardResult {
    const result: RewardResult = {
      ...(item.id !== undefined && { id: item.id }),
      ...(known.name !== undefined && { rubric: known.name }),
      ...scored(known, verdicts, aggregation),
    }
    for (const listener of this.listeners) listener(result, known.rubric.criteria)
    return result
  }

  async close(): Promise<void> {
    await this.parts.grader.close?.()
  }
}

/** The reward by a rubric. @throws ServiceError (400) for a rubric of the request whose numbers lead nowhere */
const scored = ({ name, rubric }: KnownRubric, verdicts: Verdict[], aggregation: RewardAggregation) => {
  try {
    return responseReward(rubric, verdicts, aggregation)
  } catch (error) {
    if (name !== undefined || !(error instanceof NumericError)) throw error
    throw new ServiceError('invalid_request', error.message, { cause: error })
  }
}

/** Does not wait for a grader that takes no notice of its signal. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const unknownVerdicts = (criteria: readonly Criterion[], explanation: string): Verdict[] =>
  criteria.map(({ id, verifier }) => ({
    criterionId: id,
    met: null,
    explanation,
    source: verifier?.kind ?? 'llm',
  }))

const asServiceError = (error: unknown): unknown => {
  if (error instanceof DeadlineReached)
    return new ServiceError('deadline', error.message, {
      hint: 'try again: verdicts that are in the cache are not asked for twice',
      cause: error,
      retryAfterS: 1,
    })
  if (error instanceof AllowanceSpent)
    return new ServiceError('deadline', error.message, {
      hint: 'send fewer items at a time, raise the limit, or set limits.onRulesSpent: nulls',
      cause: error,
    })
  // A rubric of the request that the scoring rule cannot use, for example.
  const hopeless = error instanceof WorkTimeout || error instanceof WorkCrashed || error instanceof WorkFailed
  if (hopeless)
    return new ServiceError('invalid_request', `a rubric of the request cannot be used: ${error.message}`, {
      cause: error,
    })
  if (error instanceof WorkRefused)
    return new ServiceError('overloaded', error.message, { cause: error, retryAfterS: 1 })
  if (error instanceof DataError) return new ServiceError('invalid_request', error.message, { cause: error })
  if (error instanceof JudgeError) return new ServiceError('judge_failed', error.message, { cause: error })
  return error
}
