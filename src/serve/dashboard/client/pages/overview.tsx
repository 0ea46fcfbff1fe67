/** @file A run's page as its report has it, while it goes on: signs marked on curves; smoothing, scale and zoom are shared by all. */

import { useMemo } from 'preact/hooks'
import { RunBody } from '../../../../runs/report/parts/run-page.tsx'
import type { ShownSign } from '../../../../runs/report/view.ts'
import { number, plural } from '../../../../util/format.ts'
import type { CurvesView, LiveRun, RunView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Chart, LookTools, lookOf } from '../chart.tsx'
import { Waiting } from '../parts.tsx'
import { addressOf, type PageAddress, setQuery } from '../route.tsx'

/** What every part of a run's page is given. */
export interface RunTabProps {
  view: RunView
  place: PageAddress
  /** Changes when files of the run have grown. */
  news: LiveRun | null
}

const SMOOTHINGS: [string, string][] = [
  ['', 'as the report'],
  ['1', 'none'],
  ['5', '5 points'],
  ['15', '15 points'],
  ['51', '51 points'],
]

const Tools = ({ query, curves }: { query: URLSearchParams; curves: CurvesView }) => (
  <div class="row tools sticky">
    <LookTools query={query} smoothings={SMOOTHINGS} />
    <span class="quiet">
      steps {number(curves.from)} to {number(curves.to)}
      {curves.stride > 1 && `, a point is the mean of ${curves.stride}`}
    </span>
    {(curves.from > curves.first || curves.to < curves.last) && (
      <button type="button" onClick={showAll}>
        All steps
      </button>
    )}
  </div>
)

const showAll = () => setQuery({ from: null, to: null })
const zoom = (from: number, to: number) => setQuery({ from: Math.floor(from), to: Math.ceil(to) }, false)

/** The rollouts that show a sign, and the curves around it. */
const SignMore = ({ id, sign }: { id: string; sign: ShownSign }) => (
  <p>
    {sign.rollouts > 0 && (
      <a
        href={`${addressOf('run', id, 'rollouts')}?monitor=${sign.monitor}&from=${sign.step}&to=${sign.step}`}
      >
        {plural(sign.rollouts, 'rollout')} that {sign.rollouts === 1 ? 'shows' : 'show'} it
      </a>
    )}{' '}
    <button type="button" class="link" onClick={() => zoom(Math.max(1, sign.step - 20), sign.step + 20)}>
      Steps around it
    </button>
  </p>
)

export const Overview = ({ view, place: { query }, news }: RunTabProps) => {
  const { id } = view.run
  const range = ['from', 'to'].flatMap(name => (query.has(name) ? [`${name}=${query.get(name)}`] : []))
  const path = `/api/runs/${encodeURIComponent(id)}/curves?${[...range, 'points=600'].join('&')}`
  const loaded = useJson<CurvesView>(path, useThrottled(news?.run.step ?? 0, 2_000))
  const curves = loaded.value
  const { signs } = view.page
  const marks = useMemo(() => signs.map(({ step, title }) => ({ step, title })), [signs])
  const look = lookOf(query)
  if (curves === null) return <Waiting loaded={loaded} what="the curves" />
  return (
    <RunBody
      page={view.page}
      sections={curves.sections}
      draw={spec => (
        <Chart key={spec.id} spec={spec} look={look} marks={marks} onZoom={zoom} onReset={showAll} />
      )}
      signMore={sign => <SignMore id={id} sign={sign} />}
      tools={curves.sections.length > 0 && <Tools query={query} curves={curves} />}
    />
  )
}
