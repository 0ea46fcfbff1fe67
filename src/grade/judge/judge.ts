/** @file A language model as a grader: plans its calls, remembers verdicts, shares identical calls, counts what happens. */

import { setTimeout } from 'node:timers/promises'
import { SignalWatch } from '../../chat/cancellation.ts'
import { charactersOf } from '../../chat/estimate.ts'
import type { Criterion, JudgeCall } from '../../rubric/criterion.ts'
import { RecentMap } from '../../util/recent-map.ts'
import { type Quote, quoteUntrusted } from '../../util/untrusted.ts'
import type { GradeItem, GradeOptions, Grader } from '../grader.ts'
import { ask, type JudgeOutcome } from './ask.ts'
import type { CallShape } from './ask-config.ts'
import { callOf, withCall, withoutCall } from './judge-call.ts'
import {
  type CheckedOptions,
  checkedJudgeOptions,
  type JudgeOptions,
  type VerdictStore,
} from './judge-options.ts'
import { type CallHandle, SingleFlight } from './single-flight.ts'
import type { JudgeForm } from './templates/form.ts'
import type { AskedScale, Judgement, Scale } from './templates/scale.ts'
import { type JudgeTemplate, judgeMessages, type SubjectOptions } from './templates/template.ts'
import { callKey, samplingText, subjectDigest } from './verdict-key.ts'
import { isJudgements, type JudgedVerdict, verdictsOf } from './verdicts.ts'

/** One call about some criteria. */
interface PlannedCall {
  template: JudgeTemplate
  criteria: readonly Criterion[]
  /** Where each of them stands among all. */
  places: readonly number[]
}

/** Calls for the criteria of an item. Those of one call share a scale, and keep their order. */
const planCalls = (
  criteria: readonly Criterion[],
  shape: CallShape,
  levels: AskedScale,
  form: JudgeForm,
): PlannedCall[] => {
  if (shape === 'criterion')
    return criteria.map((criterion, place) => ({
      template: form.one(form.scaleOf(criterion, levels)),
      criteria: [criterion],
      places: [place],
    }))
  const size = shape === 'rubric' ? Number.POSITIVE_INFINITY : shape.batch
  const places = new Map<Scale, number[]>()
  for (const [place, criterion] of criteria.entries()) {
    const scale = form.scaleOf(criterion, levels)
    places.set(scale, [...(places.get(scale) ?? []), place])
  }
  return [...places].flatMap(([scale, own]) => {
    const template = form.many(scale)
    return chunks(own, template.readTokens ? 1 : size).map(chunk => ({
      template,
      criteria: chunk.map(place => criteria[place]),
      places: chunk,
    }))
  })
}

const chunks = <T>(items: readonly T[], size: number): T[][] => {
  const found: T[][] = []
  for (let from = 0; from < items.length; from += size) found.push(items.slice(from, from + size))
  return found
}

/** What a judge did since it was made. Verdicts count each time they are given. */
export interface JudgeStats {
  verdicts: number
  nulls: { positive: number; negative: number }
  /** Calls that went to the model, answered or not, and the attempts that they took. */
  calls: number
  attempts: number
  /** Calls that had no answer, and calls whose answer could not be used. */
  failedCalls: number
  unusableCalls: number
  /** Calls answered from the cache, and calls that joined one under way. */
  cachedCalls: number
  sharedCalls: number
}

/** A call that grading would make. */
export interface ExpectedCall {
  /** The same for identical questions, which a cache answers once. */
  key: string
  /** Of all messages. */
  promptCharacters: number
  /** Its answer is in the cache. */
  cached: boolean
}

export interface LlmJudge extends Grader {
  grade(item: GradeItem, criteria: readonly Criterion[], options?: GradeOptions): Promise<JudgedVerdict[]>
  /** The calls that `grade` would make for these criteria. Nothing is sent, and nothing counted. */
  preview(item: GradeItem, criteria: readonly Criterion[]): ExpectedCall[]
  /** Names who is asked and how, whatever about: the key of a call about nothing. */
  way(): string
  stats(): JudgeStats
  close(): Promise<void>
}

/**
 * Grades with a chat model. A call that fails or cannot be read gives null verdicts with the reason, never a zero and never an
 * error; errors that every call would meet (no authorisation, no such model) are thrown, as is an aborted signal's reason.
 * Limits on calls under way belong to the model (`judgeFleet`): all calls of an item are made at once.
 * @throws ConfigError for options out of range
 * @example
 * const model = scriptedModel(async () => ({ text: '{"criteria_met": true, "explanation": "It does."}' }))
 * const judge = llmJudge({ model })
 * const [verdict] = await judge.grade({ prompt: [], response: 'The Seine.' }, [{ id: 'seine', text: 'Names the river.', points: 1 }])
 * verdict.met // true
 */
export const llmJudge = (options: JudgeOptions): LlmJudge => new ChatJudge(options)

class ChatJudge implements LlmJudge {
  readonly #options: CheckedOptions
  readonly #quote: Quote
  readonly #keyed: { model: string; variant?: string; sampling: string }
  readonly #singleFlight = new SingleFlight<JudgeOutcome>()
  readonly #subjects = new RecentMap<string, string>(REMEMBERED_SUBJECTS)
  readonly #waiting: Waiting = new SignalWatch((rejects, signal) => {
    for (const reject of rejects) reject(signal.reason)
  })
  readonly #stats: JudgeStats = {
    verdicts: 0,
    nulls: { positive: 0, negative: 0 },
    calls: 0,
    attempts: 0,
    failedCalls: 0,
    unusableCalls: 0,
    cachedCalls: 0,
    sharedCalls: 0,
  }

  constructor(options: JudgeOptions) {
    this.#options = checkedJudgeOptions(options)
    this.#quote = options.quote ?? quoteUntrusted
    const { model, sampling } = this.#options
    this.#keyed = {
      model: model.name,
      variant: model.variant,
      sampling: samplingText(sampling, this.#options),
    }
  }

  async grade(
    item: GradeItem,
    criteria: readonly Criterion[],
    { signal, sampleIndex = 0 }: GradeOptions = {},
  ): Promise<JudgedVerdict[]> {
    signal?.throwIfAborted()
    const { shape, levels, form } = this.#options
    const subject = new Subject(item, this.#options, this.#quote, this.#subjects)
    const calls = planCalls(criteria, shape, levels, form)
    const handles: CallHandle<JudgeOutcome>[] = []
    const repeat = this.#options.sampleIndex + sampleIndex
    // All of them before any is asked: a cache that fails must leave no call behind that nobody waits for.
    const known = calls.map(call => this.#known(subject, call, repeat))
    const outcomes = known.map(
      ([key, outcome], i) => outcome ?? this.#join(key, subject, calls[i], repeat, handles),
    )
    const verdicts: JudgedVerdict[] = new Array(criteria.length)
    for (const [index, outcome] of (await settled(outcomes, handles, this.#waiting, signal)).entries()) {
      const { places, criteria: own } = calls[index]
      const given = verdictsOf(own, outcome, this.#options)
      for (const [at, place] of places.entries()) verdicts[place] = given[at]
    }
    this.#count(criteria, verdicts)
    return verdicts
  }

  preview(item: GradeItem, criteria: readonly Criterion[]): ExpectedCall[] {
    const { shape, levels, cache, fresh, sampleIndex, form } = this.#options
    const subject = new Subject(item, this.#options, this.#quote, this.#subjects)
    return planCalls(criteria, shape, levels, form).map(call => {
      const key = callKey(this.#keyed, call.template, subject.digest, call.criteria, sampleIndex)
      const messages = judgeMessages(call.template, subject.rendered, call.criteria, this.#quote)
      return {
        key,
        promptCharacters: charactersOf({ messages }),
        cached: !fresh && isJudgements(cache?.get(key), call.criteria.length),
      }
    })
  }

  way(): string {
    const { shape, levels, sampleIndex, form } = this.#options
    const [{ template }] = planCalls([{ id: '', text: '', points: 1 }], shape, levels, form)
    const subject = subjectDigest({ prompt: [], response: '' }, this.#options)
    return callKey(this.#keyed, template, subject, [], sampleIndex)
  }

  stats(): JudgeStats {
    return { ...this.#stats, nulls: { ...this.#stats.nulls }, sharedCalls: this.#singleFlight.shared }
  }

  async close(): Promise<void> {
    await this.#options.model.close?.()
  }

  /** The key of a call and what the cache has of it; null where nothing is remembered. */
  #known(
    subject: Subject,
    call: PlannedCall,
    repeat: number,
  ): [key: string | null, outcome: JudgeOutcome | null] {
    const { cache, fresh } = this.#options
    if (fresh) return [null, null]
    const key = callKey(this.#keyed, call.template, subject.digest, call.criteria, repeat)
    return [key, this.#remembered(cache?.get(key), call)]
  }

  #remembered(value: unknown, { criteria }: PlannedCall): JudgeOutcome | null {
    if (!isJudgements(value, criteria.length)) return null
    this.#stats.cachedCalls++
    const call: JudgeCall = { ...callOf(value, this.#keyed.model), reused: 'cache' }
    return { judgements: withoutCall(value), attempts: 0, call }
  }

  /** From an identical call under way, or from the model. */
  #join(
    key: string | null,
    subject: Subject,
    call: PlannedCall,
    repeat: number,
    handles: CallHandle<JudgeOutcome>[],
  ): Promise<JudgeOutcome> {
    const handle = this.#singleFlight.join(key, signal => this.#call(key, subject, call, repeat, signal))
    handles.push(handle)
    return handle.shared ? handle.promise.then(asShared) : handle.promise
  }

  /** Asks, unless another process does so just now: then its verdict is waited for. */
  async #call(
    key: string | null,
    subject: Subject,
    call: PlannedCall,
    sampleIndex: number,
    signal: AbortSignal,
  ): Promise<JudgeOutcome> {
    const { cache } = this.#options
    if (key === null || !cache?.claim) return this.#ask(key, subject, call, sampleIndex, signal)
    const waited = await waitForClaim(cache, key, signal)
    try {
      const known = waited ? this.#remembered(cache.get(key), call) : null
      return known ?? (await this.#ask(key, subject, call, sampleIndex, signal))
    } finally {
      cache.release?.(key)
    }
  }

  async #ask(
    key: string | null,
    subject: Subject,
    { template, criteria }: PlannedCall,
    sampleIndex: number,
    signal: AbortSignal,
  ): Promise<JudgeOutcome> {
    const stats = this.#stats
    stats.calls++
    const messages = judgeMessages(template, subject.rendered, criteria, this.#quote)
    const outcome = await ask(this.#options, { template, criteria, messages, sampleIndex }, signal)
    stats.attempts += outcome.attempts
    if (outcome.judgements === null) outcome.failed ? stats.failedCalls++ : stats.unusableCalls++
    else if (key !== null) this.#remember(key, outcome.judgements, outcome.call)
    return outcome
  }

  #remember(key: string, judgements: Judgement[], call: JudgeCall): void {
    const { cache, tellsCalls } = this.#options
    cache?.put(key, tellsCalls ? withCall(judgements, call) : judgements)
  }

  #count(criteria: readonly Criterion[], verdicts: readonly JudgedVerdict[]): void {
    const stats = this.#stats
    stats.verdicts += verdicts.length
    for (const [index, { met }] of verdicts.entries())
      if (met === null) stats.nulls[criteria[index].points > 0 ? 'positive' : 'negative']++
  }
}

/** The outcome of a call that another response had asked for. */
const asShared = (outcome: JudgeOutcome): JudgeOutcome => ({
  ...outcome,
  call: { ...outcome.call, reused: 'shared' },
})

/** Subjects that a judge remembers as it shows them, and how long they may be: at most some 25 MB. */
const REMEMBERED_SUBJECTS = 128
const LONGEST_REMEMBERED_CHARACTERS = 100_000

/** What is judged. Quoting and hashing are done when first asked for, once for all of its criteria. */
class Subject {
  readonly #item: GradeItem
  readonly #options: SubjectOptions & { form: JudgeForm }
  readonly #quote: Quote
  /** By their digests: the same response may be judged by many rubrics, one after the other. */
  readonly #recent: RecentMap<string, string>
  #rendered: string | undefined
  #digest: string | undefined

  constructor(
    item: GradeItem,
    options: SubjectOptions & { form: JudgeForm },
    quote: Quote,
    recent: RecentMap<string, string>,
  ) {
    this.#item = item
    this.#options = options
    this.#quote = quote
    this.#recent = recent
  }

  get rendered(): string {
    this.#rendered ??= this.#recent.get(this.digest) ?? this.#render()
    return this.#rendered
  }

  #render(): string {
    const rendered = this.#options.form.subject(this.#item, this.#options, this.#quote)
    if (rendered.length <= LONGEST_REMEMBERED_CHARACTERS) this.#recent.set(this.digest, rendered)
    return rendered
  }

  get digest(): string {
    this.#digest ??= subjectDigest(this.#item, this.#options)
    return this.#digest
  }
}

/** When it is first looked whether another process has its verdict, and how long at most between two looks. */
const CLAIM_POLL_MS = 100
const LONGEST_CLAIM_POLL_MS = 1000

/**
 * Claims a key, as soon as no other process holds it.
 * @returns whether another one may have put a value meanwhile
 * @throws the signal's reason when aborted
 */
const waitForClaim = async (cache: VerdictStore, key: string, signal: AbortSignal): Promise<boolean> => {
  let pollMs = CLAIM_POLL_MS
  while ((await cache.claim?.(key)) === false) {
    await setTimeout(pollMs, undefined, { signal })
    pollMs = Math.min(1.5 * pollMs, LONGEST_CLAIM_POLL_MS)
  }
  const waited = pollMs > CLAIM_POLL_MS
  if (waited) cache.refresh?.()
  return waited
}

/** What to call with the reason when a signal is aborted. */
type Waiting = SignalWatch<(reason: unknown) => void>

/** All outcomes; or, when the signal is aborted or a call throws, the error, with the calls that are left given up. */
const settled = async (
  outcomes: readonly (JudgeOutcome | Promise<JudgeOutcome>)[],
  handles: readonly CallHandle<JudgeOutcome>[],
  waiting: Waiting,
  signal?: AbortSignal,
): Promise<JudgeOutcome[]> => {
  if (handles.length === 0) return outcomes as JudgeOutcome[]
  try {
    return await untilAborted(Promise.all(outcomes), waiting, signal)
  } catch (error) {
    for (const handle of handles) handle.leave()
    throw error
  }
}

/** The promise's value, or the signal's reason as soon as it is aborted. */
const untilAborted = <T>(promise: Promise<T>, waiting: Waiting, signal?: AbortSignal): Promise<T> =>
  signal === undefined
    ? promise
    : new Promise((resolve, reject) => {
        waiting.add(signal, reject)
        promise.then(resolve, reject).finally(() => waiting.remove(signal, reject))
      })
