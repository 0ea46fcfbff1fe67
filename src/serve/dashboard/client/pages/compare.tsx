/** @file Runs side by side, each held against the first. */

import { Comparison } from '../../../../runs/report/parts/compare-page.tsx'
import type { CompareView } from '../../../../runs/report/view.ts'
import { useJson } from '../api.ts'
import { Chart, LookTools, lookOf } from '../chart.tsx'
import { Empty, useTitle, Waiting } from '../parts.tsx'
import type { PageAddress } from '../route.tsx'

const SMOOTHINGS: [string, string][] = [
  ['', 'none'],
  ['5', '5 points'],
  ['15', '15 points'],
]

const Compared = ({ view, query }: { view: CompareView; query: URLSearchParams }) => {
  const look = lookOf(query)
  const tools = (
    <div class="row tools sticky">
      <LookTools query={query} smoothings={SMOOTHINGS} />
    </div>
  )
  return (
    <Comparison view={view} draw={spec => <Chart key={spec.id} spec={spec} look={look} />} tools={tools} />
  )
}

export const ComparePage = ({ place }: { place: PageAddress }) => {
  useTitle('Compare')
  const ids = place.query.getAll('run')
  const query = ids.map(id => `run=${encodeURIComponent(id)}`).join('&')
  const loaded = useJson<CompareView>(ids.length < 2 ? null : `/api/compare?${query}`)
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
