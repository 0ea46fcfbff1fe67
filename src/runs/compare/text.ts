/** @file A comparison of groups of runs as text for a terminal. */

import { number, percent, percentInterval, plural, points, pointsInterval } from '../../util/format.ts'
import { settingText } from '../report/compare.ts'
import { alignedTable } from '../report/page-text.ts'
import type { ComparedRuns, GroupDifference, RunMean } from './comparisons.ts'

/** More columns than these no terminal has room for. */
const MOST_COLUMNS = 6

const shareText = ({ mean, interval }: RunMean): string =>
  mean === null ? '–' : `${percent(mean)}${interval ? ` [${percentInterval(interval)}]` : ''}`

const differenceText = (difference: GroupDifference | null): string =>
  difference?.difference == null
    ? (difference?.over ?? '')
    : `${points(difference.difference)}${difference.interval ? ` [${pointsInterval(difference.interval)}]` : ''} (${difference.over})`

/** A line for each group: who is in it, its scores, its reward. */
const groupTable = ({ groups, scores, metrics }: ComparedRuns): string => {
  const reward = metrics.find(({ name }) => name === 'reward')
  const [first] = scores
  const head = [
    'group',
    'runs',
    'steps',
    ...scores.map(({ label, set }) => `${label}, ${set}`),
    ...(first && groups.length > 1 ? [`${first.label}: to the first`] : []),
    ...(reward ? ['reward'] : []),
  ]
  const rows = groups.map(({ label, runs, steps }, i) => [
    label,
    String(runs.length),
    steps[0] === steps[1] ? String(steps[0]) : `${steps[0]}–${steps[1]}`,
    ...scores.map(score => shareText(score.groups[i])),
    ...(first && groups.length > 1 ? [differenceText(first.groups[i].differenceToFirst)] : []),
    ...(reward ? [number(reward.groups[i].mean)] : []),
  ])
  return alignedTable([head, ...rows])
}

const runTable = ({ groups }: ComparedRuns): string =>
  alignedTable([
    ['run', 'seed', 'status', 'steps', 'group'],
    ...groups.flatMap(({ label, runs }) =>
      runs.map(({ name, seed, status, step }) => [name, String(seed ?? '–'), status, String(step), label]),
    ),
  ])

const metricTable = ({ groups, metrics }: ComparedRuns): string =>
  alignedTable([
    ['metric, last tenth', ...groups.map(({ label }) => label)],
    ...metrics.map(({ name, groups: own }) => [name, ...own.map(({ mean }) => number(mean))]),
  ])

const settingTable = ({ groups, settings }: ComparedRuns): string =>
  alignedTable([
    ['setting', ...groups.map(({ label }) => label)],
    ...settings.map(({ name, values }) => [name, ...values.map(settingText)]),
  ])

/** The comparison in blocks; figures of every metric where there are few groups. */
export const comparisonText = (compared: ComparedRuns): string => {
  const { groups, runs, settings } = compared
  const few = groups.length <= MOST_COLUMNS
  const blocks = [
    `${plural(runs, 'run')} in ${plural(groups.length, 'group')}; runs of a group differ in nothing but the seed. Means over runs, in brackets 95% intervals over runs.`,
    groupTable(compared),
    runTable(compared),
    ...(few ? [metricTable(compared)] : []),
    ...(few && settings.length > 0 ? [settingTable(compared)] : []),
    ...(few ? [] : ['metrics and settings of so many groups: --json, or the page that --html writes']),
  ]
  return `${blocks.join('\n\n')}\n`
}
