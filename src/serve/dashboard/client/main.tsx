/** @file The page of the dashboard: a bar on top, and below it what the address asks for. */

import 'uplot/dist/uPlot.min.css'
import './style.css'
import { render } from 'preact'
import { RunPages } from './pages/run.tsx'
import { RunsPage } from './pages/runs.tsx'
import { Link, type Place, usePlace } from './route.tsx'
import { takeToken } from './token.ts'

const SECTIONS = [{ to: '/', name: 'Runs', paths: [undefined, 'run'] }]

const Page = ({ place }: { place: Place }) => {
  const [section, id] = place.path
  if (section === undefined) return <RunsPage place={place} />
  if (section === 'run' && id !== undefined) return <RunPages key={id} id={id} place={place} />
  return (
    <main id="content">
      <h1>Nothing here</h1>
      <p class="empty">
        There is no such page. <Link to="/">All runs</Link>
      </p>
    </main>
  )
}

const App = () => {
  const place = usePlace()
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar">
        <Link to="/" class="brand">
          Gradus
        </Link>
        <nav aria-label="Dashboard">
          {SECTIONS.map(({ to, name, paths }) => (
            <Link key={to} to={to} current={(paths as (string | undefined)[]).includes(place.path[0])}>
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <Page place={place} />
    </>
  )
}

takeToken()
render(<App />, document.getElementById('app')!)
