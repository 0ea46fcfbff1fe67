/** @file An experiment's page: every claim with effect, interval, p and status, and the runs behind it. The same in its report and in the dashboard. */

import type { ComponentChildren } from 'preact'
import type { ChartSpec } from '../chart-spec.ts'
import type { ClaimView, ComparisonView, ExperimentPage } from '../view.ts'
import { StatusChip } from './claim.tsx'
import { Pairs } from './pairs.tsx'
import { Charts, type DrawChart, PageHead, type PageSection, Sections } from './section.tsx'
import { noted, Table, TextTable } from './table.tsx'
import { ArmDots, Lines, Track } from './tracks.tsx'

const NO_COMPARISON: ComparisonView = {
  ...{ name: '', track: null, status: '', effect: '–', interval: null, means: '', p: '–', detectable: '–' },
  ...{ n: 0, note: null, details: '' },
}

/** A row a comparison; what is the whole claim's stands in its first one. */
const ClaimTable = ({ claims }: { claims: readonly ClaimView[] }) => (
  <Table
    class="claims"
    rows={claims.flatMap(claim =>
      (claim.comparisons.length > 0 ? claim.comparisons : [NO_COMPARISON]).map((own, i) => ({
        claim,
        own,
        i,
      })),
    )}
    rowClass={({ i }) => (i > 0 ? 'more' : undefined)}
    columns={[
      [
        'Claim',
        ({ claim: { id, statement }, i }) =>
          i === 0 ? noted(<a href={`#claim-${id}`}>{id}</a>, statement) : <span class="hidden">{id}</span>,
      ],
      [
        'Status',
        ({ claim: { status, registered }, i }) =>
          i === 0 ? noted(<StatusChip status={status} />, registered?.status) : '',
      ],
      [
        'Comparison',
        ({ own }) => (
          <>
            {own.track && (
              <div class="track">
                <Track track={own.track} status={own.status} />
              </div>
            )}
            {noted('', [own.name, own.means].filter(Boolean).join(': '), own.note)}
          </>
        ),
        'forest',
      ],
      ['Effect', ({ own }) => noted(own.effect, own.interval), 'num'],
      ['p', ({ own }) => own.p, 'num'],
      ['Detectable', ({ own }) => own.detectable, 'num'],
      ['Pairs', ({ own }) => own.n, 'num quiet'],
      ['p, Holm', ({ claim, i }) => (i === 0 ? claim.adjustedP : ''), 'num'],
    ]}
  />
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

const Header = ({ page: { title, state, isDone, facts, lead, statuses } }: { page: ExperimentPage }) => (
  <PageHead title={title} status={state} look={isDone ? 'finished' : ''} facts={facts}>
    {lead.map(text => (
      <p class="lead" key={text}>
        {text}
      </p>
    ))}
    <div class="row">
      {statuses.map(
        ({ status, count }) => count > 0 && <StatusChip status={status} count={count} key={status} />,
      )}
    </div>
  </PageHead>
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
