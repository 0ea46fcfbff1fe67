/** @file What the service tells Prometheus. */

import { Counter, Histogram, Registry } from 'prom-client'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { WorkPoolStats } from '../../util/work-pool.ts'
import { loopDelayGauge, newCounter, readGauge } from '../http/metrics.ts'
import type { RewardResult } from './item.ts'
import type { AdmissionQueue } from './queue.ts'

/** Metrics of judges and cache, read when Prometheus asks. */
export interface GradingMetrics {
  cacheHits: number
  cacheMisses: number
  /** Workers that rules run in; absent without any. */
  workers?: WorkPoolStats
  /** By judge; cost is null where a price or a token count is unknown. */
  judges: readonly JudgeMetrics[]
}

export interface JudgeMetrics {
  judge: string
  promptTokens: number
  completionTokens: number
  cost: number | null
  queued: number
  inFlight: number
}

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const JUDGE_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

type Sign = 'positive' | 'negative'

const outcomeOf = ({ met, credit }: Verdict): 'met' | 'unmet' | 'partial' | 'null' => {
  if (credit !== undefined && credit > 0 && credit < 1) return 'partial'
  if (met === null && credit === undefined) return 'null'
  return (credit ?? Number(met)) === 1 ? 'met' : 'unmet'
}

/** The service's own registry, so that two services in a process do not mix. */
export class RewardMetrics {
  readonly registry = new Registry()
  private readonly requests = newCounter(this.registry, 'requests_total', 'Requests answered.', [
    'route',
    'status',
  ])
  private readonly items = newCounter(this.registry, 'items_total', 'Items graded.', ['route'])
  private readonly verdicts = newCounter(this.registry, 'verdicts_total', 'Verdicts.', [
    'source',
    'sign',
    'outcome',
  ])
  private readonly noReward = newCounter(this.registry, 'no_reward_total', 'Items without a reward.', [])
  private readonly requestSeconds = new Histogram({
    name: 'gradus_request_seconds',
    help: 'Time to answer a request that grades.',
    labelNames: ['route'],
    buckets: REQUEST_SECONDS,
    registers: [this.registry],
  })
  private readonly judgeSeconds = new Histogram({
    name: 'gradus_judge_seconds',
    help: 'Time to an answer of a judge, waiting and attempts included.',
    labelNames: ['judge', 'outcome'],
    buckets: JUDGE_SECONDS,
    registers: [this.registry],
  })
  private readonly seen = { positive: { all: 0, null: 0 }, negative: { all: 0, null: 0 } }

  /** @param metrics of judges and cache; called at every scrape */
  constructor(queue: AdmissionQueue, metrics: () => GradingMetrics) {
    readGauge(this.registry, 'queue_depth', 'Items that wait for a place.', gauge => gauge.set(queue.depth))
    readGauge(this.registry, 'items_active', 'Items that are being graded.', gauge => gauge.set(queue.active))
    readGauge(
      this.registry,
      'null_rate',
      'Share of criteria without a verdict, by the sign of their points.',
      gauge => {
        for (const sign of ['positive', 'negative'] as const) {
          const { all, null: nulls } = this.seen[sign]
          gauge.set({ sign }, all === 0 ? 0 : nulls / all)
        }
      },
      ['sign'],
    )
    loopDelayGauge(
      this.registry,
      'grading_loop_delay_seconds',
      "Delay of the grading thread's event loop since the last look, by quantile.",
    )
    this.workerMetrics(metrics)
    this.cacheMetrics(metrics)
    this.judgeMetrics(metrics)
  }

  /** Totals that are kept elsewhere: a counter that takes their value over. */
  private total(
    name: string,
    help: string,
    labelNames: string[],
    read: (add: (labels: Record<string, string>, value: number) => void) => void,
  ): void {
    new Counter({
      name: `gradus_${name}`,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset()
        read((labels, value) => this.inc(labels, value))
      },
    })
  }

  private workerMetrics(metrics: () => GradingMetrics): void {
    const totals: [string, string, 'jobs' | 'timeouts' | 'crashes' | 'restarts'][] = [
      ['worker_jobs_total', 'Jobs of the workers that rules run in.', 'jobs'],
      ['worker_timeouts_total', 'Jobs that ran over their budget, and whose worker was killed.', 'timeouts'],
      ['worker_crashes_total', 'Jobs that took their worker down.', 'crashes'],
      ['worker_restarts_total', 'Workers started in place of those that died or were killed.', 'restarts'],
    ]
    for (const [name, help, key] of totals)
      this.total(name, help, [], add => add({}, metrics().workers?.[key] ?? 0))
    for (const key of ['threads', 'waiting', 'running'] as const)
      readGauge(this.registry, `worker_${key}`, `Workers of rules: ${key}.`, gauge =>
        gauge.set(metrics().workers?.[key] ?? 0),
      )
  }

  private cacheMetrics(metrics: () => GradingMetrics): void {
    this.total('cache_lookups_total', 'Look-ups in the verdict cache.', ['result'], add => {
      const { cacheHits, cacheMisses } = metrics()
      add({ result: 'hit' }, cacheHits)
      add({ result: 'miss' }, cacheMisses)
    })
  }

  private judgeMetrics(metrics: () => GradingMetrics): void {
    this.total('judge_tokens_total', 'Tokens of judges.', ['judge', 'kind'], add => {
      for (const { judge, promptTokens, completionTokens } of metrics().judges) {
        add({ judge, kind: 'prompt' }, promptTokens)
        add({ judge, kind: 'completion' }, completionTokens)
      }
    })
    this.total(
      'judge_cost_total',
      'Cost of judges in the unit of their prices; no series: unknown.',
      ['judge'],
      add => {
        for (const { judge, cost } of metrics().judges) if (cost !== null) add({ judge }, cost)
      },
    )
    const gauges: [string, string, 'queued' | 'inFlight'][] = [
      ['judge_queue_depth', 'Requests to judges that wait.', 'queued'],
      ['judge_in_flight', 'Requests to judges under way.', 'inFlight'],
    ]
    for (const [name, help, key] of gauges)
      readGauge(
        this.registry,
        name,
        help,
        gauge => {
          for (const each of metrics().judges) gauge.set({ judge: each.judge }, each[key])
        },
        ['judge'],
      )
  }

  request(route: string, status: number, tookMs: number): void {
    this.requests.inc({ route, status: String(status) })
    this.requestSeconds.observe({ route }, tookMs / 1000)
  }

  graded(route: string, count: number): void {
    this.items.inc({ route }, count)
  }

  judged(judge: string, outcome: 'answered' | 'failed', tookMs: number): void {
    this.judgeSeconds.observe({ judge, outcome }, tookMs / 1000)
  }

  result({ reward, verdicts }: RewardResult, criteria: readonly Criterion[]): void {
    if (reward === null) this.noReward.inc()
    const signs = new Map<string, Sign>(
      criteria.map(({ id, points }) => [id, points > 0 ? 'positive' : 'negative']),
    )
    for (const verdict of verdicts) {
      const sign = signs.get(verdict.criterionId) ?? 'positive'
      const outcome = outcomeOf(verdict)
      this.verdicts.inc({ source: verdict.source, sign, outcome })
      this.seen[sign].all += 1
      if (outcome === 'null') this.seen[sign].null += 1
    }
  }

  /** Everything in Prometheus's text format. */
  text(): Promise<string> {
    return this.registry.metrics()
  }
}
