/** @file Kept rollouts of a run: filtered by the index, searched by their text, each with an address of its own. */

import { useEffect, useState } from 'preact/hooks'
import { TextTable } from '../../../../runs/report/parts/table.tsx'
import type { PageChoice } from '../../../../runs/report/view.ts'
import { number, percent } from '../../../../util/format.ts'
import type { RolloutsPage } from '../../wire.ts'
import { getJson, useJson, useThrottled } from '../api.ts'
import { Bound, Choice, Empty, type RunTabProps, Search, Waiting } from '../parts.tsx'
import { go, setQuery, useKey } from '../route.tsx'
import { LivePage } from './page.tsx'

const BOUNDS = [
  ['from', 'Steps from'],
  ['to', 'to'],
  ['min', 'Reward from'],
  ['max', 'to'],
] as const

const Filters = ({ query, choices }: { query: URLSearchParams; choices: readonly PageChoice[] }) => {
  const value = (name: string) => query.get(name) ?? ''
  const [text, setText] = useState(value('q'))
  const settled = useThrottled(text, 400)
  useEffect(() => setQuery({ q: settled }), [settled])
  const [order, ...others] = choices
  return (
    <search class="row tools">
      <Search
        label="Search in prompts, responses and reasons"
        placeholder="Search in prompts, responses, reasons   ( / )"
        value={text}
        onInput={setText}
      />
      <Choice {...order} />
      {BOUNDS.map(([name, label]) => (
        <Bound key={name} label={label} value={value(name)} onInput={typed => setQuery({ [name]: typed })} />
      ))}
      {others.map(choice => (
        <Choice key={choice.name} {...choice} />
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
  return { rows: [first, ...pages].flatMap(page => page?.table.rows ?? []), latest, load }
}

const RolloutList = ({ id, query, version }: { id: string; query: URLSearchParams; version: number }) => {
  const base = `/api/runs/${encodeURIComponent(id)}/rollouts?${query}`
  const loaded = useJson<RolloutsPage>(base, useThrottled(version, 3_000))
  const { rows, latest, load } = useMore(base, loaded.value)
  const first = loaded.value
  if (first === null || latest === null) return <Waiting loaded={loaded} what="the rollouts" />
  return (
    <>
      <Filters query={query} choices={first.choices} />
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
        <TextTable table={{ ...first.table, rows }} />
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

const OneRollout = ({ id, nth, query }: { id: string; nth: string; query: URLSearchParams }) => {
  useKey(key => {
    const to = document.querySelector(`a[aria-keyshortcuts="${CSS.escape(key)}"]`)?.getAttribute('href')
    if (to) go(to)
    return Boolean(to)
  })
  const path = `/api/runs/${encodeURIComponent(id)}/rollouts/${encodeURIComponent(nth)}`
  return <LivePage path={path} query={query} what="the rollout" />
}

export const RolloutsTab = ({ view, place: { path, query }, news }: RunTabProps) => {
  const { id } = view.run
  const nth = path[3]
  if (nth !== undefined) return <OneRollout id={id} nth={nth} query={query} />
  return <RolloutList id={id} query={query} version={news?.rollouts ?? 0} />
}
