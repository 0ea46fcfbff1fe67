/** @file The pages of a run: its head, which follows it as it goes on, and below it the part that the address asks for. */

import { PageHead } from '../../../../runs/report/parts/page.tsx'
import { type PageView, runChip } from '../../../../runs/report/view.ts'
import { formatDuration, number } from '../../../../util/format.ts'
import type { LiveRun, RunSummary, RunView } from '../../wire.ts'
import { useJson, useLive, useThrottled } from '../api.ts'
import { Controls } from '../controls.tsx'
import { type RunTabProps, useTitle, Waiting } from '../parts.tsx'
import { addressOf, type PageAddress } from '../route.tsx'
import { LivePage } from './page.tsx'
import { PairsTab } from './pairs.tsx'
import { RolloutsTab } from './rollouts.tsx'
import { leftOf, StepBar } from './runs.tsx'

/** A part that the server makes. @param everyMs asks anew at most so often while the run goes on */
const served = (path: string, what: string, everyMs: number) =>
  function Served({ view, place: { query }, news }: RunTabProps) {
    const version = useThrottled(stampOf(news), everyMs)
    const address = `/api/runs/${encodeURIComponent(view.run.id)}/${path}`
    return <LivePage path={address} query={query} version={version} what={what} />
  }

const TABS = [
  { path: undefined, name: 'Curves', Show: served('curves', 'the curves', 2_000) },
  { path: 'rollouts', name: 'Rollouts', Show: RolloutsTab },
  { path: 'rubric', name: 'Rubric', Show: served('rubric', 'the rubric', 4_000) },
  { path: 'pairs', name: 'Pairs', Show: PairsTab },
  { path: 'evaluation', name: 'Evaluation', Show: served('evaluation', 'the evaluations', 3_000) },
  { path: 'judges', name: 'Judges', Show: served('judges', 'the judges', 3_000) },
  { path: 'settings', name: 'Settings', Show: served('settings', 'the settings', 60_000) },
] as const

const stampOf = (news: LiveRun | null): string =>
  news === null ? '' : `${news.run.step} ${news.run.status} ${news.evals} ${news.events} ${news.rollouts}`

const Head = ({ view, run, there }: { view: RunView; run: RunSummary; there: boolean }) => {
  const left = leftOf(run)
  const facts: PageView['facts'] = [['recipe', view.title], ...(view.facts ?? [])]
  return (
    <PageHead title={run.name} status={runChip(run.status)} facts={facts} note={there ? '' : 'not connected'}>
      <div class="stack" aria-live="polite">
        <span>
          step {number(run.step)}
          {run.steps !== null && ` of ${number(run.steps)}`}
          {left && (
            <span class="quiet">
              {' '}
              · about {left}, {formatDuration(run.stepSeconds!)} a step
            </span>
          )}
        </span>
        <StepBar run={run} />
      </div>
      {run.problem !== null && (
        <p class="panel problem" role="alert">
          {run.problem}
        </p>
      )}
    </PageHead>
  )
}

export const RunPages = ({ id, place }: { id: string; place: PageAddress }) => {
  const path = `/api/runs/${encodeURIComponent(id)}`
  const { news, there } = useLive<LiveRun>(`${path}/live`)
  const loaded = useJson<RunView>(path, useThrottled(stampOf(news), 2_000))
  const view = loaded.value
  const run = news?.run ?? view?.run
  useTitle(run?.name ?? id)
  if (view === null || run === undefined) return <Waiting loaded={loaded} what="the run" />
  const tab = TABS.find(({ path }) => path === place.path[2]) ?? TABS[0]
  return (
    <>
      <Head view={view} run={run} there={there} />
      <Controls view={view} status={run.status} />
      <nav class="row tabs" aria-label="Parts of the run">
        {TABS.map(({ path, name }) => (
          <a
            key={name}
            href={path === undefined ? addressOf('run', id) : addressOf('run', id, path)}
            aria-current={tab.path === path ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <tab.Show view={view} place={place} news={news} />
    </>
  )
}
