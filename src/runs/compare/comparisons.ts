/** @file The metrics of groups of runs: means with intervals over runs, and differences to the first group, paired by seed. */

import { mean, meanKnown } from '../../util/statistics.ts'
import { studentInterval } from '../report/bands.ts'
import { finalMeans } from '../report/compare.ts'
import { evalsOf, setNames } from '../report/data.ts'
import { pairedDifference } from '../report/paired.ts'
import type { EvalRow, Interval } from '../rows.ts'
import { isScoreShared } from '../same-rubric.ts'
import { describeScore, headlineScores, scoreValue } from '../scores.ts'
import { type ComparedRun, type GroupedRuns, type RunGroup, runNames } from './groups.ts'

/** A mean over runs. */
export interface RunMean {
  /** Runs that have a value. */
  n: number
  mean: number | null
  /** 95% interval over runs by Student's t; null for fewer than two. */
  interval: Interval | null
  /** Lowest and highest; null without a value. */
  range: Interval | null
}

export interface GroupDifference {
  /** This group less the first; null where their rubrics differ, so that scores do not compare. */
  difference: number | null
  /** 95% interval; null where nothing can be paired. */
  interval: Interval | null
  /** What the interval is over, in words. */
  over: string
}

export interface ScoreComparison {
  set: string
  score: string
  label: string
  /** One a group. */
  groups: (RunMean & { differenceToFirst: GroupDifference | null })[]
}

export const runMean = (values: readonly number[]): RunMean => ({
  n: values.length,
  mean: meanKnown(values),
  interval: studentInterval(values),
  range: values.length > 0 ? [Math.min(...values), Math.max(...values)] : null,
})

const lastOn = ({ data }: ComparedRun, set: string): EvalRow | undefined => evalsOf(data, set).at(-1)

const bySeed = (group: RunGroup, valueIn: (run: ComparedRun) => number | null): Map<string, number> =>
  new Map(
    group.runs.flatMap(run => {
      const value = valueIn(run)
      return value === null ? [] : [[String(run.data.info.seed ?? ''), value] as const]
    }),
  )

/** Whether a score means the same in all runs of two groups. */
const areShared = (first: RunGroup, group: RunGroup, score: string): boolean => {
  const [own] = first.runs
  return [...first.runs, ...group.runs].every(({ data }) => isScoreShared(own.data.info, data.info, score))
}

/** Paired by seed; of two single runs by problem. */
const differenceTo = (
  first: RunGroup,
  group: RunGroup,
  set: string,
  score: string,
): GroupDifference | null => {
  const valueIn = (run: ComparedRun) => scoreValue(lastOn(run, set), score)
  const [before, after] = [bySeed(first, valueIn), bySeed(group, valueIn)]
  if (before.size === 0 || after.size === 0) return null
  if (!areShared(first, group, score)) return { difference: null, interval: null, over: 'another rubric' }
  const pairs = [...after].flatMap(([seed, value]) => (before.has(seed) ? [value - before.get(seed)!] : []))
  if (pairs.length >= 2)
    return { difference: mean(pairs), interval: studentInterval(pairs), over: `${pairs.length} seeds` }
  const isSingle = first.runs.length === 1 && group.runs.length === 1
  const paired = isSingle && pairedDifference(lastOn(first.runs[0], set), lastOn(group.runs[0], set), score)
  if (paired)
    return { difference: paired.difference, interval: paired.interval, over: `${paired.n} problems` }
  const difference = mean([...after.values()]) - mean([...before.values()])
  return { difference, interval: null, over: 'unpaired' }
}

/** Scores of the last evaluations, on every test set: the headline, unless told. */
export const scoreComparisons = (
  groups: readonly RunGroup[],
  scoresIn: (rows: readonly EvalRow[]) => string[] = headlineScores,
): ScoreComparison[] => {
  const runs = groups.flatMap(group => group.runs)
  const sets = [...new Set(runs.flatMap(({ data }) => setNames(data)))]
  return sets.flatMap(set => {
    const rows = runs.flatMap(run => lastOn(run, set) ?? [])
    return scoresIn(rows).map(score => ({
      set,
      score,
      label: describeScore(score, rows),
      groups: groups.map((group, i) => ({
        ...runMean(group.runs.flatMap(run => scoreValue(lastOn(run, set), score) ?? [])),
        differenceToFirst: i === 0 ? null : differenceTo(groups[0], group, set, score),
      })),
    }))
  })
}

/** Every number of metrics.jsonl: means over the last tenth of each run's steps, then over the runs of each group. */
const metricComparisons = (groups: readonly RunGroup[]) => {
  const means = groups.map(group => group.runs.map(({ data }) => finalMeans(data.metrics)))
  const names = [...new Set(means.flat().flatMap(own => [...own.keys()]))]
  return names.map(name => ({
    name,
    groups: means.map(own => runMean(own.flatMap(each => each.get(name) ?? []))),
  }))
}

/** A group with its runs, and the fewest and the most steps that they have taken. */
const describeGroup = ({ label, runs }: RunGroup, names: ReadonlyMap<string, string>) => {
  const shown = runs.map(({ dir, data: { info, status, metrics } }) => ({
    ...{ name: names.get(dir)!, dir, seed: info.seed ?? null, status, step: metrics.at(-1)?.step ?? 0 },
  }))
  const steps = shown.map(({ step }) => step)
  return { label, runs: shown, steps: [Math.min(...steps), Math.max(...steps)] }
}

/** The metrics of groups of runs, and the settings in which these differ: a value a group. */
export const comparedRuns = ({ groups, settings }: GroupedRuns) => {
  const dirs = groups.flatMap(({ runs }) => runs.map(({ dir }) => dir))
  const names = runNames(dirs)
  return {
    runs: dirs.length,
    groups: groups.map(group => describeGroup(group, names)),
    scores: scoreComparisons(groups),
    metrics: metricComparisons(groups),
    settings,
  }
}

/** Everything that a comparison of runs tells. */
export type ComparedRuns = ReturnType<typeof comparedRuns>
