/** @file All runs in a table: what they are, how far, how they go; filtered, sorted, grouped, and chosen for a comparison. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { Bar } from '../../../../runs/report/parts/meter.tsx'
import { formatDuration, number, percent, plural } from '../../../../util/format.ts'
import type { RunSummary } from '../../wire.ts'
import { useJson, useLive } from '../api.ts'
import { Spark } from '../chart.tsx'
import { ago, Empty, Scroll, Status, useTitle, Waiting } from '../parts.tsx'
import { addressOf, go, Link, type PageAddress, setQuery } from '../route.tsx'

/** Words that all have to stand somewhere in a run's line; `seed:1` asks for a field. */
const matches = (run: RunSummary, filter: string): boolean => {
  const settings = Object.entries(run.settings).map(([name, value]) => `${name}=${value}`)
  const text = [
    run.folder,
    run.name,
    run.recipe,
    run.preset,
    run.model,
    run.status,
    ...settings,
    ...run.warnings,
  ]
    .join(' ')
    .toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every(word => {
      const field = /^(seed|status|recipe|preset):(.+)$/.exec(word)
      if (field === null) return text.includes(word)
      return String(run[field[1] as 'seed' | 'status' | 'recipe' | 'preset'] ?? '').toLowerCase() === field[2]
    })
}

const SORTS: Record<string, { name: string; by(run: RunSummary): number | string }> = {
  newest: { name: 'newest', by: run => -Date.parse(run.createdAt ?? '1970-01-01') },
  written: { name: 'last written', by: run => -Date.parse(run.writtenAt ?? '1970-01-01') },
  name: { name: 'name', by: run => `${run.folder}/${run.name}` },
  last: { name: 'last value', by: run => -(run.last ?? Number.NEGATIVE_INFINITY) },
  score: { name: 'score', by: run => -(run.score?.value ?? Number.NEGATIVE_INFINITY) },
}

const sorted = (runs: readonly RunSummary[], sort: string): RunSummary[] => {
  const { by } = SORTS[sort] ?? SORTS.newest
  return [...runs].sort((a, b) => {
    const [x, y] = [by(a), by(b)]
    return typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y))
  })
}

const grouped = (runs: readonly RunSummary[], isGrouped: boolean): [string, RunSummary[]][] => {
  if (!isGrouped) return [['', [...runs]]]
  const groups = new Map<string, RunSummary[]>()
  for (const run of runs) {
    const recipe = run.recipe ?? 'no recipe'
    groups.set(recipe, [...(groups.get(recipe) ?? []), run])
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b))
}

const leftOf = ({ status, steps, step, stepSeconds }: RunSummary): string | null =>
  status === 'running' && steps !== null && stepSeconds !== null && steps > step
    ? `${formatDuration((steps - step) * stepSeconds)} left`
    : null

const Progress = ({ run }: { run: RunSummary }) => {
  const share = run.steps === null || run.steps === 0 ? null : run.step / run.steps
  return (
    <span class="progress-cell">
      <span>
        {number(run.step)}
        {run.steps !== null && <span class="quiet"> / {number(run.steps)}</span>}
      </span>
      {share !== null && <Bar value={share} label={`${Math.round(share * 100)}% of the steps`} />}
      {leftOf(run) && <small>{leftOf(run)}</small>}
    </span>
  )
}

const Row = ({ run, chosen, onChoose }: { run: RunSummary; chosen: boolean; onChoose(id: string): void }) => (
  <tr class={chosen ? 'chosen' : ''}>
    <td class="choose">
      <input
        type="checkbox"
        checked={chosen}
        aria-label={`Choose ${run.name}`}
        onChange={() => onChoose(run.id)}
      />
    </td>
    <th scope="row">
      <Link to={addressOf('run', run.id)}>{run.name}</Link>
      <small>{[run.folder, run.recipe, run.preset].filter(Boolean).join(' · ')}</small>
    </th>
    <td>
      <Status status={run.status} />
      {run.warnings.length > 0 && (
        <span class="chip warning" title={run.warnings.join('\n')}>
          {plural(run.warnings.length, 'warning')}
        </span>
      )}
      {run.problem !== null && <small class="problem">{run.problem.slice(0, 160)}</small>}
    </td>
    <td>
      <Progress run={run} />
    </td>
    <td class="spark-cell">
      <Spark values={run.spark} label={`${run.figure ?? 'no figure'}, latest ${number(run.last)}`} />
    </td>
    <td class="num">
      {number(run.last)}
      {run.figure !== null && <small>{run.figure}</small>}
    </td>
    <td class="num">
      {run.score === null ? '–' : percent(run.score.value)}
      {run.score !== null && <small>{run.score.words}</small>}
    </td>
    <td class="num">{run.seed ?? '–'}</td>
    <td class="settings-cell">
      {Object.entries(run.settings).map(([name, value]) => (
        <span class="part" key={name}>
          <b>{name}</b> {value.length > 40 ? `${value.slice(0, 38)}…` : value}
        </span>
      ))}
    </td>
    <td class="num" title={run.writtenAt ?? ''}>
      {ago(run.writtenAt)}
    </td>
  </tr>
)

const Head = () => (
  <thead>
    <tr>
      <th class="choose">
        <span class="hidden">Choose</span>
      </th>
      <th scope="col">Run</th>
      <th scope="col">Status</th>
      <th scope="col">Steps</th>
      <th scope="col">Curve</th>
      <th scope="col" class="num">
        Latest
      </th>
      <th scope="col" class="num">
        Score
      </th>
      <th scope="col" class="num">
        Seed
      </th>
      <th scope="col">Settings that differ</th>
      <th scope="col" class="num">
        Written
      </th>
    </tr>
  </thead>
)

/** The table as news come: all lines at first, then again when one has changed. */
const useRuns = () => {
  const loaded = useJson<RunSummary[]>('/api/runs')
  const [news, setNews] = useState<RunSummary[] | null>(null)
  const there = useLive('/api/live', { runs: (runs: RunSummary[]) => setNews(runs) })
  return { runs: news ?? loaded.value, loaded, there }
}

/** `/` leads to the filter, from wherever the page has the keyboard. */
export const useSlash = (input: { current: HTMLInputElement | null }): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inField = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as Element).tagName)
      if (event.key !== '/' || inField || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [input])
}

export const RunsPage = ({ place }: { place: PageAddress }) => {
  useTitle('Runs')
  const { runs, loaded, there } = useRuns()
  const filter = place.query.get('filter') ?? ''
  const sort = place.query.get('sort') ?? 'newest'
  const isGrouped = place.query.get('group') === 'recipe'
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const field = useRef<HTMLInputElement>(null)
  useSlash(field)
  if (runs === null) return <main id="content">{<Waiting loaded={loaded} what="runs" />}</main>
  const shown = sorted(
    runs.filter(run => matches(run, filter)),
    sort,
  )
  const choose = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const running = runs.filter(({ status }) => status === 'running' || status === 'paused').length
  return (
    <main id="content">
      <div class="top">
        <h1>Runs</h1>
        <span class="quiet" aria-live="polite">
          {plural(runs.length, 'run')}
          {running > 0 && `, ${running} going on`}
          {!there && ' · not connected'}
        </span>
      </div>
      <search class="tools">
        <input
          ref={field}
          type="search"
          placeholder="Filter: name, recipe, setting, status:running, seed:1   ( / )"
          aria-label="Filter runs"
          value={filter}
          onInput={event => setQuery({ filter: event.currentTarget.value })}
        />
        <label>
          Sort{' '}
          <select value={sort} onChange={event => setQuery({ sort: event.currentTarget.value })}>
            {Object.entries(SORTS).map(([key, { name }]) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isGrouped}
            onChange={event => setQuery({ group: event.currentTarget.checked ? 'recipe' : null })}
          />{' '}
          Group by recipe
        </label>
        <button
          type="button"
          disabled={chosen.size < 2}
          onClick={() => go(`/compare?${[...chosen].map(id => `run=${encodeURIComponent(id)}`).join('&')}`)}
        >
          Compare {chosen.size > 0 ? chosen.size : ''}
        </button>
      </search>
      {shown.length === 0 && (
        <Empty>{runs.length === 0 ? 'No run is here yet.' : 'No run is like that.'}</Empty>
      )}
      {grouped(shown, isGrouped).map(([recipe, group]) => (
        <section key={recipe}>
          {recipe !== '' && <h2>{recipe}</h2>}
          {group.length > 0 && (
            <Scroll class="panel scroll runs-table">
              <table>
                <Head />
                <tbody>
                  {group.map(run => (
                    <Row key={run.id} run={run} chosen={chosen.has(run.id)} onChoose={choose} />
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </section>
      ))}
    </main>
  )
}
