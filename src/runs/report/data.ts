/** @file What a report is made from, read from a run folder; and the few views of it that several parts need. */

import { resolve } from 'node:path'
import { meanKnown } from '../../util/descriptive.ts'
import { CheckpointError } from '../../util/errors.ts'
import { ownValue } from '../../util/own-value.ts'
import { isLocked } from '../lock.ts'
import {
  latestCheckpoint,
  readEvals,
  readEvents,
  readMetrics,
  readRollouts,
  readRubricRows,
  readRunInfo,
} from '../readers.ts'
import type {
  CriterionChange,
  EvalRow,
  EventRow,
  MetricGroup,
  MetricsRow,
  RolloutRow,
  RubricRow,
  RunInfo,
} from '../rows.ts'
import { isFinished, loadRunState } from '../run-state.ts'
import { describePairs, pairedCriterion } from './paired.ts'

export type * from '../rows.ts'

export interface ReportData {
  info: RunInfo
  /** Paused, or unreadable, as one who follows it sees it. */
  status: 'finished' | 'running' | 'stopped' | 'paused' | 'unreadable'
  metrics: MetricsRow[]
  evals: EvalRow[]
  rollouts: RolloutRow[]
  events: EventRow[]
  rubrics: RubricRow[]
  /** Sums over all steps, where `metrics` has means over several of them in each row. */
  totals?: RunTotals
}

export interface RunTotals {
  steps: number
  seconds: number
  rollouts: number
  tokens: number
}

/**
 * Reads a run, finished or not. Only config.json has to be there.
 * @throws RunError when there is no run; DataError for a broken file
 */
export const loadReportData = (runDir: string): ReportData => {
  const dir = resolve(runDir)
  const info = readRunInfo(dir)
  const evals = readEvals(dir)
  return {
    info,
    status: runStatus(dir, info, lastEvaluated(evals)),
    metrics: readMetrics(dir),
    evals,
    rollouts: readRollouts(dir),
    events: readEvents(dir),
    rubrics: readRubricRows(dir),
  }
}

/** What the last checkpoint says; where there is none (a run without steps saves none), the evaluation after the last step. */
const isComplete = (
  dir: string,
  { steps = Number.POSITIVE_INFINITY, extensions = [] }: RunInfo,
  evaluated: number | null,
): boolean => {
  const checkpoint = latestCheckpoint(dir)
  if (checkpoint === null) return evaluated !== null && evaluated >= steps
  try {
    const { step, recipe } = loadRunState(checkpoint)
    // The end that it was saved at is none any more where a resume has put it further.
    return isFinished(recipe) && extensions.every(extension => extension.step < step)
  } catch (error) {
    if (error instanceof CheckpointError) return false
    throw error
  }
}

/** Step of the last evaluation; null before one. */
export const lastEvaluated = (evals: readonly Pick<EvalRow, 'step'>[]): number | null =>
  evals.reduce<number | null>((last, { step }) => Math.max(last ?? step, step), null)

/** Whether a run is over, goes on, or was left before its end. @param evaluated step of its last evaluation, null before one */
export const runStatus = (
  dir: string,
  info: RunInfo,
  evaluated: number | null,
): 'finished' | 'running' | 'stopped' =>
  isComplete(dir, info, evaluated) ? 'finished' : isLocked(dir) ? 'running' : 'stopped'

/** Test sets in the order of their first evaluation, the primary one first. */
export const setNames = (data: Pick<ReportData, 'info' | 'evals'>): string[] => {
  const names = [...new Set(data.evals.map(row => row.set))]
  const primary = data.info.primarySet
  return primary !== undefined && names.includes(primary)
    ? [primary, ...names.filter(name => name !== primary)]
    : names
}

/** Evaluations on a set, by step. */
export const evalsOf = (data: Pick<ReportData, 'evals'>, set: string): EvalRow[] =>
  data.evals.filter(row => row.set === set).sort((a, b) => a.step - b.step)

/**
 * First and last evaluation on a set; `before` is absent when there is only one. When problems were added to the set on
 * the way (a quick check while training, more at the ends), the ends are what is compared.
 */
export const beforeAfter = (
  data: Pick<ReportData, 'evals'>,
  set: string,
): { before?: EvalRow; after?: EvalRow } => {
  const rows = evalsOf(data, set)
  return rows.length > 1 ? { before: rows[0], after: rows.at(-1) } : { after: rows[0] }
}

/** `C1` -> `C1 answer`, where the run names its criteria. */
export const criterionLabel = (info: RunInfo, id: string): string => {
  const name = ownValue(info.criterionNames, id)
  return name === undefined || name === id ? id : `${id} ${name}`
}

/** Means of what groups have, by name. */
const meanGroup = (groups: readonly MetricGroup[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(groups.flatMap(Object.keys))].flatMap(name => {
      const mean = meanKnown(groups.map(group => (typeof group[name] === 'number' ? group[name] : null)))
      return mean === null ? [] : [[name, mean]]
    }),
  )

export interface Profile {
  before: Record<string, number> | null
  after: Record<string, number>
  /** Where the metrics are from, in words. */
  source: string
  /** Change of each criterion with its interval, paired by problem; null before the end of a run. */
  changes: Record<string, CriterionChange> | null
}

/** A criterion that training could not see, and that fell: the whole 95% interval lies below zero. */
export const isTax = ({ unseen, interval }: CriterionChange): boolean => unseen === true && interval[1] < 0

/** Criteria of two evaluations: over the problems that both have where they can be paired, else each over its own. */
const evaluatedProfile = (set: string, before: EvalRow | undefined, after: EvalRow): Profile => {
  const pairs = Object.fromEntries(
    Object.keys(after.criteria!).flatMap(id => {
      const pair = ownValue(after.tax, id) ?? pairedCriterion(before, after, id)
      return pair ? [[id, pair]] : []
    }),
  )
  const overPairs = (side: 'before' | 'after') =>
    Object.fromEntries(Object.entries(pairs).map(([id, pair]) => [id, pair[side]]))
  const counts = Object.values(pairs).map(({ n }) => n)
  const most = counts.length > 0 ? Math.max(...counts) : undefined
  const upTo = counts.some(n => n !== most) ? 'up to ' : ''
  return {
    before: before?.criteria ? { ...meanGroup([before.criteria]), ...overPairs('before') } : null,
    after: { ...meanGroup([after.criteria!]), ...overPairs('after') },
    source: `${set}, ${upTo}${describePairs(before, after, most)}`,
    changes: after.tax ?? null,
  }
}

/** Criteria before and after: from the first and last evaluation, else from the first and last tenth of training. */
export const rubricProfile = (data: ReportData): Profile | null => {
  for (const set of setNames(data)) {
    const { before, after } = beforeAfter(data, set)
    if (!after?.criteria) continue
    return evaluatedProfile(set, before, after)
  }
  const groups = data.metrics.flatMap(row => (row.criteria ? [row.criteria] : []))
  if (groups.length < 2) return null
  const tenth = Math.max(1, Math.round(groups.length / 10))
  return {
    before: meanGroup(groups.slice(0, tenth)),
    after: meanGroup(groups.slice(-tenth)),
    source: `training rollouts, first and last ${tenth} steps`,
    changes: null,
  }
}

/** What training took so far; seconds are the sum of the steps' total times. */
export const totalsOf = ({ metrics, totals }: ReportData): RunTotals => {
  const total = (metric: (row: MetricsRow) => unknown) =>
    metrics.reduce((sum, row) => sum + (Number.isFinite(metric(row)) ? (metric(row) as number) : 0), 0)
  return (
    totals ?? {
      steps: metrics.length,
      seconds: total(stepSeconds),
      rollouts: total(row => row.rollouts),
      tokens: total(row => row.tokens),
    }
  )
}

/** Times that are no stages: the whole, what is left of it, grading that goes on beside sampling. */
const NO_STAGE = new Set(['total', 'other', 'rest', 'gradeBusy'])

/** Metrics of judges and verifiers: calls that go on beside sampling, and shares of them. */
const isCallMetric = (name: string): boolean => /judge|^verifier/i.test(name)

const STAGE_WORDS: Record<string, string> = { sample: 'sampling', grade: 'grading' }

/** A stage's name for people. */
export const stageWord = (stage: string): string => STAGE_WORDS[stage] ?? stage

/** Names of the stages that a run timed; together with a rest they make up a step. */
export const stageNames = (metrics: readonly MetricsRow[]): string[] =>
  [...new Set(metrics.flatMap(row => Object.keys(row.time ?? {})))].filter(
    name => !NO_STAGE.has(name) && !isCallMetric(name),
  )

/** A step's time: its `total`, else the sum of its stages. */
export const stepSeconds = (row: MetricsRow): number => {
  const time = row.time ?? {}
  if (typeof time.total === 'number') return time.total
  return stageNames([row]).reduce((sum, name) => sum + (time[name] ?? 0), 0)
}

/** Share of the run's time that each stage took, in percent with one decimal, and the rest: they add up to 100. */
export const stageShares = (metrics: readonly MetricsRow[]): Record<string, number> => {
  const total = metrics.reduce((sum, row) => sum + stepSeconds(row), 0)
  const names = stageNames(metrics)
  if (total === 0 || names.length === 0) return {}
  const tenths = names.map(name => {
    const seconds = metrics.reduce((sum, row) => sum + (row.time?.[name] ?? 0), 0)
    return Math.round((1000 * seconds) / total)
  })
  const rest = Math.max(0, 1000 - tenths.reduce((sum, share) => sum + share, 0))
  return Object.fromEntries([...names.map((name, i) => [name, tenths[i] / 10]), ['rest', rest / 10]])
}

/** Rollouts, or answers of evaluations, that are shown together. */
export interface ChosenRollouts {
  title: string
  about: string
  rows: RolloutRow[]
}

/** Best and worst rollouts of the last quarter of the run, the latest, and the earliest to compare with; not those of warnings. */
export const chooseRollouts = (data: ReportData, each = 2): ChosenRollouts[] => {
  const kept = data.rollouts.filter(row => row.monitor === undefined)
  if (kept.length === 0) return []
  const bySteps = [...kept].sort((a, b) => a.step - b.step)
  const first = bySteps[0].step
  const last = bySteps.at(-1)!.step
  const lateFrom = last - (last - first) / 4
  const late = bySteps.filter(row => row.step >= lateFrom)
  const paid = late.flatMap(row => (row.reward === null ? [] : [{ row, reward: row.reward }]))
  const byReward = paid.sort((a, b) => b.reward - a.reward || b.row.step - a.row.step).map(({ row }) => row)
  const span = `steps ${Math.ceil(lateFrom)} to ${last}`
  return [
    { title: 'Best', about: `highest reward, ${span}`, from: byReward },
    { title: 'Worst', about: `lowest reward, ${span}`, from: byReward.toReversed() },
    { title: 'Latest', about: `step ${last}`, from: bySteps.toReversed() },
    { title: 'Earliest', about: `step ${first}, for comparison`, from: first === last ? [] : bySteps },
  ]
    .map(({ from, ...group }) => ({ ...group, rows: distinct(from, each) }))
    .filter(({ rows }) => rows.length > 0)
}

/** The first rows, one a problem. */
const distinct = (rows: readonly RolloutRow[], count: number): RolloutRow[] => {
  const first = new Map<string, RolloutRow>()
  for (const row of rows) if (!first.has(row.problemId)) first.set(row.problemId, row)
  return [...first.values()].slice(0, count)
}
