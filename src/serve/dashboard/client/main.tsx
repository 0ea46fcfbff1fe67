/** @file The page of the dashboard: a bar on top, and below it what the address asks for. */

import { render } from 'preact'
import { takeToken } from './api.ts'
import { ComparePage, WholePage } from './pages/page.tsx'
import { RunPages } from './pages/run.tsx'
import { RunsPage } from './pages/runs.tsx'
import { followLinks, type PageAddress, usePlace } from './route.tsx'

const SECTIONS: { to: string; name: string; paths: (string | undefined)[] }[] = [
  { to: '/', name: 'Runs', paths: [undefined, 'run'] },
  { to: '/compare', name: 'Compare', paths: ['compare'] },
  { to: '/experiments', name: 'Experiments', paths: ['experiments', 'experiment'] },
]

const Page = ({ place }: { place: PageAddress }) => {
  const [section, id] = place.path
  if (section === undefined) return <RunsPage place={place} />
  if (section === 'run' && id !== undefined) return <RunPages key={id} id={id} place={place} />
  if (section === 'compare') return <ComparePage place={place} />
  const { query } = place
  if (section === 'experiments') return <WholePage path="/api/experiments" query={query} what="experiments" />
  if (section === 'experiment' && id !== undefined) {
    const path = `/api/experiments/${encodeURIComponent(id)}`
    return <WholePage key={id} path={path} query={query} what="the experiment" />
  }
  return (
    <>
      <h1>Nothing here</h1>
      <p class="empty">
        There is no such page. <a href="/">All runs</a>
      </p>
    </>
  )
}

const App = () => {
  const place = usePlace()
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="row bar">
        <a href="/" class="brand">
          Gradus
        </a>
        <nav class="row" aria-label="Dashboard">
          {SECTIONS.map(({ to, name, paths }) => (
            <a key={to} href={to} aria-current={paths.includes(place.path[0]) ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main id="content">
        <Page place={place} />
      </main>
    </>
  )
}

takeToken()
followLinks()
render(<App />, document.getElementById('app')!)
