/** @file An experiment's page: every claim with effect, interval, p and status, and the runs behind it. The same in its report and in the dashboard. */

import type { ComponentChildren } from 'preact'
import type { ChartSpec } from '../chart-spec.ts'
import type { ClaimView, ComparisonView, ExperimentPage } from '../view.ts'
import { StatusChip } from './claim.tsx'
import { Facts } from './facts.tsx'
import { Pairs } from './pairs.tsx'
import { Charts, type DrawChart, type PageSection, Sections } from './section.tsx'
import { noted, Scroll, TextTable } from './table.tsx'
import { ArmDots, Lines, Track } from './tracks.tsx'

const Cells = ({ own }: { own: ComparisonView }) => (
  <>
    <td class="forest">
      {own.track && (
        <div class="track">
          <Track track={own.track} status={own.status} />
        </div>
      )}
      <small class="pair-name">{[own.name, own.means].filter(Boolean).join(': ')}</small>
      {noted('', own.note)}
    </td>
    <td class="num">{noted(own.effect, own.interval)}</td>
    <td class="num">{own.p}</td>
    <td class="num">{own.detectable}</td>
    <td class="num quiet">{own.n}</td>
  </>
)

const FirstCells = ({ claim, rows }: { claim: ClaimView; rows: number }) => (
  <>
    <th scope="rowgroup" rowspan={rows}>
      {noted(<a href={`#claim-${claim.id}`}>{claim.id}</a>, claim.statement)}
    </th>
    <td rowspan={rows}>{noted(<StatusChip status={claim.status} />, claim.registered?.status)}</td>
  </>
)

const NO_COMPARISON: ComparisonView = {
  ...{ name: '', track: null, status: '', effect: '–', interval: null, means: '', p: '–', detectable: '–' },
  ...{ n: 0, note: null, details: '' },
}

const claimRows = (claim: ClaimView) => {
  const rows = claim.comparisons.length > 0 ? claim.comparisons : [NO_COMPARISON]
  return rows.map((own, i) => (
    <tr class={`${i > 0 ? 'more' : ''} ${i < rows.length - 1 ? 'more-follow' : ''}`}>
      {i === 0 && <FirstCells claim={claim} rows={rows.length} />}
      <Cells own={own} />
      {i === 0 && (
        <td class="num" rowspan={rows.length}>
          {claim.adjustedP}
        </td>
      )}
    </tr>
  ))
}

const HEADS = ['Claim', 'Status', 'Comparison', 'Effect', 'p', 'Detectable', 'Pairs', 'p, Holm']

const ClaimTable = ({ claims }: { claims: readonly ClaimView[] }) => (
  <Scroll>
    <table class="claims">
      <thead>
        <tr>
          {HEADS.map((name, i) => (
            <th scope="col" class={i > 2 ? 'num' : undefined} key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{claims.map(claimRows)}</tbody>
    </table>
  </Scroll>
)

/** A card with an anchor: `claim-ID`. */
const ClaimCard = ({ claim }: { claim: ClaimView }) => {
  const shown = claim.comparisons.filter(({ track, details }) => track !== null && details !== '')
  return (
    <article class="panel claim" id={`claim-${claim.id}`}>
      <header class="row">
        <h3>{claim.id}</h3>
        <StatusChip status={claim.status} />
        <span class="quiet">{claim.reason}</span>
      </header>
      <p class="statement">{claim.statement}</p>
      {claim.registered && (
        <p class="about">
          {claim.registered.status}: {claim.registered.reason}.
        </p>
      )}
      {claim.plan !== '' && <p class="about">{claim.plan}</p>}
      {claim.dots && <ArmDots dots={claim.dots} />}
      {claim.plan !== '' && !claim.dots && <p class="about">No finished run has this figure yet.</p>}
      {claim.notes.map(note => (
        <p class="about" key={note}>
          {note}.
        </p>
      ))}
      {shown.length > 0 && (
        <Lines
          lines={shown.map(({ name, track, status, effect, interval, details }) => ({
            name,
            track: <Track track={track!} status={status} />,
            figure: noted(effect, interval),
            below: details,
          }))}
        />
      )}
    </article>
  )
}

const List = ({ lines }: { lines: readonly string[] }) => (
  <ul>
    {lines.map(line => (
      <li key={line}>{line}</li>
    ))}
  </ul>
)

const Header = ({ page }: { page: ExperimentPage }) => (
  <header>
    <div class="row">
      <h1>{page.title}</h1>
      {page.state !== '' && <span class={`status chip ${page.isDone ? 'finished' : ''}`}>{page.state}</span>}
    </div>
    <Facts facts={page.facts} />
    {page.lead.map(text => (
      <p class="lead" key={text}>
        {text}
      </p>
    ))}
    <div class="row">
      {page.statuses.map(
        ({ status, count }) => count > 0 && <StatusChip status={status} count={count} key={status} />,
      )}
    </div>
  </header>
)

const CLAIMS_ABOUT =
  'Effects are means of paired differences (of shares: in points), one pair for each cold start and seed, with 95% bootstrap intervals, widened for few pairs and, against the start, by the start’s own sampling error; p by sign-flip permutation, then corrected by Holm over all claims of the paper and for the looks. Dashed: the smallest effect that was registered as mattering; shaded: a registered margin. Detectable is the effect that so many pairs would find four times in five as the first of all claims, or the margin that they would show. All of it is given these cold starts; where their effects differ, it is said.'

const APART_ABOUT =
  'Their status says less than it seems to: whatever was trained would have come out so, or half of the comparison is missing.'

interface ExperimentProps {
  page: ExperimentPage
  charts: readonly ChartSpec[]
  curvesAbout: string
  draw?: DrawChart
  /** What stands where charts are not there yet. */
  waiting?: ComponentChildren
  /** Drawings that are no curves over steps. */
  figures?: readonly ComponentChildren[]
}

const sectionsOf = (props: ExperimentProps): (PageSection | false)[] => {
  const { page, charts, curvesAbout, draw, waiting, figures = [] } = props
  const { apart } = page
  return [
    page.claims.length > 0 && {
      title: 'Claims',
      about: CLAIMS_ABOUT,
      inside: <ClaimTable claims={page.claims} />,
    },
    apart.claims.length > 0 && {
      title: 'Apart, not counted',
      about: APART_ABOUT,
      inside: [<ClaimTable claims={apart.claims} />, <List lines={apart.why} />],
    },
    (charts.length > 0 || waiting !== undefined) && {
      title: 'Curves of the arms',
      about: curvesAbout,
      inside: waiting ?? <Charts charts={charts} draw={draw} />,
    },
    figures.length > 0 && { title: 'Figures', inside: <div class="charts wide">{[...figures]}</div> },
    page.claims.length + apart.claims.length > 0 && {
      title: 'Claim by claim',
      about: 'Every dot is a run after its last step.',
      inside: (
        <div class="stack">
          {[...page.claims, ...apart.claims].map(claim => (
            <ClaimCard claim={claim} key={claim.id} />
          ))}
        </div>
      ),
    },
    ...page.tables.map(({ title, about, table }) => ({
      ...{ title, about },
      inside: <TextTable table={table} />,
    })),
    page.cut.length > 0 && { title: 'What was cut', inside: <List lines={page.cut} /> },
    page.origin !== null && {
      title: 'Where this comes from',
      inside: (
        <div class="panel">
          <Pairs value={page.origin} />
        </div>
      ),
    },
  ]
}

export const ExperimentBody = (props: ExperimentProps) => (
  <>
    <Header page={props.page} />
    <Sections sections={sectionsOf(props).map(own => own || null)} />
    {props.page.document !== null && (
      <details>
        <summary>Its summary as written</summary>
        <pre class="document">{props.page.document}</pre>
      </details>
    )}
  </>
)

/** The page as a file. @param version of Gradus that wrote it */
export const ExperimentFile = ({ version, ...props }: ExperimentProps & { version: string }) => (
  <main>
    <ExperimentBody {...props} />
    <footer>
      Written by Gradus {version}. All of it in this miniature: a CPU model says nothing about models a
      thousand times larger. Charts by uPlot (MIT).
    </footer>
  </main>
)
