/** @file Runs side by side: curves in one chart each, evaluations against the first run, settings that differ. */

import { number, percent } from '../../../../util/format.ts'
import type { CompareView } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Chart, type ChartLook } from '../chart.tsx'
import { Change, Empty, Heading, Scroll, Status, useTitle, Waiting } from '../parts.tsx'
import { addressOf, Link, type PageAddress, setQuery } from '../route.tsx'

const Runs = ({ view }: { view: CompareView }) => (
  <ol class="compared">
    {view.runs.map((run, i) => (
      <li key={run.id}>
        <i class={`swatch s${i % 8}`} aria-hidden="true" />
        <Link to={addressOf('run', run.id)}>{run.name}</Link> <Status status={run.status} />{' '}
        <span class="quiet">
          {[run.recipe, run.preset].filter(Boolean).join(' · ')} · step {number(run.step)}
        </span>
      </li>
    ))}
  </ol>
)

const Scores = ({ view }: { view: CompareView }) => (
  <Scroll>
    <table>
      <thead>
        <tr>
          <th scope="col">Evaluation</th>
          {view.runs.map(run => (
            <th scope="col" class="num" key={run.id}>
              {run.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.scores.map(row => (
          <tr key={`${row.set} ${row.score}`}>
            <th scope="row">
              {row.score}
              <small>{row.set}</small>
            </th>
            {row.runs.map((own, i) => (
              <td class="num" key={view.runs[i].id}>
                {percent(own.value)}
                {own.otherRubric && <small>another rubric</small>}
                {own.paired !== null && (
                  <small>
                    <Change difference={own.paired.difference} interval={own.paired.interval} />
                  </small>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

const Settings = ({ view }: { view: CompareView }) => (
  <Scroll>
    <table>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          {view.runs.map(run => (
            <th scope="col" key={run.id}>
              {run.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.settings.map(({ name, values }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {values.map((value, i) => (
              <td key={view.runs[i].id} class={value === null ? 'none' : 'item'}>
                {value ?? 'none'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

export const ComparePage = ({ place }: { place: PageAddress }) => {
  useTitle('Compare')
  const ids = place.query.getAll('run')
  const query = ids.map(id => `run=${encodeURIComponent(id)}`).join('&')
  const loaded = useJson<CompareView>(ids.length < 2 ? null : `/api/compare?${query}`)
  const look: ChartLook = {
    smooth: place.query.has('smooth') ? Number(place.query.get('smooth')) || 1 : null,
    log: place.query.get('log') === '1',
  }
  const view = loaded.value
  return (
    <main id="content">
      <h1>Compare</h1>
      {ids.length < 2 ? (
        <Empty>
          Choose two or more runs in <Link to="/">the table of runs</Link>.
        </Empty>
      ) : view === null ? (
        <Waiting loaded={loaded} what="the runs" />
      ) : (
        <>
          <Runs view={view} />
          {view.scores.length > 0 && (
            <section>
              <Heading
                title="Evaluations"
                about="The latest of each run; below it the difference to the first run in points, paired over the problems that both have, with its 95% interval."
              />
              <Scores view={view} />
            </section>
          )}
          <section>
            <Heading title="Settings that differ" />
            {view.settings.length === 0 ? <Empty>None.</Empty> : <Settings view={view} />}
          </section>
          <section>
            <Heading title="Curves" />
            <div class="tools sticky">
              <label>
                Smoothing{' '}
                <select
                  value={place.query.get('smooth') ?? ''}
                  onChange={event => setQuery({ smooth: event.currentTarget.value })}
                >
                  <option value="">none</option>
                  <option value="5">5 points</option>
                  <option value="15">15 points</option>
                </select>
              </label>
              <label>
                <input
                  type="checkbox"
                  checked={look.log}
                  onChange={event => setQuery({ log: event.currentTarget.checked ? '1' : null })}
                />{' '}
                Logarithmic
              </label>
            </div>
            <div class="charts narrow">
              {view.charts.map(spec => (
                <Chart key={spec.id} spec={spec} look={look} />
              ))}
            </div>
          </section>
        </>
      )}
    </main>
  )
}
