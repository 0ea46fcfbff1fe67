/** @file A paper's page: every claim with effect, interval, p and status, the runs behind it, and what was cut. */

import type { ComponentChildren, VNode } from 'preact'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { StatusChip } from '../../runs/report/parts/claim.tsx'
import { Facts } from '../../runs/report/parts/facts.tsx'
import { Pairs } from '../../runs/report/parts/pairs.tsx'
import { Charts, type PageSection, Sections } from '../../runs/report/parts/section.tsx'
import { type Column, Table } from '../../runs/report/parts/table.tsx'
import { formatDuration, number, percent } from '../../util/format.ts'
import type { ControlResult } from '../analysis/controls.ts'
import { looksOf } from '../plan/blocks.ts'
import { countsOf } from '../results/counts.ts'
import type { ArmCost, PaperResult } from '../results/paper.ts'
import type { Provenance } from '../run/provenance.ts'
import { ClaimDetails } from './claim.tsx'
import { ClaimTable } from './claim-table.tsx'
import { differenceText } from './units.ts'

const Counts = ({ result }: { result: PaperResult }) => {
  const { statuses, apart } = countsOf(result)
  const all = [...statuses, { status: 'apart, not counted', count: apart.length }]
  return (
    <div class="counts">
      {all.map(({ status, count }) => count > 0 && <StatusChip status={status} count={count} key={status} />)}
    </div>
  )
}

const Header = ({ result }: { result: PaperResult }) => {
  const { registration, runs, registered } = result
  const { seeds, starts, test, summary, afterwards } = registration
  const isDone = runs.done === runs.planned
  return (
    <header>
      <div class="top">
        <h1>{registration.title}</h1>
        <span class={`status ${isDone ? 'finished' : ''}`}>
          {isDone ? 'complete' : `${runs.done} of ${runs.planned} runs`}
        </span>
      </div>
      <Facts
        facts={[
          ['cold starts', starts.length],
          ['seeds', seeds.length],
          ['steps', registration.steps],
          ['test problems', number(test.problems)],
          ['training', formatDuration(runs.seconds)],
          ['registered', registered.registeredAt.slice(0, 16).replace('T', ' ')],
          ['decision rule', result.rule],
        ]}
      />
      {[...(summary === undefined ? [] : [summary]), ...afterwards.notes].map(text => (
        <p class="lead" key={text}>
          {text}
        </p>
      ))}
      <Counts result={result} />
    </header>
  )
}

const CLAIMS_ABOUT =
  'Effects are means of paired differences (of shares: in points), one pair for each cold start and seed, with 95% bootstrap intervals, widened for few pairs and, against the start, by the start’s own sampling error; p by sign-flip permutation, then corrected by Holm over all claims of the paper and for the looks. Dashed: the smallest effect that was registered as mattering; shaded: a registered margin. Detectable is the effect that so many pairs would find four times in five as the first of all claims, or the margin that they would show. All of it is given these cold starts; where their effects differ, it is said.'

const List = ({ lines }: { lines: readonly string[] }) => (
  <ul class="cut">
    {lines.map(line => (
      <li key={line}>{line}</li>
    ))}
  </ul>
)

const apart = (result: PaperResult): PageSection | null => {
  const found = countsOf(result).apart
  if (found.length === 0) return null
  return {
    title: 'Apart, not counted',
    about:
      'Their status says less than it seems to: whatever was trained would have come out so, or half of the comparison is missing.',
    inside: (
      <>
        <ClaimTable claims={found.map(({ claim }) => claim)} />
        <List lines={found.map(({ claim, is, why }) => `${claim.claim.id}, ${is}: ${why}`)} />
      </>
    ),
  }
}

/** A table in a panel of its own. */
const panelTable = <Row,>(rows: readonly Row[], columns: readonly Column<Row>[]) => (
  <div class="panel">
    <Table frame="scroll" rows={rows} columns={columns} />
  </div>
)

const small = (text: string | null | undefined | false) => text && <small>{text}</small>

type ControlLine = ControlResult | { kind: string; reason: string }

const isPresent = (line: ControlLine): line is ControlResult => 'outcome' in line

const Outcome = ({ line }: { line: ControlLine }) =>
  isPresent(line) ? (
    <>
      <StatusChip status={line.outcome} />
      {small(line.note)}
      {small(
        line.atRegistration &&
          `${line.atRegistration.outcome} by rule ${line.atRegistration.rule}, at registration`,
      )}
    </>
  ) : (
    <>
      <StatusChip status="left out" />
      {small(line.reason)}
    </>
  )

const controls = ({ registration, controls: present, absentControls }: PaperResult): PageSection => {
  const { of, metric } = registration.controls
  const figure = (line: ControlLine, key: 'above' | 'gain') => {
    const statistics = isPresent(line) ? line[key] : null
    if (statistics === null) return null
    const interval = statistics.interval.map(end => differenceText(metric, end)).join(' to ')
    return [differenceText(metric, statistics.difference), small(interval)]
  }
  return {
    title: 'Negative controls',
    about: `What ${of} gains must come from what it is rewarded for. A control passes when ${of} is above it and it is shown not to gain on its start; it fails when it gains.`,
    inside: panelTable<ControlLine>(
      [...present, ...absentControls],
      [
        ['Control', line => [line.kind, small(isPresent(line) && line.arm)]],
        ['', line => <Outcome line={line} />],
        [`${of} − control`, line => figure(line, 'above'), 'num'],
        ['Control − its start', line => figure(line, 'gain'), 'num'],
        ['Pairs', line => (isPresent(line) ? (line.above?.n ?? 0) : ''), 'num quiet'],
      ],
    ),
  }
}

const judgeCells = ({ judgeCalls, judgeCachedShare }: ArmCost) =>
  judgeCalls === undefined
    ? null
    : [
        number(Math.round(judgeCalls)),
        small(judgeCachedShare ? `${percent(judgeCachedShare)} of the questions needed none` : null),
      ]

const arms = ({ arms: all }: PaperResult): PageSection => {
  const judged: Column<ArmCost>[] = all.some(({ judgeCalls }) => judgeCalls !== undefined)
    ? [['Judge calls', judgeCells, 'num']]
    : []
  const known = (text: (arm: ArmCost) => string) => (arm: ArmCost) => (arm.runs > 0 ? text(arm) : null)
  return {
    title: 'Arms',
    about: 'What each one took, means over its runs.',
    inside: panelTable(all, [
      ['Arm', ({ arm, summary }) => [arm, small(summary)]],
      ['Runs', ({ runs, planned }) => (runs < planned ? `${runs} of ${planned}` : runs), 'num'],
      ['Steps', known(({ steps }) => String(steps)), 'num'],
      ['Generated tokens', known(({ tokens }) => number(Math.round(tokens))), 'num'],
      ...judged,
      ['Time a run', known(({ seconds }) => formatDuration(seconds)), 'num'],
    ]),
  }
}

const cut = ({ registration, failed }: PaperResult): PageSection | null => {
  const missing = failed.map(({ id, message }) => `Run ${id} failed: ${message}`)
  const all = [...registration.cut, ...(registration.test.note ? [registration.test.note] : []), ...missing]
  return all.length === 0 ? null : { title: 'What was cut', inside: <List lines={all} /> }
}

const settingsText = ({ versions, machine, command }: Provenance): string =>
  Object.entries({ ...versions, ...machine, ...(command !== undefined && { by: command }) })
    .map(([key, value]) => `${key} ${value}`)
    .join(', ')

const origin = (result: PaperResult): PageSection => {
  const value = {
    registration: result.registration.file,
    'SHA-256': result.registration.hash,
    'decision rule': `${result.rule}; at registration ${result.registered.rule}`,
    ...(Object.keys(result.registered.versions).length > 0 && {
      'registered with': settingsText({ versions: result.registered.versions, machine: {} }),
    }),
    'trained with': result.trainedWith.map(each => `${settingsText(each)} (${each.runs} runs)`).join('; '),
    'analysed with': settingsText(result.analysedWith),
    ...(result.notes && { 'several machines': result.notes.join('; ') }),
  }
  return {
    title: 'Where this comes from',
    inside: (
      <div class="panel settings">
        <Pairs value={value} />
      </div>
    ),
  }
}

const blocks = ({ blocks: all, claims, registration }: PaperResult): PageSection | null => {
  if (all.length === 0) return null
  const chip = (statuses: PaperResult['blocks'][number]['alone']) => (_: unknown, i: number) => [
    <StatusChip status={statuses[i].status} />,
    small(statuses[i].reason),
  ]
  type ClaimColumn = Column<PaperResult['claims'][number]>
  const columns = all.flatMap(({ nth, seeds, registeredAt, alone, together }): ClaimColumn[] => {
    const block = [`Block ${nth}`, small(`${seeds.length} seeds, registered ${registeredAt.slice(0, 10)}`)]
    const look = ['Together', small(`look ${nth}`)]
    return [[block, chip(alone)], ...(nth > 1 ? [[look, chip(together)] as ClaimColumn] : [])]
  })
  return {
    title: 'Blocks of seeds',
    about: `The experiment was enlarged. What decides at each look is what all runs until then say together, with p multiplied by the ${looksOf(registration)} looks; each block alone is for reading.`,
    inside: panelTable(claims, [['Claim', ({ claim }) => claim.id], ...columns]),
  }
}

const details = (result: PaperResult): PageSection => ({
  title: 'Claim by claim',
  about: 'Every dot is a run after its last step.',
  inside: (
    <div class="details">
      {result.claims.map(claim => (
        <ClaimDetails result={result} claim={claim} key={claim.claim.id} />
      ))}
    </div>
  ),
})

interface PaperPageProps {
  result: PaperResult
  charts: readonly ChartSpec[]
  figures: readonly VNode[]
}

/** A section of charts, where there are some. */
const drawn = (title: string, about: string, count: number, inside: ComponentChildren): PageSection | null =>
  count === 0 ? null : { title, about, inside }

const CURVES_ABOUT =
  'Means over cold starts and seeds; bands are 95% intervals of the mean. Drag to zoom, double-click to go back.'

export const PaperPage = ({ result, charts, figures }: PaperPageProps) => (
  <main>
    <Header result={result} />
    <Sections
      sections={[
        { title: 'Claims', about: CLAIMS_ABOUT, inside: <ClaimTable claims={countsOf(result).counted} /> },
        apart(result),
        drawn('Curves', CURVES_ABOUT, charts.length, <Charts charts={charts} />),
        drawn('Figures', '', figures.length, <div class="charts wide">{[...figures]}</div>),
        blocks(result),
        details(result),
        controls(result),
        arms(result),
        cut(result),
        origin(result),
      ]}
    />
    <footer>
      Written by Gradus {result.analysedWith.versions.gradus}. All of it in this miniature: a CPU model says
      nothing about models a thousand times larger. Charts by uPlot (MIT).
    </footer>
  </main>
)
