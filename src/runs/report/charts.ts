/** @file Which curves a run has: chart descriptions as data, drawn in the page by client/chart.ts. */

import { joinKnown } from '../../util/format.ts'
import type { MetricGroup, MetricsRow, Scores } from '../rows.ts'
import { describeScore, headlineScores, scoreNamesOf, scoreValue } from '../scores.ts'
import { COLORS } from './bands.ts'
import { type ChartSeries, type ChartSpec, roundForPage, smoothingWindow } from './chart-spec.ts'
import { criterionLabel, evalsOf, type ReportData, setNames, stageNames, stepSeconds } from './data.ts'
import { HEALTH, METRIC_FAMILIES, metricOf, titleOfKey } from './known-metrics.ts'

export interface ChartSection {
  title: string
  about?: string
  size: 'wide' | 'narrow'
  charts: ChartSpec[]
}

const PLACED = new Set([
  ...HEALTH.map(known => known.key),
  ...METRIC_FAMILIES.flatMap(family => family.keys),
  ...['step', 'reward', 'rewardStd', 'criteria', 'time', 'tokens', 'rollouts'],
  ...['logprobGapMean', 'logprobGapMax', 'heldOut', 'rewardShare', 'pointShare'],
])

const STAGES: Record<string, { label: string; color: string }> = {
  sample: { label: 'sampling', color: 'c1' },
  grade: { label: 'grading', color: 'c3' },
  update: { label: 'update', color: 'c4' },
}

type Read = (row: MetricsRow) => number | null | undefined

const has = (rows: readonly MetricsRow[], read: Read): boolean =>
  rows.some(row => typeof read(row) === 'number')

/** What charts of training curves have in common. */
const overSteps = ({ metrics }: ReportData): Pick<ChartSpec, 'x' | 'smooth'> => ({
  x: metrics.map(row => row.step),
  smooth: smoothingWindow(metrics.length),
})

type Drawn = Pick<ChartSpec, 'id' | 'title' | 'unit' | 'about'> & { exact?: boolean }

/** A chart of training curves: what each is called, and its value in a row. */
const chartOf = (
  data: ReportData,
  { exact, ...drawn }: Drawn,
  curves: readonly (readonly [label: string, read: Read])[],
): ChartSpec => ({
  ...{ ...drawn, ...overSteps(data), ...(exact && { smooth: 1 }) },
  series: curves.map(([label, read], i) => ({
    ...{ label, color: COLORS[i % COLORS.length], kind: 'line' },
    values: data.metrics.map(row => roundForPage(read(row))),
  })),
})

/** A chart of one curve; none where no step has a value. */
const single = (data: ReportData, drawn: Drawn, read: Read): ChartSpec[] =>
  has(data.metrics, read) ? [chartOf(data, drawn, [[drawn.title, read]])] : []

/** A chart of one metric by its name; none where no step has a value. */
const metric = (data: ReportData, key: string, id: string): ChartSpec[] => {
  const { key: _, ...known } = metricOf(key)
  return single(data, { ...known, id }, named(key))
}

/** What a recipe records under a name. */
const named =
  (key: string): Read =>
  row =>
    row[key] as number | null | undefined

/** Training curve plus one row of points for each test set, on the union of their steps. */
const withEvals = (data: ReportData, score: string): ChartSpec[] => {
  const train = named(score)
  const sets = setNames(data).flatMap(set => {
    const rows = evalsOf(data, set).filter(row => scoreValue(row, score) !== null)
    return rows.length > 0 ? [{ set, rows }] : []
  })
  const hasTrain = has(data.metrics, train)
  if (!hasTrain && sets.length === 0) return []
  const steps = new Set(hasTrain ? data.metrics.map(row => row.step) : [])
  for (const { rows } of sets) for (const row of rows) steps.add(row.step)
  const x = [...steps].sort((a, b) => a - b)
  const align = (pairs: Map<number, number | null>) => x.map(step => pairs.get(step) ?? null)
  const values = align(new Map(data.metrics.map(row => [row.step, roundForPage(train(row))])))
  const series: ChartSeries[] = hasTrain
    ? [{ label: 'training rollouts', color: 'before', kind: 'line', values }]
    : []
  for (const [index, { set, rows }] of sets.entries()) {
    const column = (read: (scored: Scores[string]) => number | null | undefined) =>
      align(new Map(rows.map(row => [row.step, roundForPage(read(row.scores[score]))])))
    series.push({
      ...{ label: set, color: COLORS[index % COLORS.length], kind: 'points' },
      values: column(({ value }) => value),
      low: column(({ interval }) => interval?.[0]),
      high: column(({ interval }) => interval?.[1]),
    })
  }
  const title = titleOfKey(describeScore(score, data.evals))
  return [{ ...overSteps(data), id: `score-${score}`, title, unit: 'share', x, series }]
}

const groupNames = (rows: readonly MetricsRow[], key: string): string[] => [
  ...new Set(rows.flatMap(row => (isGroup(row[key]) ? Object.keys(row[key]) : []))),
]

const isGroup = (value: unknown): value is MetricGroup => value !== null && typeof value === 'object'

const inGroup =
  (key: string, name: string): Read =>
  row =>
    isGroup(row[key]) ? row[key][name] : null

const learning = (data: ReportData): ChartSpec[] => [
  ...['reward', 'heldOut'].flatMap(key => metric(data, key, key)),
  ...headlineScores(data.evals).flatMap(score => withEvals(data, score)),
]

const criteria = (data: ReportData): ChartSpec[] =>
  groupNames(data.metrics, 'criteria').flatMap(id => {
    const read = inGroup('criteria', id)
    const inRange = data.metrics.every(row => {
      const value = read(row)
      return typeof value !== 'number' || (value >= 0 && value <= 1)
    })
    const [about, own] = /^([a-z]+)\.(.+)$/.exec(id)?.slice(1) ?? []
    const title = own === undefined ? criterionLabel(data.info, id) : own
    return single(data, { id: `criterion-${id}`, title, unit: inRange ? 'share' : 'number', about }, read)
  })

/** Which criteria the reward comes from: those with the largest shares at the end, as many as there are colours. */
const rewardShares = (data: ReportData): ChartSpec[] => {
  const last = data.metrics.findLast(row => isGroup(row.rewardShare))?.rewardShare ?? {}
  const shares = (id: string) => last[id] ?? 0
  const names = groupNames(data.metrics, 'rewardShare').sort((a, b) => shares(b) - shares(a))
  if (names.length < 2) return []
  const drawn = { id: 'reward-share', title: 'Share of the reward', about: 'of points earned' }
  const curves = names
    .slice(0, COLORS.length)
    .map(id => [criterionLabel(data.info, id), inGroup('rewardShare', id)] as const)
  return [chartOf(data, { ...drawn, unit: 'share' }, curves)]
}

const logprobGap = (data: ReportData): ChartSpec[] => {
  const curves = [['mean', named('logprobGapMean')] as const, ['largest', named('logprobGapMax')] as const]
  const known = curves.filter(([, read]) => has(data.metrics, read))
  const drawn = { id: 'logprob-gap', title: 'Sampler against trainer', about: 'log-prob gap' }
  return known.length > 0 ? [chartOf(data, { ...drawn, unit: 'log' }, known)] : []
}

const health = (data: ReportData): ChartSpec[] => {
  const charts = HEALTH.flatMap(({ key }) => metric(data, key, key))
  const place = charts.findIndex(chart => chart.id === 'gradNorm')
  charts.splice(place === -1 ? charts.length : place, 0, ...logprobGap(data))
  return charts
}

/** Stages stacked; what the total holds beyond them is `rest`. */
const stageTimes = (data: ReportData): ChartSpec[] => {
  const names = stageNames(data.metrics)
  if (names.length === 0) return []
  const ordered = [...new Set([...Object.keys(STAGES), ...names])].filter(name => names.includes(name))
  const spare = ['c2', 'c5', 'c6']
  const series: ChartSeries[] = ordered.map((name, index) => ({
    label: STAGES[name]?.label ?? name,
    color: STAGES[name]?.color ?? spare[index % spare.length],
    kind: 'area',
    values: data.metrics.map(row => roundForPage(row.time?.[name] ?? 0)),
  }))
  const rest = data.metrics.map(row => {
    const timed = ordered.reduce((sum, name) => sum + (row.time?.[name] ?? 0), 0)
    return Math.max(0, stepSeconds(row) - timed)
  })
  if (rest.some(value => value > 1e-3)) {
    series.push({ label: 'rest', color: 'before', kind: 'area', values: rest.map(roundForPage) })
  }
  const x = data.metrics.map(row => row.step)
  return [{ id: 'stages', title: 'Time of a step', about: 'seconds, by stage', unit: 'seconds', x, series }]
}

const tokensPerSecond: Read = row => {
  const seconds = stepSeconds(row)
  return typeof row.tokens === 'number' && seconds > 0 ? row.tokens / seconds : null
}

const THROUGHPUT: Drawn = {
  ...{ id: 'throughput', title: 'Throughput', unit: 'number', about: 'new tokens a second, whole step' },
}

const timing = (data: ReportData): ChartSpec[] => [
  ...stageTimes(data),
  ...single(data, THROUGHPUT, tokensPerSecond),
]

/** Further scores, with their evaluations where these have them, and whatever else a recipe records. */
const others = (data: ReportData): ChartSpec[] => {
  const keys = [...new Set(data.metrics.flatMap(row => Object.keys(row)))].filter(key => !PLACED.has(key))
  const scores = scoreNamesOf(data.evals)
  const headline = headlineScores(data.evals)
  const further = keys.filter(key => scores.includes(key) && !headline.includes(key))
  return [
    ...further.flatMap(score => withEvals(data, score)),
    ...keys.filter(key => !scores.includes(key)).flatMap(key => unnamed(data, key)),
  ]
}

/** A metric, or a group of them: one curve over another, or apart where they are many. */
const unnamed = (data: ReportData, key: string): ChartSpec[] => {
  const { title, unit, about } = metricOf(key)
  const id = `metric-${key}`
  const own = metric(data, key, id)
  if (own.length > 0) return own
  const curves = groupNames(data.metrics, key).map(name => [name, inGroup(key, name)] as const)
  if (curves.length === 0) return []
  if (curves.length <= COLORS.length) return [chartOf(data, { id, title, unit, about }, curves)]
  return curves.flatMap(([name, read]) =>
    single(data, { id: `${id}-${name}`, title: `${title}: ${titleOfKey(name)}`, unit, about }, read),
  )
}

/** Whether a chart shows nothing but zeros: what it is about is off, or never happened. */
const isAllZero = ({ series }: ChartSpec): boolean =>
  series.every(({ values }) => values.every(value => value === null || value === 0))

/** Metrics that a setting, or luck, may keep at zero: charts of what was always zero are left out, and named instead. */
const maybeOff = (title: string, about: string | undefined, all: readonly ChartSpec[]): ChartSection => {
  const charts = all.filter(chart => !isAllZero(chart))
  const zero = all.filter(isAllZero).map(chart => chart.title.toLowerCase())
  const note = zero.length > 0 && `Zero all along: ${zero.join(', ')}.`
  return { title, about: joinKnown([about, note], ' '), size: 'narrow', charts }
}

/** All charts of a run, in sections; a section without charts is left out. */
export const chartSections = (data: ReportData): ChartSection[] => {
  const window = smoothingWindow(data.metrics.length)
  const how =
    window === 1
      ? undefined
      : `Thin lines are single steps, thick ones means over ${window}. Bars are 95% intervals. Drag to zoom, double-click to go back.`
  const sections: ChartSection[] = [
    { title: 'Learning', about: how, size: 'wide', charts: learning(data) },
    {
      title: 'Each criterion',
      about: 'Raw scores of the training rollouts, before weights.',
      size: 'narrow',
      charts: [...criteria(data), ...rewardShares(data)],
    },
    ...METRIC_FAMILIES.map(({ title, about, keys }) =>
      maybeOff(
        title,
        about,
        keys.flatMap(key => unnamed(data, key)),
      ),
    ),
    maybeOff('Health of the policy', undefined, health(data)),
    { title: 'Where the time went', size: 'wide', charts: timing(data) },
    maybeOff('Other metrics', undefined, others(data)),
  ]
  return sections.filter(({ charts }) => charts.length > 0)
}
