/** @file One claim with the runs behind it: a row of dots for each arm, and the differences that were tested. */

import { dotRow } from '../../runs/report/dots.ts'
import { ClaimCard } from '../../runs/report/parts/claim.tsx'
import { ArmDots } from '../../runs/report/parts/tracks.tsx'
import { percent } from '../../util/format.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import { metricText } from '../plan/registration.ts'
import type { PaperResult } from '../results/paper.ts'
import { detailNotes, intervalText, registeredText, startsText, testNotes } from './notes.ts'
import { EffectTrack } from './tracks.tsx'
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

interface ClaimProps {
  result: PaperResult
  claim: ClaimResult
}

const Arms = ({ result, claim: { claim, runs } }: ClaimProps) => {
  const rows = [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const dots = runs.flatMap(run =>
      run.arm === arm && run.value !== null ? [{ value: run.value, start: run.start }] : [],
    )
    return dots.length > 0 ? [dotRow(arm, dots)] : []
  })
  if (rows.length === 0) return <p class="about">No finished run has this figure yet.</p>
  return (
    <ArmDots
      rows={rows}
      starts={result.registration.starts.map(({ name }) => name)}
      text={value => valueText(claim.metric, value)}
      // Runs of 0 or 1 have the same scale whatever they are.
      scale={claim.test === 'share' ? { range: [-0.05, 1.05], ends: ['no', 'yes'] } : undefined}
    />
  )
}

const byStart = ({ statistics }: ArmComparison, { claim }: ClaimResult): string => {
  if (statistics === null || Object.keys(statistics.byStart).length < 2) return ''
  const p =
    statistics.startsP === null ? '' : ` (p of a difference between them ${pText(statistics.startsP)})`
  return `By cold start: ${startsText(claim.metric, statistics)}${p}. `
}

const robustText = ({ statistics }: ArmComparison, { claim }: ClaimResult): string =>
  statistics === null
    ? ''
    : `Trimmed mean ${intervalText(claim.metric, statistics.robust.estimate, statistics.robust.interval)}. `

const itemText = ({ items, a, b }: ArmComparison): string =>
  items === null
    ? ''
    : `Item by item on ${items.items} problems: ${a} ahead on ${items.onlyA}, ${b} on ${items.onlyB}; McNemar’s p ${pText(items.p)} (these models, this set). `

interface ComparisonProps {
  comparison: ArmComparison
  claim: ClaimResult
}

const ComparisonRow = ({ comparison, claim }: ComparisonProps) => {
  const { direction, smallestEffect, metric, reference } = claim.claim
  const { statistics, status, reason } = comparison
  if (statistics === null) return null
  return (
    <>
      <div>{comparisonName(comparison, reference)}</div>
      <EffectTrack {...{ statistics, direction, smallestEffect, status }} />
      <div class="num">
        {differenceText(metric, statistics.difference)}
        <small>{statistics.interval.map(end => differenceText(metric, end)).join(' to ')}</small>
      </div>
      <div class="sub">
        {robustText(comparison, claim)}
        {testNotes(metric, comparison).map(note => `${note}. `)}
        {byStart(comparison, claim)}
        {itemText(comparison)}
        {claim.comparisons.length > 1 &&
          `p ${pText(comparison.p)}, by itself corrected ${pText(comparison.adjustedP)}; ${status}: ${reason}.`}
      </div>
    </>
  )
}

export const ClaimDetails = ({ result, claim }: ClaimProps) => {
  const { claim: planned, status, reason, atRegistration, comparisons } = claim
  return (
    <ClaimCard id={planned.id} status={status} reason={reason} statement={planned.statement}>
      {atRegistration && (
        <p class="about">
          {registeredText(claim)}: {atRegistration.reason}.
        </p>
      )}
      <p class="about">
        {plan(claim)} {planned.note}
      </p>
      <Arms result={result} claim={claim} />
      {detailNotes(claim).map(note => (
        <p class="about" key={note}>
          {note}.
        </p>
      ))}
      {comparisons.some(({ statistics }) => statistics !== null) && (
        <div class="dots-grid">
          {comparisons.map((comparison, i) => (
            <ComparisonRow comparison={comparison} claim={claim} key={`${i}-${comparison.b}`} />
          ))}
        </div>
      )}
    </ClaimCard>
  )
}
