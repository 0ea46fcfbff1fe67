/** @file Rubrics that evolve: how many were born, kept and dropped over the steps, and the ones that lived longest. */

import { joinKnown, NONE, number, plural } from '../../util/format.ts'
import { meanKnown } from '../../util/statistics.ts'
import type { RubricRow, RubricStatus } from '../rows.ts'
import { type ChartSpec, movingMean, roundForPage, smoothingWindow } from './chart-spec.ts'
import type { PageSection, TableView } from './view.ts'

const STAGES = ['plan', 'research', 'review', 'answer']

const rubricStage = (stage: number): string => STAGES[stage - 1] ?? `stage ${stage}`

/** A rubric from its birth to the last that is known of it. */
interface RubricLifetime extends RubricStatus {
  question: string
  description: string
  since: number
  last: number
  /** Steps at which rollouts were scored on it; score and variance are means over those. */
  times: number
}

/** What changed in a step, over all of its questions. */
interface StepChanges {
  born: number
  pruned: number
  inactive: number
  refused: number
  /** Born less dropped, by stage. */
  growth: number[]
}

const changesOf = (rows: readonly RubricRow[]): Map<number, StepChanges> => {
  const steps = new Map<number, StepChanges>()
  for (const { step, rubrics, refused } of rows) {
    const own = steps.get(step) ?? { born: 0, pruned: 0, inactive: 0, refused: 0, growth: [0, 0, 0, 0] }
    steps.set(step, own)
    own.refused += refused.length
    for (const { born, fate, stage } of rubrics) {
      if (born) own.born++
      if (fate !== 'kept') own[fate]++
      own.growth[stage - 1] += Number(born === true) - Number(fate !== 'kept')
    }
  }
  return new Map([...steps].sort(([a], [b]) => a - b))
}

const CHANGES = [
  { key: 'born', label: 'added', color: 'c3' },
  { key: 'pruned', label: 'dropped: others tell more', color: 'c4' },
  { key: 'inactive', label: 'set aside: no difference', color: 'before' },
  { key: 'refused', label: 'refused', color: 'c2' },
] as const

const smoothed = (values: readonly number[]) =>
  movingMean(values, smoothingWindow(values.length)).map(roundForPage)

const runningSum = (values: readonly number[]): number[] => {
  let sum = 0
  return values.map(value => {
    sum += value
    return sum
  })
}

/** Curves over the steps; none without rubrics. */
export const rubricCharts = (rows: readonly RubricRow[]): ChartSpec[] => {
  // Where criteria come anew in every step, rows tell of refused ones alone.
  if (rows.every(({ rubrics }) => rubrics.length === 0)) return []
  const steps = changesOf(rows)
  const all = [...steps.values()]
  const drawn: Pick<ChartSpec, 'unit' | 'x'> = { unit: 'number', x: [...steps.keys()] }
  return [
    {
      ...{ id: 'rubric-changes', title: 'Born and dropped', about: 'rubrics a step', ...drawn },
      series: CHANGES.map(({ key, ...series }) => ({
        ...{ ...series, kind: 'line', values: smoothed(all.map(own => own[key])) },
      })),
    },
    {
      ...{ id: 'rubric-active', title: 'Active rubrics', about: 'of all questions, by stage', ...drawn },
      series: STAGES.map((label, k) => ({
        ...{ label, color: `c${k + 1}`, kind: 'area', values: runningSum(all.map(own => own.growth[k])) },
      })),
    },
  ]
}

/** What happened to rubrics, in a sentence or two. */
const rubricsAbout = (rows: readonly RubricRow[]): string => {
  const steps = [...changesOf(rows).values()]
  const total = (key: 'born' | 'pruned' | 'inactive') => steps.reduce((sum, own) => sum + own[key], 0)
  const questions = new Set(rows.map(({ question }) => question)).size
  const rules = new Map<string, number>()
  for (const { rule } of rows.flatMap(({ refused }) => refused)) rules.set(rule, (rules.get(rule) ?? 0) + 1)
  const reasons = [...rules].sort(([, a], [, b]) => b - a).map(([rule, count]) => `${rule} ${number(count)}`)
  const failed = rows.filter(({ generationFailure }) => generationFailure !== undefined).length
  const added = `${number(total('born'))} rubric${total('born') === 1 ? '' : 's'} added for ${plural(questions, 'question')}: ${number(total('pruned'))} dropped because others separated the rollouts better, ${number(total('inactive'))} set aside because no two rollouts differed on them.`
  return joinKnown(
    [
      rows.some(({ rubrics }) => rubrics.length > 0) && added,
      reasons.length > 0 && `Proposals refused: ${reasons.join(', ')}.`,
      failed > 0 && `Nothing could be proposed ${plural(failed, 'time')}: the judge failed.`,
    ],
    ' ',
  )
}

/**
 * Longest lifetimes first, over all questions; of equal ones those that separated rollouts best. Those that were given with a
 * question are not among them.
 */
export const rubricLifetimes = (rows: readonly RubricRow[]): RubricLifetime[] => {
  const seen = new Map<string, { question: string; seenAt: { step: number; rubric: RubricStatus }[] }>()
  const lastOf = new Map(rows.map(({ question, step }) => [question, step]))
  for (const { step, question, rubrics } of rows)
    for (const rubric of rubrics) {
      if (rubric.since === null) continue
      const key = JSON.stringify([question, rubric.id])
      const own = seen.get(key) ?? { question, seenAt: [] }
      own.seenAt.push({ step, rubric })
      seen.set(key, own)
    }
  const lifetimes = [...seen.values()].map(({ question, seenAt }): RubricLifetime => {
    const { step, rubric } = seenAt.at(-1)!
    return {
      ...{ ...rubric, question, since: rubric.since! },
      // One that stays need not be told of at every step.
      last: rubric.fate === 'kept' ? lastOf.get(question)! : step,
      description: seenAt.find(({ rubric: own }) => own.description !== undefined)?.rubric.description ?? '',
      times: seenAt.length,
      score: meanKnown(seenAt.map(({ rubric: own }) => own.score)),
      variance: meanKnown(seenAt.map(({ rubric: own }) => own.variance)),
    }
  })
  const lived = ({ since, last }: RubricLifetime) => last - since
  // Where no question comes more than twice nearly all lifetimes are equally long, and the first questions would be shown alone.
  return lifetimes.sort(
    (a, b) => lived(b) - lived(a) || b.times - a.times || (b.variance ?? -1) - (a.variance ?? -1),
  )
}

const FATES = { kept: 'in use', pruned: 'dropped', inactive: 'set aside' } as const
const SHOWN_LIFETIMES = 12

export const twoDigits = (value: number | null): string => (value === null ? NONE : value.toFixed(2))

/** What rollouts earned on rubrics, and how well these discriminate. */
const lifetimeTable = (lifetimes: readonly RubricLifetime[]): TableView => ({
  head: [
    ...['Rubric', { name: 'Stage', kind: 'item' }, 'Weight', 'Steps', 'Times scored', 'Mean score'],
    ...['Mean variance', { name: 'Now', kind: 'item' }],
  ],
  rows: lifetimes.map(({ title, description, question, stage, sign, weight, score, ...own }) => [
    { text: title, notes: [description, question] },
    { text: rubricStage(stage), notes: [sign === 'positive' ? 'merit' : 'flaw'] },
    ...[String(weight), `${own.since} – ${own.last}`, String(own.times)],
    score === null ? NONE : { text: twoDigits(score), bar: { value: score } },
    ...[twoDigits(own.variance), FATES[own.fate]],
  ]),
})

/** Null of a run whose rubrics stay as they are. */
export const rubricsSection = (rows: readonly RubricRow[]): PageSection | null => {
  if (rows.length === 0) return null
  const table = lifetimeTable(rubricLifetimes(rows).slice(0, SHOWN_LIFETIMES))
  return {
    title: 'Rubrics that evolve',
    about: rubricsAbout(rows),
    blocks: [
      { kind: 'charts', charts: rubricCharts(rows) },
      table.rows.length > 0 && { kind: 'panel', class: 'set', title: 'Longest lived', blocks: [table] },
    ],
  }
}
