/** @file Kept rollouts of a run: filtered by the index, searched by their text, each with an address of its own. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { RolloutCard } from '../../../../runs/report/parts/rollout.tsx'
import { noted, Table } from '../../../../runs/report/parts/table.tsx'
import { number, percent } from '../../../../util/format.ts'
import type { Facets, RolloutLine, RolloutsPage, RolloutView } from '../../wire.ts'
import { getJson, useJson, useThrottled } from '../api.ts'
import { Bound, Choice, Empty, Waiting } from '../parts.tsx'
import { addressOf, go, setQuery, useKey } from '../route.tsx'
import { Response } from '../tokens.tsx'
import type { RunTabProps } from './run.tsx'
import { useSlash } from './runs.tsx'

const FILTERS = 'from to min max role monitor flag criterion verdict correct q order'.split(' ')

const BOUNDS = [
  ['from', 'Steps from'],
  ['to', 'to'],
  ['min', 'Reward from'],
  ['max', 'to'],
] as const

const any = (options: readonly string[]): [string, string][] => [
  ['', 'any'],
  ...options.map((option): [string, string] => [option, option]),
]

const Filters = ({ query, facets }: { query: URLSearchParams; facets: Facets }) => {
  const value = (name: string) => query.get(name) ?? ''
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value('q'))
  const settled = useThrottled(text, 400)
  useSlash(field)
  useEffect(() => setQuery({ q: settled }), [settled])
  const choices: [name: string, label: string, options: readonly string[]][] = [
    ['role', 'Role', facets.roles.length > 1 ? facets.roles : []],
    ['criterion', 'Criterion', facets.criteria],
    ['verdict', 'Verdict', value('criterion') === '' ? [] : ['met', 'unmet', 'none']],
    ['flag', 'Flag', facets.flags],
    ['monitor', 'Warning', facets.monitors],
  ]
  return (
    <search class="row tools">
      <input
        ref={field}
        type="search"
        aria-label="Search in prompts, responses and reasons"
        placeholder="Search in prompts, responses, reasons   ( / )"
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <Choice
        name="order"
        label="Order"
        value={value('order') || 'newest'}
        options={['newest', 'oldest', 'best', 'worst']}
      />
      {BOUNDS.map(([name, label]) => (
        <Bound key={name} label={label} value={value(name)} onInput={typed => setQuery({ [name]: typed })} />
      ))}
      {choices
        .filter(([, , options]) => options.length > 0)
        .map(([name, label, options]) => (
          <Choice key={name} name={name} label={label} value={value(name)} options={any(options)} />
        ))}
      <button
        type="button"
        onClick={() => {
          setText('')
          go(location.pathname)
        }}
      >
        Clear
      </button>
    </search>
  )
}

const Problem = ({ line, to }: { line: RolloutLine; to: string }) => (
  <>
    <a href={to}>{line.problemId || `rollout ${line.nth}`}</a>
    <small>
      {line.role}
      {line.sample !== null && ` · sample ${line.sample}`}
      {line.finish !== null && ` · ${line.finish}`}
    </small>
    {line.monitor !== null && <span class="chip warning">{line.monitor}</span>}
    {line.flags.map(flag => (
      <span class="flag" key={flag}>
        {flag}
      </span>
    ))}
  </>
)

const Lines = ({
  rows,
  addressOfLine,
}: {
  rows: readonly RolloutLine[]
  addressOfLine(nth: number): string
}) => (
  <Table
    class="rollout-table"
    rows={rows}
    columns={[
      ['Step', ({ step }) => step, 'num'],
      [
        'Reward',
        ({ reward, advantage }) => noted(<b>{number(reward)}</b>, advantage !== null && number(advantage)),
        'num',
      ],
      ['Problem', line => <Problem line={line} to={addressOfLine(line.nth)} />, 'head'],
      ['Response', ({ excerpt }) => excerpt, 'excerpt'],
    ]}
  />
)

/** A list that goes on where it ended, or where a search ran out of time. */
const useMore = (base: string, first: RolloutsPage | null) => {
  const [more, setMore] = useState<{ base: string; pages: RolloutsPage[] }>({ base, pages: [] })
  const pages = more.base === base ? more.pages : []
  const latest = pages.at(-1) ?? first
  const load = async () => {
    if (latest === null || latest.next === null) return
    const page = await getJson<RolloutsPage>(`${base}&after=${latest.next}`)
    setMore({ base, pages: [...pages, page] })
  }
  return { rows: [...(first?.rows ?? []), ...pages.flatMap(({ rows }) => rows)], latest, load }
}

export const RolloutsTab = ({ view, place, news }: RunTabProps) => {
  const id = view.run.id
  const nth = place.path[3]
  if (place.path[2] === 'rollouts' && nth !== undefined)
    return <OneRollout id={id} nth={nth} query={place.query} />
  return <RolloutList id={id} query={place.query} version={news?.rollouts ?? 0} />
}

const RolloutList = ({ id, query, version }: { id: string; query: URLSearchParams; version: number }) => {
  const asked = new URLSearchParams(
    FILTERS.flatMap(name => (query.get(name) ? [[name, query.get(name)!]] : [])),
  )
  const base = `/api/runs/${encodeURIComponent(id)}/rollouts?${asked}`
  const loaded = useJson<RolloutsPage>(base, useThrottled(version, 3_000))
  const { rows, latest, load } = useMore(base, loaded.value)
  const first = loaded.value
  if (first === null || latest === null) return <Waiting loaded={loaded} what="the rollouts" />
  return (
    <>
      <Filters query={query} facets={first.facets} />
      <p class="quiet" aria-live="polite">
        {first.progress < 1 && `Reading the file for the first time: ${percent(first.progress)}. `}
        {first.matching === null
          ? `${number(rows.length)} found in ${number(latest.searched?.seen ?? 0)} of ${number(latest.searched?.of ?? 0)} rollouts.`
          : `${number(first.matching)} of ${number(first.total)} kept rollouts.`}
        {loaded.error !== null && ` ${loaded.error}`}
      </p>
      {rows.length === 0 ? (
        <Empty>{first.total === 0 ? 'No rollout has been kept yet.' : 'No rollout is like that.'}</Empty>
      ) : (
        <Lines rows={rows} addressOfLine={nth => `${addressOf('run', id, 'rollouts', nth)}?${asked}`} />
      )}
      {latest.next !== null && (
        <p>
          <button type="button" onClick={() => void load()}>
            {latest.searched === null ? 'More' : 'Search on'}
          </button>
        </p>
      )}
    </>
  )
}

/** `j` and `k` go to the next and the one before. */
const useSteps = (to: (change: number) => string | null): void =>
  useKey(key => {
    const change = { j: 1, k: -1 }[key]
    const address = change === undefined ? null : to(change)
    if (address !== null) go(address)
    return address !== null
  })

const Card = ({ view: { row, criteria } }: { view: RolloutView }) => (
  <RolloutCard row={row} criteria={criteria} response={<Response row={row} />} />
)

const OneRollout = ({ id, nth, query }: { id: string; nth: string; query: URLSearchParams }) => {
  const path = (which: string) => `/api/runs/${encodeURIComponent(id)}/rollouts/${encodeURIComponent(which)}`
  const beside = query.get('beside')
  const loaded = useJson<RolloutView>(path(nth))
  const other = useJson<RolloutView>(beside === null ? null : path(beside))
  const view = loaded.value
  const filters = new URLSearchParams([...query].filter(([name]) => name !== 'beside'))
  const addressOfNth = (which: number) => `${addressOf('run', id, 'rollouts', which)}?${filters}`
  useSteps(change => {
    const to = Number(nth) + change
    return view === null || to < 0 || to >= view.total ? null : addressOfNth(to)
  })
  if (view === null) return <Waiting loaded={loaded} what="the rollout" />
  const others = view.group.filter(line => line.nth !== view.nth)
  return (
    <>
      <div class="row tools">
        <a href={`${addressOf('run', id, 'rollouts')}?${filters}`}>All rollouts</a>
        {view.nth > 0 && (
          <a href={addressOfNth(view.nth - 1)} title="k">
            Before
          </a>
        )}
        {view.nth + 1 < view.total && (
          <a href={addressOfNth(view.nth + 1)} title="j">
            Next
          </a>
        )}
        {others.length > 0 && (
          <Choice
            name="beside"
            label="Beside it, of the same group"
            value={beside ?? ''}
            options={[
              ['', 'none'],
              ...others.map(({ nth: at, sample, reward }): [string, string] => [
                String(at),
                `sample ${sample ?? at}, reward ${number(reward)}`,
              ]),
            ]}
          />
        )}
      </div>
      <h2>{view.row.problemId.length > 160 ? `Rollout ${view.nth}` : view.row.problemId}</h2>
      <div class={beside === null ? 'stack' : 'stack beside'}>
        <Card view={view} />
        {beside !== null && other.value !== null && <Card view={other.value} />}
      </div>
    </>
  )
}
