/** @file The curves of a run, with what monitors said marked on them; smoothing, scale and zoom are shared by all. */

import { useMemo } from 'preact/hooks'
import { Events } from '../../../../runs/report/parts/events.tsx'
import { SignCard } from '../../../../runs/report/parts/sign.tsx'
import { number, plural } from '../../../../util/format.ts'
import type { CurvesView, LightEval, Mark, RunView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Chart, type ChartLook } from '../chart.tsx'
import { Empty, Heading, Waiting } from '../parts.tsx'
import { addressOf, Link, setQuery } from '../route.tsx'
import type { RunTabProps } from '../tab.ts'

const SMOOTHINGS = [
  ['', 'as the report'],
  ['1', 'none'],
  ['5', '5 points'],
  ['15', '15 points'],
  ['51', '51 points'],
] as const

const Tools = ({ look, curves }: { look: ChartLook; curves: CurvesView }) => {
  const zoomed = curves.from > curves.first || curves.to < curves.last
  return (
    <div class="tools sticky">
      <label>
        Smoothing{' '}
        <select
          value={look.smooth === null ? '' : String(look.smooth)}
          onChange={event => setQuery({ smooth: event.currentTarget.value })}
        >
          {SMOOTHINGS.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
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
      <span class="quiet">
        steps {number(curves.from)} to {number(curves.to)}
        {curves.stride > 1 && `, a point is the mean of ${curves.stride}`}
      </span>
      {zoomed && (
        <button type="button" onClick={() => setQuery({ from: null, to: null })}>
          All steps
        </button>
      )}
    </div>
  )
}

/** What monitors said; each with its reason, what to try, and the rollouts that show it. */
const Warnings = ({ view, marks }: { view: RunView; marks: readonly Mark[] }) => (
  <section class="section-warnings">
    <Heading title="What the monitors said" />
    <div class="warnings">
      {marks.map(mark => (
        <SignCard key={`${mark.monitor}-${mark.step}`} sign={mark}>
          <p>
            {mark.rollouts > 0 && (
              <Link
                to={`${addressOf('run', view.run.id, 'rollouts')}?monitor=${mark.monitor}&from=${mark.step}&to=${mark.step}`}
              >
                {plural(mark.rollouts, 'rollout')} that {mark.rollouts === 1 ? 'shows' : 'show'} it
              </Link>
            )}{' '}
            <button
              type="button"
              class="link"
              onClick={() => setQuery({ from: Math.max(1, mark.step - 20), to: mark.step + 20 })}
            >
              Steps around it
            </button>
          </p>
        </SignCard>
      ))}
    </div>
  </section>
)

const evalText = (row: LightEval): string => {
  const score = row.scores[row.primary]
  const value = score?.value
  return `${row.set}: ${row.scoreNames?.[row.primary] ?? row.primary} ${typeof value === 'number' ? `${(value * 100).toFixed(1)}%` : '–'}`
}

const LatestEvents = ({ view: { events } }: { view: RunView }) =>
  events.length === 0 ? null : (
    <section class="panel events">
      <h2 class="small">Events</h2>
      <Events events={events.slice(-12).reverse()} />
    </section>
  )

const lookOf = (query: URLSearchParams): ChartLook => ({
  smooth: query.has('smooth') ? Math.max(1, Number(query.get('smooth')) || 1) : null,
  log: query.get('log') === '1',
})

const LatestEvals = ({ view }: { view: RunView }) => {
  const latest = new Map(view.evals.map(row => [row.set, row]))
  if (latest.size === 0) return null
  return (
    <p class="facts">
      {[...latest.values()].map(row => (
        <span key={row.set}>
          {evalText(row)} <b>step {row.step}</b>
        </span>
      ))}
    </p>
  )
}

export const Overview = ({ view, place, news }: RunTabProps) => {
  const { query } = place
  const look = lookOf(query)
  const range = ['from', 'to'].flatMap(name => (query.has(name) ? [`${name}=${query.get(name)}`] : []))
  const path = `/api/runs/${encodeURIComponent(view.run.id)}/curves?${[...range, 'points=600'].join('&')}`
  const version = useThrottled(news?.run.step ?? 0, 2_000)
  const loaded = useJson<CurvesView>(path, version)
  const curves = loaded.value
  const marks = useMemo(() => view.marks.map(({ step, title }) => ({ step, title })), [view.marks])
  if (curves === null) return <Waiting loaded={loaded} what="the curves" />
  const zoom = (from: number, to: number) => setQuery({ from: Math.floor(from), to: Math.ceil(to) }, false)
  return (
    <>
      <LatestEvals view={view} />
      {view.marks.length > 0 && <Warnings view={view} marks={view.marks} />}
      {curves.sections.length === 0 ? (
        <Empty>No step has been recorded yet.</Empty>
      ) : (
        <Tools look={look} curves={curves} />
      )}
      {curves.sections.map(section => (
        <section key={section.title}>
          <Heading title={section.title} about={section.about} />
          <div class={`charts ${section.size}`}>
            {section.charts.map((spec, i) => (
              <Chart
                key={spec.id}
                spec={spec}
                look={look}
                marks={marks}
                first={i === 0}
                onZoom={zoom}
                onReset={() => setQuery({ from: null, to: null })}
              />
            ))}
          </div>
        </section>
      ))}
      <LatestEvents view={view} />
    </>
  )
}
