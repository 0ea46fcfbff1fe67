/** @file A claim as its page shows it: what was expected, the differences that were tested, and every run behind it. */

import { dotBlocks, measureMarks } from '../../runs/report/marks.ts'
import {
  type Block,
  type LineMark,
  statusChip,
  type TableCell,
  type TableView,
  type TrackLine,
} from '../../runs/report/view.ts'
import { joinKnown, NONE, number, percent } from '../../util/format.ts'
import { isMargin } from '../analysis/analysis.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import { equalsOf, metricText } from '../plan/registration.ts'
import {
  detailNotes,
  detectableText,
  registeredText,
  robustText,
  startsNote,
  startsText,
  testNotes,
} from './notes.ts'
import { differenceText, isShare, known, pText, sizeText, unitText, valueText } from './units.ts'

const DIRECTION_WORDS = {
  greater: 'above',
  less: 'below',
  equal: 'equal to',
  'not-above': 'not above',
  'not-below': 'not below',
} as const

const BUDGETS = {
  steps: 'at equal steps',
  tokens: 'at equal generated tokens',
  minutes: 'in equal time',
} as const

const planOf = ({ claim }: ClaimResult): string => {
  const { metric, direction, smallestEffect, test, atLeast, note = '' } = claim
  if (test === 'share')
    return `${metricText(metric)}; expected in at least ${percent(atLeast)} of the runs. ${note}`.trim()
  const margin = isMargin(direction) ? 'margin' : 'smallest effect that matters'
  const size = `${sizeText(metric, smallestEffect)} ${unitText(metric)}`.trim()
  const equals = equalsOf(claim)
  const budget = equals.join() === 'steps' ? '' : `, ${equals.map(equal => BUDGETS[equal]).join(' and ')}`
  return `${metricText(metric)}; expected: ${DIRECTION_WORDS[direction]}${budget}; ${margin}: ${size}. ${note}`.trim()
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

/** What is said of a comparison beside its values, in full. */
const detailsOf = (claim: ClaimResult, comparison: ArmComparison): string => {
  const { metric } = claim.claim
  const { statistics, items, a, b, p, adjustedP, status, reason } = comparison
  if (statistics === null) return ''
  const { byStart, startsP } = statistics
  const between = startsP === null ? '' : ` (p of a difference between them ${pText(startsP)})`
  return known(
    robustText(metric, statistics),
    ...testNotes(metric, comparison),
    Object.keys(byStart).length > 1 && `By cold start: ${startsText(metric, statistics)}${between}`,
    items &&
      `Item by item on ${items.items} problems: ${a} ahead on ${items.onlyA}, ${b} on ${items.onlyB}; McNemar’s p ${pText(items.p)} (these models, this set)`,
    claim.comparisons.length > 1 &&
      `p ${pText(p)}, by itself corrected ${pText(adjustedP)}; ${status}: ${reason}`,
  )
    .map(text => `${text}.`)
    .join(' ')
}

/** A row of the table of claims after its claim and status, and the line of its card. */
interface ShownComparison extends TrackLine {
  means: string
  note: string | null
  /** Effect, p, what could be found, pairs. */
  cells: TableCell[]
}

const comparisonOf = (claim: ClaimResult, comparison: ArmComparison): ShownComparison => {
  const { statistics, p } = comparison
  const { metric, reference } = claim.claim
  const difference = (value: number) => differenceText(metric, value)
  const value = statistics ? difference(statistics.difference) : NONE
  const notes = statistics?.interval ? [statistics.interval.map(difference).join(' to ')] : []
  return {
    ...{ name: comparisonName(comparison, reference), value, notes },
    marks: differenceMarks(claim.claim, comparison),
    means: statistics
      ? `${valueText(metric, statistics.meanA)} / ${valueText(metric, statistics.meanB)}`
      : NONE,
    note: startsNote(metric, comparison),
    below: detailsOf(claim, comparison),
    cells: [
      { text: value, notes },
      ...[statistics ? pText(p) : NONE, detectableText(claim, comparison), String(statistics?.n ?? 0)],
    ],
  }
}

const shareOf = ({ share, claim: { atLeast }, status }: ClaimResult): ShownComparison => {
  const value = share ? `${share.hits} of ${share.n}` : NONE
  const notes = share ? [share.interval.map(end => percent(end)).join(' to ')] : []
  const marks =
    share === null
      ? []
      : measureMarks({ ends: [0, 1], value: share.share, interval: share.interval, status, least: atLeast! })
  return {
    ...{ name: `share of runs, at least ${percent(atLeast)}`, value, notes, marks, means: '', note: null },
    cells: [{ text: value, notes }, ...[NONE, NONE, String(share?.n ?? 0)]],
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
      const words = [joinKnown([name, means], ': '), ...known(note)]
      const compared = { text: '', notes: words, ...(marks.length > 0 && { marks }) }
      return i === 0
        ? [
            { text: id, href: `#claim-${id}`, notes: [statement] },
            ...[status, compared, ...cells, pText(claim.adjustedP)],
          ]
        : [{ text: id, class: 'hidden', row: 'more' }, '', compared, ...cells, '']
    })
  }),
})

/** Every run of each arm as a point on one scale. @param abouts what arms are */
const runDots = (
  { claim, runs }: ClaimResult,
  starts: readonly string[],
  abouts: ReadonlyMap<string, string>,
): Block[] => {
  const done = runs.flatMap(({ value, ...run }) => (value === null ? [] : [{ ...run, value }]))
  if (done.length === 0) return ['No finished run has this metric yet.']
  const groups = [...new Set(done.map(({ arm }) => arm))].map(arm => {
    const own = done.filter(run => run.arm === arm)
    const dots = own.map(({ start, seed, value }) => ({
      ...{ value, color: Math.max(0, starts.indexOf(start)) },
      title: `cold start ${start}, seed ${seed}: ${valueText(claim.metric, value)}`,
    }))
    return { name: arm, about: abouts.get(arm), dots }
  })
  const text = isShare(claim.metric) ? percent : number
  return dotBlocks(groups, {
    colors: starts.map(start => `cold start ${start}`),
    text,
    isYesNo: claim.test === 'share',
  })
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
  return {
    kind: 'panel',
    ...named,
    note: reason,
    chip: statusChip(status),
    blocks: [
      { kind: 'text', text: planned.statement, class: 'statement' },
      atRegistration && `${registeredText(claim)}: ${atRegistration.reason}.`,
      planOf(claim),
      ...runDots(claim, starts, abouts),
      ...detailNotes(claim).map(note => `${note}.`),
      lines.length > 0 && { kind: 'lines', lines },
    ],
  }
}
