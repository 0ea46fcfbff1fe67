/** @file The table of all claims: what was claimed, what came of it, and how sure that is. */

import { type Html, html, part } from '../../runs/report/html.ts'
import { StatusChip } from '../../runs/report/parts/claim.tsx'
import { percent } from '../../util/format.ts'
import { type ArmComparison, type ClaimResult, comparisonName, detectableOf } from '../analysis/claims.ts'
import { startsNote } from './notes.ts'
import { EffectTrack, ShareTrack } from './tracks.tsx'
import { differenceText, pText, sizeText } from './units.ts'

/** `not reproduced by rule 1, at registration`; null where the rule is still the same. */
export const registeredText = ({ atRegistration }: Pick<ClaimResult, 'atRegistration'>): string | null =>
  atRegistration && `${atRegistration.status} by rule ${atRegistration.rule}, at registration`

/** `none`: not with so many pairs. */
export const detectableText = ({ claim }: Pick<ClaimResult, 'claim'>, comparison: ArmComparison): string => {
  const found = detectableOf(claim, comparison)
  if (found === null) return '–'
  return found.effect === null ? 'none' : sizeText(claim.metric, found.effect)
}

const firstCells = (claim: ClaimResult, rows: number): Html =>
  html`<th scope="rowgroup" rowspan="${rows}"><a href="#claim-${claim.claim.id}">${claim.claim.id}</a><small>${claim.claim.statement}</small></th><td rowspan="${rows}">${part(StatusChip, { status: claim.status })}${claim.atRegistration && html`<small>${registeredText(claim)}</small>`}</td>`

const comparisonCells = (claim: ClaimResult, comparison: ArmComparison): Html => {
  const { statistics, status } = comparison
  const { metric, direction, smallestEffect, reference } = claim.claim
  const name = comparisonName(comparison, reference)
  if (statistics === null)
    return html`<td class="forest"><span class="pair-name">${name}</span></td><td class="num">–</td><td class="num">–</td><td class="num">–</td><td class="num quiet">0</td>`
  const interval = statistics.interval.map(end => differenceText(metric, end)).join(' to ')
  const starts = startsNote(metric, comparison)
  return html`<td class="forest">${part(EffectTrack, { statistics, direction, smallestEffect, status })}<small class="pair-name">${name}</small>${starts !== null && html`<small>${starts}</small>`}</td><td class="num">${differenceText(metric, statistics.difference)}<small>${interval}</small></td><td class="num">${pText(comparison.p)}</td><td class="num">${detectableText(claim, comparison)}</td><td class="num quiet">${statistics.n}</td>`
}

const shareCells = ({ share, claim, status }: ClaimResult): Html => {
  if (share === null)
    return html`<td class="forest"></td><td class="num">–</td><td class="num">–</td><td class="num">–</td><td class="num quiet">0</td>`
  const interval = share.interval.map(end => percent(end)).join(' to ')
  return html`<td class="forest">${part(ShareTrack, { statistics: share, atLeast: claim.atLeast!, status })}<small class="pair-name">share of runs, at least ${percent(claim.atLeast)}</small></td><td class="num">${share.hits} of ${share.n}<small>${interval}</small></td><td class="num">–</td><td class="num">–</td><td class="num quiet">${share.n}</td>`
}

const rowsOf = (claim: ClaimResult): Html[] => {
  const { comparisons, adjustedP } = claim
  const rows =
    comparisons.length > 0 ? comparisons.map(each => comparisonCells(claim, each)) : [shareCells(claim)]
  return rows.map((cells, i) => {
    const kind = i < rows.length - 1 ? 'more-follow' : ''
    if (i > 0) return html`<tr class="more ${kind}">${cells}</tr>`
    return html`<tr class="${kind}">${firstCells(claim, rows.length)}${cells}<td class="num" rowspan="${rows.length}">${pText(adjustedP)}</td></tr>`
  })
}

export const claimTable = (claims: readonly ClaimResult[]): Html =>
  html`<div class="scroll"><table class="claims"><thead><tr><th>Claim</th><th></th><th></th><th class="num">Effect</th><th class="num">p</th><th class="num">Detectable</th><th class="num">Pairs</th><th class="num">p, Holm</th></tr></thead><tbody>${claims.flatMap(rowsOf)}</tbody></table></div>`
