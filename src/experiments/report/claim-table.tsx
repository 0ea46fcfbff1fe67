/** @file The table of all claims: what was claimed, what came of it, and how sure that is. */

import type { ComponentChildren } from 'preact'
import { StatusChip } from '../../runs/report/parts/claim.tsx'
import { Scroll } from '../../runs/report/parts/table.tsx'
import { percent } from '../../util/format.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import { detectableText, registeredText, startsNote } from './notes.ts'
import { EffectTrack, ShareTrack } from './tracks.tsx'
import { differenceText, pText } from './units.ts'

interface CellsProps {
  track: ComponentChildren
  effect?: string
  interval?: string
  p?: string
  detectable?: string
  n?: number
}

const Cells = ({ track, effect = '–', interval, p = '–', detectable = '–', n = 0 }: CellsProps) => (
  <>
    <td class="forest">{track}</td>
    <td class="num">
      {effect}
      {interval !== undefined && <small>{interval}</small>}
    </td>
    <td class="num">{p}</td>
    <td class="num">{detectable}</td>
    <td class="num quiet">{n}</td>
  </>
)

const comparisonCells = (claim: ClaimResult, comparison: ArmComparison) => {
  const { statistics, status } = comparison
  const { metric, direction, smallestEffect, reference } = claim.claim
  const name = comparisonName(comparison, reference)
  if (statistics === null) return <Cells track={<span class="pair-name">{name}</span>} />
  const starts = startsNote(metric, comparison)
  const track = (
    <>
      <EffectTrack {...{ statistics, direction, smallestEffect, status }} />
      <small class="pair-name">{name}</small>
      {starts !== null && <small>{starts}</small>}
    </>
  )
  return (
    <Cells
      track={track}
      effect={differenceText(metric, statistics.difference)}
      interval={statistics.interval.map(end => differenceText(metric, end)).join(' to ')}
      p={pText(comparison.p)}
      detectable={detectableText(claim, comparison)}
      n={statistics.n}
    />
  )
}

const shareCells = ({ share, claim, status }: ClaimResult) => {
  if (share === null) return <Cells track={null} />
  const track = (
    <>
      <ShareTrack statistics={share} atLeast={claim.atLeast!} status={status} />
      <small class="pair-name">share of runs, at least {percent(claim.atLeast)}</small>
    </>
  )
  const interval = share.interval.map(end => percent(end)).join(' to ')
  return <Cells track={track} effect={`${share.hits} of ${share.n}`} interval={interval} n={share.n} />
}

const FirstCells = ({ own, rows }: { own: ClaimResult; rows: number }) => (
  <>
    <th scope="rowgroup" rowspan={rows}>
      <a href={`#claim-${own.claim.id}`}>{own.claim.id}</a>
      <small>{own.claim.statement}</small>
    </th>
    <td rowspan={rows}>
      <StatusChip status={own.status} />
      {own.atRegistration && <small>{registeredText(own)}</small>}
    </td>
  </>
)

const rowsOf = (own: ClaimResult) => {
  const { comparisons, adjustedP } = own
  const rows =
    comparisons.length > 0 ? comparisons.map(each => comparisonCells(own, each)) : [shareCells(own)]
  return rows.map((cells, i) => (
    <tr class={`${i > 0 ? 'more' : ''} ${i < rows.length - 1 ? 'more-follow' : ''}`}>
      {i === 0 && <FirstCells own={own} rows={rows.length} />}
      {cells}
      {i === 0 && (
        <td class="num" rowspan={rows.length}>
          {pText(adjustedP)}
        </td>
      )}
    </tr>
  ))
}

const FIGURES = ['Effect', 'p', 'Detectable', 'Pairs', 'p, Holm']

export const ClaimTable = ({ claims }: { claims: readonly ClaimResult[] }) => (
  <div class="panel sets">
    <Scroll frame="scroll">
      <table class="claims">
        <thead>
          <tr>
            <th>Claim</th>
            <th />
            <th />
            {FIGURES.map(name => (
              <th class="num" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{claims.map(rowsOf)}</tbody>
      </table>
    </Scroll>
  </div>
)
