/** @file All runs in a table: what they are, how far, how they go; filtered, sorted, grouped, and chosen for a comparison. */

import { useState } from 'preact/hooks'
import { Bar } from '../../../../runs/report/parts/meter.tsx'
import { Table } from '../../../../runs/report/parts/table.tsx'
import { ChipOf, noted } from '../../../../runs/report/parts/words.tsx'
import { runChip } from '../../../../runs/report/view.ts'
import { formatDuration, joinKnown, NONE, number, percent, plural } from '../../../../util/format.ts'
import type { RunSummary } from '../../wire.ts'
import { useJson, useLive } from '../api.ts'
import { Spark } from '../chart.tsx'
import { Check, Choice, Empty, Search, useTitle, Waiting } from '../parts.tsx'
import { addressOf, go, type PageAddress, setQuery } from '../route.tsx'

/** Words that all have to stand somewhere in a run's line; `seed:1` asks for a field. */
const matches = (run: RunSummary, filter: string): boolean => {
  const { folder, name, recipe, preset, model, status, warnings } = run
  const settings = Object.entries(run.settings).map(([key, value]) => `${key}=${value}`)
  const text = [folder, name, recipe, preset, model, status, ...settings, ...warnings].join(' ').toLowerCase()
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
  newest: { name: 'newest', by: run => -Date.parse(run.createdAt || '1970-01-01') },
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

/** `12 min ago`. */
const ago = (iso: string | null): string => {
  if (iso === null) return NONE
  const seconds = Math.max(0, (Date.now() - Date.parse(iso)) / 1000)
  if (seconds < 60) return 'now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

const recipeOf = ({ recipe }: RunSummary): string => recipe ?? 'no recipe'

/** Time that is left of a run that goes on. */
export const leftOf = ({ status, steps, step, stepSeconds }: RunSummary): string | null =>
  status === 'running' && steps !== null && stepSeconds !== null && steps > step
    ? `${formatDuration((steps - step) * stepSeconds)} left`
    : null

/** How far it is, as a bar. */
export const StepBar = ({ run: { step, steps } }: { run: RunSummary }) => {
  if (steps === null || steps === 0) return null
  const share = Math.min(1, step / steps)
  return <Bar value={share} label={`${Math.round(share * 100)}% of the steps`} />
}

const Progress = ({ run }: { run: RunSummary }) => (
  <span class="progress-cell">
    <span>
      {number(run.step)}
      {run.steps !== null && <span class="quiet"> / {number(run.steps)}</span>}
    </span>
    <StepBar run={run} />
    {leftOf(run) && <small>{leftOf(run)}</small>}
  </span>
)

const State = ({ run: { status, warnings, problem } }: { run: RunSummary }) => (
  <>
    <ChipOf chip={runChip(status)} />
    {warnings.length > 0 && (
      <span class="chip warning" title={warnings.join('\n')}>
        {plural(warnings.length, 'warning')}
      </span>
    )}
    {problem !== null && <small class="problem">{problem.slice(0, 160)}</small>}
  </>
)

const Differing = ({ run: { settings } }: { run: RunSummary }) => (
  <>
    {Object.entries(settings).map(([name, value]) => (
      <span class="part" key={name}>
        <b>{name}</b> {value.length > 40 ? `${value.slice(0, 38)}…` : value}
      </span>
    ))}
  </>
)

interface RunTableProps {
  runs: readonly RunSummary[]
  chosen: ReadonlySet<string>
  choose(id: string): void
}

const RunTable = ({ runs, chosen, choose }: RunTableProps) => (
  <Table
    class="runs-table"
    rows={runs}
    rowClass={({ id }) => (chosen.has(id) ? 'chosen' : undefined)}
    columns={[
      [
        <span class="hidden">Choose</span>,
        ({ id, name }) => (
          <input
            type="checkbox"
            checked={chosen.has(id)}
            aria-label={`Choose ${name}`}
            onChange={() => choose(id)}
          />
        ),
        'choose',
      ],
      [
        'Run',
        ({ id, name, folder, recipe, preset }) =>
          noted(<a href={addressOf('run', id)}>{name}</a>, joinKnown([folder, recipe, preset], ' · ')),
        'head',
      ],
      ['Status', run => <State run={run} />],
      ['Steps', run => <Progress run={run} />],
      [
        'Curve',
        run => (
          <Spark values={run.spark} label={`${run.metric ?? 'no metric'}, latest ${number(run.last)}`} />
        ),
        'spark-cell',
      ],
      ['Latest', run => noted(number(run.last), run.metric), 'num'],
      ['Score', ({ score }) => noted(percent(score?.value), score?.label), 'num'],
      ['Seed', ({ seed }) => seed, 'num'],
      ['Settings that differ', run => <Differing run={run} />, 'settings-cell'],
      ['Written', run => ago(run.writtenAt), 'num', run => run.writtenAt ?? ''],
    ]}
  />
)

export const RunsPage = ({ place }: { place: PageAddress }) => {
  useTitle('Runs')
  const loaded = useJson<RunSummary[]>('/api/runs')
  const { news, there } = useLive<RunSummary[]>('/api/live')
  const runs = news ?? loaded.value
  const filter = place.query.get('filter') ?? ''
  const sort = place.query.get('sort') ?? 'newest'
  const isGrouped = place.query.get('group') === 'recipe'
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  if (runs === null) return <Waiting loaded={loaded} what="runs" />
  const shown = sorted(
    runs.filter(run => matches(run, filter)),
    sort,
  )
  const choose = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const recipes = isGrouped ? [...new Set(shown.map(recipeOf))].sort((a, b) => a.localeCompare(b)) : []
  const running = runs.filter(({ status }) => status === 'running' || status === 'paused').length
  return (
    <>
      <div class="row">
        <h1>Runs</h1>
        <span class="quiet" aria-live="polite">
          {plural(runs.length, 'run')}
          {running > 0 && `, ${running} going on`}
          {!there && ' · not connected'}
        </span>
      </div>
      <search class="row tools">
        <Search
          label="Filter runs"
          placeholder="Filter: name, recipe, setting, status:running, seed:1   ( / )"
          value={filter}
          onInput={text => setQuery({ filter: text })}
        />
        <Choice
          name="sort"
          label="Sort"
          value={sort}
          options={Object.entries(SORTS).map(([key, { name }]): [string, string] => [key, name])}
        />
        <Check name="group" on="recipe" label="Group by recipe" query={place.query} />
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
      {recipes.map(recipe => (
        <section key={recipe}>
          <h2>{recipe}</h2>
          <RunTable runs={shown.filter(run => recipeOf(run) === recipe)} chosen={chosen} choose={choose} />
        </section>
      ))}
      {!isGrouped && shown.length > 0 && <RunTable runs={shown} chosen={chosen} choose={choose} />}
    </>
  )
}
