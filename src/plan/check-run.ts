/** @file What a plan says of a run that is there, beside what its steps took: with the lengths that its samples really had. */

import { type KnownLengths, timeOfStep } from '../recipes/common/step-time.ts'
import type { PlannedRole, StepWork } from '../recipes/common/step-work.ts'
import type { MetricsRow, RolloutRow } from '../runs/rows.ts'
import { largestOf } from '../util/descriptive.ts'
import { DataError } from '../util/errors.ts'
import { mean, median } from '../util/statistics.ts'
import { assumed } from './assumptions.ts'
import { type EngineSpeed, measuredSpeed } from './engine-time.ts'

/** Seconds of one stage of a step. */
export interface StageCheck {
  planned: number | null
  measured: number
  /** planned / measured; null where nothing was planned, or the stage took no time worth the name. */
  ratio: number | null
}

export interface RunCheck {
  /** Steps whose median was taken: all but the first quarter, in which graphs are compiled and code gets warm. */
  steps: number
  sampling: StageCheck
  /** What grading took beyond sampling; no plan knows rules and solvers, or a judge's load of that day. */
  grading: StageCheck
  update: StageCheck
  /** Of both together that a plan knows. */
  known: StageCheck
  lengths: Record<string, KnownLengths>
  learntShare: number
}

export interface CheckedRun {
  work: StepWork
  metrics: readonly MetricsRow[]
  rollouts: readonly RolloutRow[]
  /** Groups without a spread are not learnt from. */
  dropsZero: boolean
  speed: EngineSpeed
}

const numbers = (rows: readonly MetricsRow[], pick: (row: MetricsRow) => unknown): number[] =>
  rows.map(pick).filter((value): value is number => typeof value === 'number')

/** Rows of a role; those of one role may bear no name. */
const ownRows = (rollouts: readonly RolloutRow[], { name }: PlannedRole, alone: boolean) =>
  alone ? rollouts : rollouts.filter(({ role = 'policy' }) => role === name)

/**
 * Mean and longest samples by role: what rows were kept tells how roles compare, the steps' sums how much there was in all. Rows
 * count what tools wrote, which goes through the network as well, and the sums do not: with turns the rows alone are believed.
 */
export const knownLengths = (
  work: StepWork,
  metrics: readonly MetricsRow[],
  rollouts: readonly RolloutRow[],
): Map<string, KnownLengths> => {
  const kept = work.roles.map(role => {
    const lengths = ownRows(rollouts, role, work.roles.length === 1).flatMap(({ tokens }) => tokens ?? [])
    return { role, lengths }
  })
  const reckoned = kept.reduce(
    (sum, { role, lengths }) =>
      sum + role.groups * role.samples * (lengths.length > 0 ? mean(lengths) : role.newTokens),
    0,
  )
  const tokens = numbers(metrics, row => row.tokens)
  const inTurns = work.roles.some(({ turns = 1 }) => turns > 1)
  const scale = !inTurns && tokens.length > 0 && reckoned > 0 ? mean(tokens) / reckoned : 1
  return new Map(
    kept.map(({ role, lengths }) => {
      const newTokens = scale * (lengths.length > 0 ? mean(lengths) : role.newTokens)
      const longestTokens = largestOf(lengths, newTokens)
      return [role.name, { newTokens, longestTokens }]
    }),
  )
}

/** @throws DataError for a run of fewer than two steps that say what they took */
export const checkRun = (run: CheckedRun): RunCheck => {
  const { work, speed } = run
  const warm = Math.max(1, Math.floor(run.metrics.length / 4))
  const rows = run.metrics
    .slice(warm)
    .filter(({ time }) => typeof time?.sample === 'number' || typeof time?.update === 'number')
  if (rows.length === 0)
    throw new DataError('metrics.jsonl: expected two steps or more with their times, got fewer', {
      hint: 'the first step is not counted: it compiles graphs',
    })
  const zero = numbers(rows, row => row.zeroVarianceGroups)
  const learntShare = run.dropsZero && zero.length > 0 ? 1 - mean(zero) : 1
  const lengths = knownLengths(work, rows, run.rollouts)
  const planned = timeOfStep(work, measuredSpeed(speed), assumed('usual'), { lengths, learntShare })
  const took = (name: string) => {
    const seconds = numbers(rows, row => row.time?.[name])
    return seconds.length > 0 ? median(seconds) : 0
  }
  const stage = (planned: number | null, measured: number): StageCheck => ({
    planned,
    measured,
    ratio: planned === null || measured <= 0 ? null : planned / measured,
  })
  const [sample, update] = [took('sample'), took('update')]
  return {
    steps: rows.length,
    sampling: stage(planned.sampling, sample),
    grading: stage(null, took('grade')),
    update: stage(planned.update, update),
    known: stage(planned.step, sample + update),
    lengths: Object.fromEntries(lengths),
    learntShare,
  }
}
