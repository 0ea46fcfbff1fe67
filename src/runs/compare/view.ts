/** @file A comparison of groups of runs as plain data: the tables and curves of its page, in a file and in the dashboard. */

import {
  capitalised,
  joinKnown,
  number,
  percent,
  percentInterval,
  plural,
  points,
  pointsInterval,
} from '../../util/format.ts'
import {
  type ChartTools,
  foldBlock,
  type PageSection,
  type PageView,
  type TableView,
  tableSection,
} from '../report/view.ts'
import { scoreNamesOf } from '../scores.ts'
import { groupColor, overlayCharts, shownGroups } from './charts.ts'
import {
  type ComparedRuns,
  type GroupDifference,
  type ScoreComparison,
  scoreComparisons,
} from './comparisons.ts'
import type { RunGroup } from './groups.ts'

const groupTable = (
  { groups, metrics }: ComparedRuns,
  colorOf: (label: string) => string | undefined,
): TableView => {
  const reward = metrics.find(({ name }) => name === 'reward')
  return {
    head: ['Group', 'Runs', 'Steps', ...(reward ? ['Reward, last tenth'] : [])],
    rows: groups.map(({ label, runs, steps: [first, last] }, i) => [
      { text: label, color: colorOf(label) },
      ...[String(runs.length), first === last ? String(first) : `${first} to ${last}`],
      ...(reward ? [number(reward.groups[i].mean)] : []),
    ]),
  }
}

const differenceNote = (own: GroupDifference | null): string[] => {
  if (own === null) return []
  if (own.difference === null) return [own.over]
  const interval = own.interval ? `, ${pointsInterval(own.interval)}` : ''
  return [`${points(own.difference)} to the first${interval} (${own.over})`]
}

const scoreTable = ({ groups }: ComparedRuns, scores: readonly ScoreComparison[]): TableView => ({
  head: ['Evaluation', ...groups.map(({ label }) => label)],
  rows: scores.map(({ set, label, groups: own }) => [
    { text: capitalised(label), notes: [set] },
    ...own.map(({ mean, interval, differenceToFirst }) => ({
      text: percent(mean),
      notes: [...(interval ? [percentInterval(interval)] : []), ...differenceNote(differenceToFirst)],
    })),
  ]),
})

const runTable = (
  { groups }: ComparedRuns,
  own: readonly RunGroup[],
  addressOf: (dir: string) => string | undefined,
): TableView => ({
  head: ['Run', 'Seed', 'Status', 'Steps', 'Group'],
  rows: groups.flatMap(({ label, runs }, i) =>
    runs.map(({ name, dir, seed, status, step }, k) => {
      const { recipe, preset } = own[i].runs[k].data.info
      return [
        { text: name, href: addressOf(dir), notes: [joinKnown([recipe, preset], ' · ')] },
        ...[String(seed ?? '–'), status, String(step), label],
      ]
    }),
  ),
})

const metricTable = ({ groups, metrics }: ComparedRuns): TableView => ({
  head: ['Metric', ...groups.map(({ label }) => label)],
  rows: metrics.map(({ name, groups: own }) => [name, ...own.map(({ mean }) => number(mean))]),
})

const settingTable = ({ groups, settings }: ComparedRuns): TableView => ({
  text: true,
  head: ['Setting', ...groups.map(({ label }) => label)],
  rows: settings.map(({ name, values }) => [
    ...[name, ...values.map(value => (value === undefined ? 'none' : JSON.stringify(value)))],
  ]),
})

interface CompareOptions {
  /** Of live runs: how curves may be had, which are every metric there is, as it is. */
  tools?: ChartTools
  /** Where the page of a run is, by its folder. */
  addressOf?(dir: string): string | undefined
}

/** Curves of the groups, with what they are of. */
const curveSection = (
  groups: readonly RunGroup[],
  drawn: readonly RunGroup[],
  label: string,
  tools: ChartTools | undefined,
): PageSection | false => {
  const charts = overlayCharts(drawn, { isLive: tools !== undefined })
  const left = `Shown are ${drawn.length} of ${groups.length} groups, those with the highest ${label}; the tables have all.`
  const about = `Lines are means over a group's runs, bands reach from the lowest run to the highest. ${drawn.length < groups.length ? left : ''}`
  return charts.length > 0 && { title: 'Curves', about, tools, blocks: [{ kind: 'charts', charts }] }
}

const SCORES_ABOUT =
  'The latest of each run: means over runs with 95% intervals over runs (Student’s t). Differences are in points, paired by seed, or by problem where a group is one run, with their 95% intervals.'

/** The page of groups. */
export const comparePage = (
  title: string,
  groups: readonly RunGroup[],
  compared: ComparedRuns,
  { tools, addressOf = () => undefined }: CompareOptions = {},
): PageView => {
  const [first] = compared.scores
  const drawn = shownGroups(groups, first?.groups.map(({ mean }) => mean) ?? [])
  const colorOf = (label: string) => {
    const at = drawn.findIndex(group => group.label === label)
    return at < 0 ? undefined : groupColor(at)
  }
  const scores = scoreTable(compared, scoreComparisons(groups, scoreNamesOf))
  return {
    title,
    facts: [['', `${plural(compared.runs, 'run')} in ${plural(groups.length, 'group')}`]],
    sections: [
      tableSection(
        'Groups',
        'Runs of a group differ in nothing but the seed.',
        groupTable(compared, colorOf),
      ),
      scores.rows.length > 0 && tableSection('Evaluations', SCORES_ABOUT, scores),
      curveSection(groups, drawn, first?.label ?? 'score', tools),
      compared.metrics.length > 0 && {
        ...{ title: 'Metrics', about: 'Means over the last tenth of the steps, then over runs.' },
        blocks: [foldBlock('All of them', metricTable(compared))],
      },
      tableSection('Settings that differ', '', settingTable(compared)),
      tableSection('Runs', '', runTable(compared, groups, addressOf)),
    ],
  }
}
