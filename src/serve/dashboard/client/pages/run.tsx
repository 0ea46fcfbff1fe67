/** @file The pages of a run: its head, which follows it as it goes on, and below it the part that the address asks for. */

import { useState } from 'preact/hooks'
import { Facts } from '../../../../runs/report/parts/facts.tsx'
import { Bar } from '../../../../runs/report/parts/meter.tsx'
import { formatDuration, number } from '../../../../util/format.ts'
import type { LiveRun, RunSummary, RunView } from '../../wire.ts'
import { useJson, useLive, useThrottled } from '../api.ts'
import { Controls } from '../controls.tsx'
import { Status, useTitle, Waiting } from '../parts.tsx'
import { addressOf, Link, type PageAddress } from '../route.tsx'
import { EvaluationTab } from './evaluation.tsx'
import { JudgesTab } from './judges.tsx'
import { Overview } from './overview.tsx'
import { RolloutsTab } from './rollouts.tsx'
import { RubricTab } from './rubric.tsx'
import { SettingsTab } from './settings.tsx'

const TABS = [
  { path: undefined, name: 'Curves', show: Overview },
  { path: 'rollouts', name: 'Rollouts', show: RolloutsTab },
  { path: 'rubric', name: 'Rubric', show: RubricTab },
  { path: 'evaluation', name: 'Evaluation', show: EvaluationTab },
  { path: 'judges', name: 'Judges', show: JudgesTab },
  { path: 'settings', name: 'Settings', show: SettingsTab },
] as const

const timeLeft = ({ steps, step, stepSeconds, status }: RunSummary): string | null =>
  status === 'running' && steps !== null && stepSeconds !== null && steps > step
    ? `about ${formatDuration((steps - step) * stepSeconds)} left, ${formatDuration(stepSeconds)} a step`
    : null

const Head = ({ view, run, there }: { view: RunView; run: RunSummary; there: boolean }) => {
  const share = run.steps === null || run.steps === 0 ? null : Math.min(1, run.step / run.steps)
  const left = timeLeft(run)
  return (
    <header>
      <div class="top">
        <h1>{run.name}</h1>
        <Status status={run.status} />
        {!there && <span class="quiet">not connected</span>}
      </div>
      <Facts
        facts={[
          ['recipe', [run.recipe, run.preset].filter(Boolean).join(' · ')],
          ['model', run.model],
          ['seed', run.seed],
          ...view.figures.map(({ name, value }) => [name, value] as const),
        ]}
      />
      <div class="run-progress" aria-live="polite">
        <span>
          step {number(run.step)}
          {run.steps !== null && ` of ${number(run.steps)}`}
          {left && <span class="quiet"> · {left}</span>}
        </span>
        {share !== null && <Bar value={share} label={`${Math.round(share * 100)}% of the steps`} />}
      </div>
      {run.problem !== null && (
        <p class="panel problem" role="alert">
          {run.problem}
        </p>
      )}
    </header>
  )
}

export const RunPages = ({ id, place }: { id: string; place: PageAddress }) => {
  const [news, setNews] = useState<LiveRun | null>(null)
  const there = useLive(`/api/runs/${encodeURIComponent(id)}/live`, { run: (data: LiveRun) => setNews(data) })
  const stamp =
    news === null ? '' : `${news.run.step} ${news.run.status} ${news.evals} ${news.events} ${news.rollouts}`
  const version = useThrottled(stamp, 2_000)
  const loaded = useJson<RunView>(`/api/runs/${encodeURIComponent(id)}`, version)
  const view = loaded.value
  const run = news?.run ?? view?.run
  useTitle(run?.name ?? id)
  if (view === null || run === undefined)
    return (
      <main id="content">
        <Waiting loaded={loaded} what="the run" />
      </main>
    )
  const tab = TABS.find(({ path }) => path === place.path[2]) ?? TABS[0]
  return (
    <main id="content">
      <Head view={view} run={run} there={there} />
      <Controls view={view} status={run.status} />
      <nav class="tabs" aria-label="Parts of the run">
        {TABS.map(({ path, name }) => (
          <Link
            key={name}
            to={path === undefined ? addressOf('run', id) : addressOf('run', id, path)}
            current={tab.path === path}
          >
            {name}
          </Link>
        ))}
      </nav>
      <tab.show view={view} place={place} news={news} />
    </main>
  )
}
