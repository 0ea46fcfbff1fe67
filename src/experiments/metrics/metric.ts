/** @file What a metric is: a value read from a finished run, by a pure function. */

import type { z } from 'zod'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { meanKnown } from '../../util/statistics.ts'

/** A run that is done, as the analysis sees it: everything that its folder says, nothing that it must compute. */
export interface FinishedRun {
  arm: string
  start: string
  seed: string
  steps: number
  metrics: readonly MetricsRow[]
  /** The run's own evaluations, in order. */
  evals: readonly EvalRow[]
  /** What probes measured on samples of the trained policy, by probe. */
  probes: Readonly<Record<string, unknown>>
  /** Seconds that it took, all attempts together. */
  seconds: number
}

/** The run of another arm from the same cold start with the same seed; undefined where there is none, or none is done. */
export type Peers = (arm: string) => FinishedRun | undefined

/** The peers of a run among all runs. */
export const peersOf =
  (runs: readonly FinishedRun[], { start, seed }: Pick<FinishedRun, 'start' | 'seed'>): Peers =>
  arm =>
    runs.find(run => run.arm === arm && run.start === start && run.seed === seed)

/** How a value is written: shares in percent and points. */
export type MetricUnit = 'share' | 'number'

export interface Metric<Options = unknown> {
  summary: string
  options: z.ZodType<Options>
  unit: MetricUnit
  /** Always 0 or 1: may be tested by `share`. */
  binary?: boolean
  /** The value of a run; null where the run does not have it. */
  value(run: FinishedRun, options: Options, peers?: Peers): number | null
  /** Other arms whose runs the value reads beside the run's own. */
  among?(options: Options): readonly string[]
  /**
   * What has to be known to read the value, by name: `known`, the share of steps that have a value, with `lastStep`; `rise` and
   * `peak` of a curve. Null where there is nothing to say.
   */
  details?(run: FinishedRun, options: Options, peers?: Peers): Record<string, number> | null
  /** The value along the run, by step: what a comparison at equal tokens reads. */
  over?(run: FinishedRun, options: Options): { step: number; value: number }[]
  /** Whether runs keep the value item by item, as far as options tell. */
  itemwise?(options: Options): boolean
  /** Right (1) or wrong (0) by item of the test set; null where items are neither. */
  items?(run: FinishedRun, options: Options): Map<string, number> | null
}

/** A metric whose options are what its schema makes of them. */
export const metric = <Schema extends z.ZodType>(
  own: Omit<Metric<z.output<Schema>>, 'options'> & { options: Schema },
): Metric => own as Metric

/** Evaluations on a test set; on the first one of the run when none is named. */
export const evalsOn = ({ evals }: Pick<FinishedRun, 'evals'>, set: string | undefined): EvalRow[] =>
  evals.filter(row => row.set === (set ?? evals[0]?.set))

/** The run as it was before its first step: what the arm `start` stands for. */
export const beforeTraining = (run: FinishedRun): FinishedRun => ({
  ...run,
  arm: 'start',
  steps: 0,
  metrics: [],
  evals: run.evals.filter(({ step }) => step === 0),
  probes: {},
  seconds: 0,
})

/** Tokens generated in training up to and including a step. */
export const tokensUntil = ({ metrics }: Pick<FinishedRun, 'metrics'>, step: number): number =>
  metrics.reduce((sum, row) => sum + (row.step <= step && typeof row.tokens === 'number' ? row.tokens : 0), 0)

/** Seconds of the training steps up to and including one. */
export const secondsUntil = ({ metrics }: Pick<FinishedRun, 'metrics'>, step: number): number =>
  metrics.reduce((sum, row) => sum + (row.step <= step ? (row.time?.total ?? 0) : 0), 0)

/** Calls of the judge of training, and the share of its questions that needed none, a mean over the steps that had any. */
export interface JudgeWork {
  judgeCalls: number
  judgeCachedShare: number | null
}

/** What the judge of a run was asked in its steps; null for a run without a judge, or whose calls were not counted. */
export const judgeWorkOf = ({ metrics }: Pick<FinishedRun, 'metrics'>): JudgeWork | null => {
  const values = (key: string) =>
    metrics.flatMap(row => {
      const value = row.time?.[key]
      return typeof value === 'number' ? [value] : []
    })
  const calls = values('judgeCallCount')
  if (calls.length === 0) return null
  return {
    judgeCalls: calls.reduce((sum, each) => sum + each, 0),
    judgeCachedShare: meanKnown(values('judgeCachedShare')),
  }
}
