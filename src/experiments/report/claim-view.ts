/** @file A claim as its page shows it: what was expected, the differences that were tested, and every run behind it. */

import { COLORS } from '../../runs/report/bands.ts'
import {
  type Block,
  type FigureLine,
  type LineMark,
  panelBlock,
  statusChip,
  statusLook,
  type TableCell,
  type TableView,
  textBlock,
} from '../../runs/report/view.ts'
import { NONE, number, percent, plural } from '../../util/format.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import { isMargin } from '../analysis/analysis.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import { metricText } from '../plan/registration.ts'
import {
  detailNotes,
  detectableText,
  intervalText,
  registeredText,
  startsNote,
  startsText,
  testNotes,
} from './notes.ts'
import { differenceText, isShare, pText, sizeText, unitText, valueText } from './units.ts'

const DIRECTION_WORDS = {
  greater: 'above',
  less: 'below',
  equal: 'equal to',
  'not-above': 'not above',
  'not-below': 'not below',
} as const

const BUDGETS = {
  steps: '',
  tokens: ', at equal generated tokens',
  both: ', at equal steps and at equal generated tokens',
} as const

const planOf = ({ claim }: ClaimResult): string => {
  const { metric, direction, smallestEffect, test, equal, atLeast, note = '' } = claim
  if (test === 'share')
    return `${metricText(metric)}; expected in at least ${percent(atLeast)} of the runs. ${note}`.trim()
  const margin = isMargin(direction) ? 'margin' : 'smallest effect that matters'
  const size = `${sizeText(metric, smallestEffect)} ${unitText(metric)}`.trim()
  const budget = BUDGETS[equal === 'steps' || equal === 'tokens' ? equal : 'both']
  return `${metricText(metric)}; expected: ${DIRECTION_WORDS[direction]}${budget}; ${margin}: ${size}. ${note}`.trim()
}

/** Where values lie on a line: shares of the way from its low end to its high one. */
const scaleOf = ([low, high]: readonly [number, number]) => {
  const width = high - low || 1
  return (value: number) => (value - low) / width
}

interface Measure {
  ends: [number, number]
  value: number
  interval: readonly [number, number]
  status: string
  /** A smallest effect that is to be reached, or a margin. */
  least?: number
  zone?: readonly [number, number]
}

/** A figure with its interval: zero in the middle where it may be below it, dashed what is to be reached, shaded a margin. */
const measureMarks = ({ ends, value, interval, status, least, zone }: Measure): LineMark[] => {
  const at = scaleOf(ends)
  const between = (kind: string, [low, high]: readonly [number, number]) => ({
    ...{ class: kind, at: at(low), to: at(high) },
  })
  return [
    ...(least === undefined ? [] : [{ class: 'least', at: at(least) }]),
    ...(zone === undefined ? [] : [between('zone', zone)]),
    ...(ends[0] < 0 ? [{ class: 'zero', at: 0.5 }] : []),
    between(`span ${statusLook(status)}`, interval),
    { class: `mean ${statusLook(status)}`, at: at(value) },
  ]
}

/** A difference on a scale of its own, zero in the middle. */
const differenceMarks = (
  { direction, smallestEffect }: ClaimResult['claim'],
  { statistics, status }: ArmComparison,
): LineMark[] => {
  if (statistics === null) return []
  const { difference: value, interval } = statistics
  const reach = 1.15 * Math.max(...interval.map(Math.abs), Math.abs(value), smallestEffect, 1e-9)
  const own = { ends: [-reach, reach] as [number, number], value, interval, status }
  if (!isMargin(direction))
    return measureMarks({ ...own, least: direction === 'greater' ? smallestEffect : -smallestEffect })
  const low = direction === 'not-above' ? -reach : -smallestEffect
  return measureMarks({ ...own, zone: [low, direction === 'not-below' ? reach : smallestEffect] })
}

/** What is told of a comparison beside its figures, in full. */
const detailsOf = (claim: ClaimResult, comparison: ArmComparison): string => {
  const { metric } = claim.claim
  const { statistics, items, a, b, p, adjustedP, status, reason } = comparison
  if (statistics === null) return ''
  const { robust, byStart, startsP } = statistics
  const between = startsP === null ? '' : ` (p of a difference between them ${pText(startsP)})`
  return [
    `Trimmed mean ${intervalText(metric, robust.estimate, robust.interval)}`,
    ...testNotes(metric, comparison),
    ...(Object.keys(byStart).length < 2
      ? []
      : [`By cold start: ${startsText(metric, statistics)}${between}`]),
    ...(items === null
      ? []
      : [
          `Item by item on ${items.items} problems: ${a} ahead on ${items.onlyA}, ${b} on ${items.onlyB}; McNemar’s p ${pText(items.p)} (these models, this set)`,
        ]),
    ...(claim.comparisons.length > 1
      ? [`p ${pText(p)}, by itself corrected ${pText(adjustedP)}; ${status}: ${reason}`]
      : []),
  ]
    .map(text => `${text}.`)
    .join(' ')
}

/** A row of the table of claims after its claim and status, and the line of its card. */
interface ShownComparison extends FigureLine {
  means: string
  note: string | null
  /** Effect, p, what could be found, pairs. */
  cells: TableCell[]
}

const comparisonOf = (claim: ClaimResult, comparison: ArmComparison): ShownComparison => {
  const { statistics, p } = comparison
  const { metric, reference } = claim.claim
  const difference = (value: number) => differenceText(metric, value)
  const figure = statistics ? difference(statistics.difference) : NONE
  const notes = statistics?.interval ? [statistics.interval.map(difference).join(' to ')] : []
  return {
    ...{ name: comparisonName(comparison, reference), figure, notes },
    marks: differenceMarks(claim.claim, comparison),
    means: statistics
      ? `${valueText(metric, statistics.meanA)} / ${valueText(metric, statistics.meanB)}`
      : NONE,
    note: startsNote(metric, comparison),
    below: detailsOf(claim, comparison),
    cells: [
      { text: figure, notes },
      ...[statistics ? pText(p) : NONE, detectableText(claim, comparison), String(statistics?.n ?? 0)],
    ],
  }
}

const shareOf = ({ share, claim: { atLeast }, status }: ClaimResult): ShownComparison => {
  const figure = share ? `${share.hits} of ${share.n}` : NONE
  const notes = share ? [share.interval.map(end => percent(end)).join(' to ')] : []
  const marks =
    share === null
      ? []
      : measureMarks({ ends: [0, 1], value: share.share, interval: share.interval, status, least: atLeast! })
  return {
    ...{ name: `share of runs, at least ${percent(atLeast)}`, figure, notes, marks, means: '', note: null },
    cells: [{ text: figure, notes }, ...[NONE, NONE, String(share?.n ?? 0)]],
  }
}

const comparisonsOf = (claim: ClaimResult): ShownComparison[] =>
  claim.comparisons.length === 0 ? [shareOf(claim)] : claim.comparisons.map(each => comparisonOf(claim, each))

/** A row a comparison; what is the whole claim's stands in its first one. */
export const claimTable = (claims: readonly ClaimResult[]): TableView => ({
  class: 'claims',
  head: [
    ...['Claim', { name: 'Status', kind: 'item' }, { name: 'Comparison', kind: 'forest' }, 'Effect', 'p'],
    ...['Detectable', { name: 'Pairs', kind: 'num quiet' }, 'p, Holm'],
  ],
  rows: claims.flatMap(claim => {
    const { id, statement } = claim.claim
    const status = { ...statusChip(claim.status), notes: known(registeredText(claim)) }
    return comparisonsOf(claim).map(({ name, means, note, marks, cells }, i) => {
      const words = [[name, means].filter(text => text !== '').join(': '), ...known(note)]
      const compared = { text: '', notes: words, ...(marks.length > 0 && { marks }) }
      return i === 0
        ? {
            cells: [
              { text: id, href: `#claim-${id}`, notes: [statement] },
              ...[status, compared, ...cells, pText(claim.adjustedP)],
            ],
          }
        : { kind: 'more', cells: [{ text: id, class: 'hidden' }, '', compared, ...cells, ''] }
    })
  }),
})

const known = (text: string | null): string[] => (text === null ? [] : [text])

/** A scale on which the values of all arms fit; runs of 0 or 1 have the same one whatever they are. */
const rangeOf = (values: readonly number[], isYesNo: boolean): [number, number] => {
  if (isYesNo) return [-0.05, 1.05]
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const room = 0.06 * (high - low || Math.abs(high) || 1)
  return [low - room, high + room]
}

/** Every run of each arm as a point on one scale, with the arm's mean and its interval. @param abouts what arms are */
const runDots = (
  { claim, runs }: ClaimResult,
  starts: readonly string[],
  abouts: ReadonlyMap<string, string>,
): Block[] => {
  const done = runs.flatMap(({ value, ...run }) => (value === null ? [] : [{ ...run, value }]))
  if (done.length === 0) return [textBlock('No finished run has this figure yet.')]
  const text = isShare(claim.metric) ? percent : number
  const isYesNo = claim.test === 'share'
  const range = rangeOf(
    done.map(({ value }) => value),
    isYesNo,
  )
  const at = scaleOf(range)
  const colorOf = (start: string) => COLORS[Math.max(0, starts.indexOf(start)) % COLORS.length]
  const lines = [...new Set(done.map(({ arm }) => arm))].map((arm): FigureLine => {
    const own = done.filter(run => run.arm === arm)
    const values = own.map(({ value }) => value)
    const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'report' })
    const isMany = values.length > 1
    const dots = own.map(({ start, seed, value }) => ({
      ...{ class: 'run', at: at(value), color: colorOf(start) },
      title: `cold start ${start}, seed ${seed}: ${valueText(claim.metric, value)}`,
    }))
    return {
      ...{ name: arm, about: abouts.get(arm), figure: text(mean(values)) },
      label: `${arm}: ${plural(values.length, 'run')}, mean ${text(mean(values))}`,
      notes: isMany ? [`${text(low)} to ${text(high)}`] : [],
      marks: [
        ...(isMany ? [{ class: 'span arm', at: at(low), to: at(high) }] : []),
        ...dots,
        { class: 'average', at: at(mean(values)) },
      ],
    }
  })
  const colors = starts.map(start => [colorOf(start), `cold start ${start}`] as const)
  return [
    { kind: 'lines', lines, ends: isYesNo ? ['no', 'yes'] : [text(range[0]), text(range[1])] },
    { kind: 'key', colors: [...colors, ['ink', 'mean, with 95% interval']] },
  ]
}

/** A card with an anchor: `claim-ID`. */
export const claimCard = (
  claim: ClaimResult,
  starts: readonly string[],
  abouts: ReadonlyMap<string, string>,
): Block => {
  const { claim: planned, status, reason, atRegistration } = claim
  const lines = comparisonsOf(claim).filter(({ marks, below }) => marks.length > 0 && below)
  const named = { id: `claim-${planned.id}`, class: 'claim', title: planned.id }
  return panelBlock(
    [
      textBlock(planned.statement, 'statement'),
      atRegistration && textBlock(`${registeredText(claim)}: ${atRegistration.reason}.`),
      textBlock(planOf(claim)),
      ...runDots(claim, starts, abouts),
      ...detailNotes(claim).map(note => textBlock(`${note}.`)),
      lines.length > 0 && { kind: 'lines', lines },
    ],
    { ...named, note: reason, chip: statusChip(status) },
  )
}
