/** @file One claim with the runs behind it: a row of dots for each arm, and the differences that were tested. */

import { COLORS } from '../../runs/report/bands.ts'
import { type Html, html } from '../../runs/report/html.ts'
import { percent } from '../../util/format.ts'
import { type ClaimResult, type Comparison, comparisonName } from '../analysis/claims.ts'
import { metricText } from '../plan/registration.ts'
import type { PaperResult } from '../results/paper.ts'
import { registeredText, verdictChip } from './claim-table.ts'
import { detailNotes, intervalText, startsText, testNotes } from './notes.ts'
import { dotRow, dotTrack, effectTrack, sharedRange } from './tracks.ts'
import { differenceText, pText, sizeText, unitText, valueText } from './units.ts'

const DIRECTION_WORDS = {
  greater: 'above',
  less: 'below',
  equal: 'equal to',
  'not-above': 'not above',
  'not-below': 'not below',
} as const

const plan = ({ claim }: ClaimResult): string => {
  const { metric, direction, smallestEffect, test, equal, atLeast } = claim
  if (test === 'share') return `${metricText(metric)}; expected in at least ${percent(atLeast)} of the runs.`
  const margin = direction === 'greater' || direction === 'less' ? 'smallest effect that matters' : 'margin'
  const size = sizeText(metric, smallestEffect)
  const budget =
    equal === 'steps'
      ? ''
      : equal === 'tokens'
        ? ', at equal generated tokens'
        : ', at equal steps and at equal generated tokens'
  const expected = `${DIRECTION_WORDS[direction]}${budget}`
  return `${metricText(metric)}; expected: ${expected}; ${margin}: ${`${size} ${unitText(metric)}`.trim()}.`
}

const armRows = (result: PaperResult, { claim, runs }: ClaimResult): Html => {
  const starts = result.registration.starts.map(({ name }) => name)
  const colorOf = (start: string) => COLORS[starts.indexOf(start) % COLORS.length]
  const arms = [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const values = runs.flatMap(run =>
      run.arm === arm && run.value !== null ? [{ value: run.value, start: run.start }] : [],
    )
    return values.length > 0 ? [{ arm, row: dotRow(values) }] : []
  })
  if (arms.length === 0) return html`<p class="about">No finished run has this figure yet.</p>`
  // Runs of 0 or 1 have the same scale whatever they are.
  const range: [number, number] =
    claim.test === 'share' ? [-0.05, 1.05] : sharedRange(arms.map(({ row }) => row))
  const rows = arms.map(({ arm, row }) => {
    const interval = row.interval?.map(end => valueText(claim.metric, end)).join(' to ')
    return html`<div>${arm}</div>${dotTrack(row, range, colorOf)}<div class="num">${valueText(claim.metric, row.mean)}<small>${interval}</small></div>`
  })
  const shown = claim.test === 'share' ? ['no', 'yes'] : range.map(end => valueText(claim.metric, end))
  const ends = html`<div></div><div class="ends">${shown.map(end => html`<span>${end}</span>`)}</div><div></div>`
  const key = html`<div class="startkey">${starts.map(start => html`<span><i style="border-color:var(--${colorOf(start)})"></i>cold start ${start}</span>`)}<span><b></b>mean, with 95% interval</span></div>`
  return html`<div class="dots-grid">${rows}${ends}</div>${key}`
}

const byStart = ({ statistics }: Comparison, { claim }: ClaimResult): string => {
  if (statistics === null || Object.keys(statistics.byStart).length < 2) return ''
  const p =
    statistics.startsP === null ? '' : ` (p of a difference between them ${pText(statistics.startsP)})`
  return `By cold start: ${startsText(claim.metric, statistics)}${p}. `
}

const robustText = ({ statistics }: Comparison, { claim }: ClaimResult): string =>
  statistics === null
    ? ''
    : `Trimmed mean ${intervalText(claim.metric, statistics.robust.estimate, statistics.robust.interval)}. `

const itemText = ({ items, a, b }: Comparison): string =>
  items === null
    ? ''
    : `Item by item on ${items.items} problems: ${a} ahead on ${items.onlyA}, ${b} on ${items.onlyB}; McNemar’s p ${pText(items.p)} (these models, this set). `

const comparisonRows = (claim: ClaimResult): Html | null => {
  const { direction, smallestEffect, metric, reference } = claim.claim
  const rows = claim.comparisons.flatMap(comparison => {
    const { statistics, status, reason } = comparison
    if (statistics === null) return []
    return [
      html`<div>${comparisonName(comparison, reference)}</div>${effectTrack(statistics, direction, smallestEffect, status)}<div class="num">${differenceText(metric, statistics.difference)}<small>${statistics.interval.map(end => differenceText(metric, end)).join(' to ')}</small></div><div class="sub">${robustText(comparison, claim)}${testNotes(metric, comparison).map(note => `${note}. `)}${byStart(comparison, claim)}${itemText(comparison)}${claim.comparisons.length > 1 && `p ${pText(comparison.p)}, by itself corrected ${pText(comparison.adjustedP)}; ${status}: ${reason}.`}</div>`,
    ]
  })
  return rows.length > 0 ? html`<div class="dots-grid">${rows}</div>` : null
}

export const claimDetails = (result: PaperResult, claim: ClaimResult): Html =>
  html`<article class="panel claim" id="claim-${claim.claim.id}"><header><h3>${claim.claim.id}</h3>${verdictChip(claim)}<span class="quiet">${claim.reason}</span></header>${claim.atRegistration && html`<p class="about">${registeredText(claim)}: ${claim.atRegistration.reason}.</p>`}<p class="statement">${claim.claim.statement}</p><p class="about">${plan(claim)}${claim.claim.note !== undefined && html` ${claim.claim.note}`}</p>${armRows(result, claim)}${detailNotes(claim).map(note => html`<p class="about">${note}.</p>`)}${comparisonRows(claim)}</article>`
