/** @file Runs side by side, each held against the first. */

import { Comparison } from '../../../../runs/report/parts/compare-page.tsx'
import { Status } from '../../../../runs/report/parts/section.tsx'
import { number } from '../../../../util/format.ts'
import type { LiveComparison } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Chart, LookTools, lookOf } from '../chart.tsx'
import { Empty, useTitle, Waiting } from '../parts.tsx'
import { addressOf, type PageAddress } from '../route.tsx'

const SMOOTHINGS: [string, string][] = [
  ['', 'none'],
  ['5', '5 points'],
  ['15', '15 points'],
]

const Runs = ({ view }: { view: LiveComparison }) => (
  <ol>
    {view.summaries.map(run => (
      <li key={run.id}>
        <a href={addressOf('run', run.id)}>{run.name}</a> <Status status={run.status} />{' '}
        <span class="quiet">
          {[run.recipe, run.preset].filter(Boolean).join(' · ')} · step {number(run.step)}
        </span>
      </li>
    ))}
  </ol>
)

const Compared = ({ view, query }: { view: LiveComparison; query: URLSearchParams }) => {
  const look = lookOf(query)
  const tools = (
    <div class="row tools sticky">
      <LookTools query={query} smoothings={SMOOTHINGS} />
    </div>
  )
  return (
    <>
      <Runs view={view} />
      <Comparison view={view} draw={spec => <Chart key={spec.id} spec={spec} look={look} />} tools={tools} />
    </>
  )
}

export const ComparePage = ({ place }: { place: PageAddress }) => {
  useTitle('Compare')
  const ids = place.query.getAll('run')
  const query = ids.map(id => `run=${encodeURIComponent(id)}`).join('&')
  const loaded = useJson<LiveComparison>(ids.length < 2 ? null : `/api/compare?${query}`)
  return (
    <main id="content">
      <h1>Compare</h1>
      {ids.length < 2 ? (
        <Empty>
          Choose two or more runs in <a href="/">the table of runs</a>.
        </Empty>
      ) : loaded.value === null ? (
        <Waiting loaded={loaded} what="the runs" />
      ) : (
        <Compared view={loaded.value} query={place.query} />
      )}
    </main>
  )
}
