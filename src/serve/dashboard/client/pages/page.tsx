/** @file Pages as the server makes them: with tools over curves, choices that the address has, and parts that come later. */

import { useMemo } from 'preact/hooks'
import { Blocks, type LiveParts } from '../../../../runs/report/parts/blocks.tsx'
import { PageBody, PageHead } from '../../../../runs/report/parts/page.tsx'
import { type Block, type ChartTools, type PageView, shownSections } from '../../../../runs/report/view.ts'
import { number } from '../../../../util/format.ts'
import { useJson } from '../api.ts'
import { Chart, lookOf } from '../chart.tsx'
import { Check, Choice, Empty, useTitle, Waiting } from '../parts.tsx'
import { type PageAddress, setQuery } from '../route.tsx'
import { Response } from '../tokens.tsx'

const showAll = () => setQuery({ from: null, to: null })
const zoom = (from: number, to: number) => setQuery({ from: Math.floor(from), to: Math.ceil(to) }, false)

/** How a reader wants the charts, of which the first smoothing is what happens when nothing is chosen. */
const Tools = ({ query, tools: { smoothings, steps } }: { query: URLSearchParams; tools: ChartTools }) => (
  <div class="row tools sticky">
    <Choice name="smooth" label="Smoothing" value={query.get('smooth') ?? ''} options={smoothings} />
    <Check name="log" label="Logarithmic" query={query} />
    {steps && (
      <span class="quiet">
        steps {number(steps.from)} to {number(steps.to)}
        {steps.stride > 1 && `, a point is the mean of ${steps.stride}`}
      </span>
    )}
    {steps && (steps.from > steps.first || steps.to < steps.last) && (
      <button type="button" onClick={showAll}>
        All steps
      </button>
    )}
  </div>
)

/** What comes from an address of its own. */
const Later = ({ path, what, live }: { path: string; what: string; live: LiveParts }) => {
  const loaded = useJson<Block[]>(path)
  if (loaded.value === null) return <Waiting loaded={loaded} what={what} />
  return <Blocks blocks={loaded.value} live={live} />
}

/** @param page whose curves have the look that the address says, where it has tools for that */
const livePartsOf = (page: PageView, query: URLSearchParams): LiveParts => {
  const { marks } = page
  const tools = shownSections(page).find(own => own.tools)?.tools
  const look = tools && lookOf(query)
  const zoomed = tools?.steps && { onZoom: zoom, onReset: showAll }
  const live: LiveParts = {
    draw: spec => <Chart key={spec.id} {...{ spec, look, marks, ...zoomed }} />,
    choose: choice => <Choice key={choice.name} {...choice} />,
    load: (path, what) => <Later path={path} what={what} live={live} />,
    response: row => <Response row={row} />,
    tools: own => <Tools query={query} tools={own} />,
  }
  return live
}

/** What an address asks the server for: how charts look is no matter of it. */
const askedOf = (path: string, query: URLSearchParams): string =>
  `${path}?${new URLSearchParams([...query].filter(([name]) => name !== 'smooth' && name !== 'log'))}`

interface LivePageProps {
  path: string
  query: URLSearchParams
  /** Asks again when it changes. */
  version?: unknown
  what: string
}

/** A page as the server has it, with what this one adds. */
const useLivePage = ({ path, query, version }: Omit<LivePageProps, 'what'>) => {
  const loaded = useJson<PageView>(askedOf(path, query), version)
  const page = loaded.value
  return { loaded, page, live: useMemo(() => page && livePartsOf(page, query), [page, query]) }
}

/** A page without its head, which stands on one that has it. */
export const LivePage = ({ what, ...asked }: LivePageProps) => {
  const { loaded, page, live } = useLivePage(asked)
  if (page === null || live === null) return <Waiting loaded={loaded} what={what} />
  return <PageBody page={page} live={live} />
}

/** A page of its own. */
export const WholePage = ({ what, ...asked }: LivePageProps) => {
  const { loaded, page, live } = useLivePage(asked)
  useTitle(page?.title ?? what)
  return (
    <>
      {page && <PageHead {...page} />}
      {page && live ? <PageBody page={page} live={live} /> : <Waiting loaded={loaded} what={what} />}
    </>
  )
}

export const ComparePage = ({ place: { query } }: { place: PageAddress }) => {
  useTitle('Compare')
  if (query.getAll('run').length > 1) return <WholePage path="/api/compare" query={query} what="the runs" />
  return (
    <>
      <h1>Compare</h1>
      <Empty>
        Choose two or more runs in <a href="/">the table of runs</a>.
      </Empty>
    </>
  )
}
