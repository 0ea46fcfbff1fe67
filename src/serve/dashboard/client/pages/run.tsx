/** @file The pages of a run: its head, which follows it as it goes on, and below it the part that the address asks for. */

import { useState } from 'preact/hooks'
import { SettingsPanel } from '../../../../runs/report/parts/run-page.tsx'
import { PageHead } from '../../../../runs/report/parts/section.tsx'
import { formatDuration, number } from '../../../../util/format.ts'
import type { LiveRun, RunSummary, RunView } from '../../wire.ts'
import { useJson, useLive, useThrottled } from '../api.ts'
import { Controls } from '../controls.tsx'
import { useTitle, Waiting } from '../parts.tsx'
import { addressOf, type PageAddress } from '../route.tsx'
import { EvaluationTab } from './evaluation.tsx'
import { JudgesTab } from './judges.tsx'
import { Overview, type RunTabProps } from './overview.tsx'
import { PairsTab } from './pairs.tsx'
import { RolloutsTab } from './rollouts.tsx'
import { RubricTab } from './rubric.tsx'
import { leftOf, StepBar } from './runs.tsx'

const TABS = [
  { path: undefined, name: 'Curves', show: Overview },
  { path: 'rollouts', name: 'Rollouts', show: RolloutsTab },
  { path: 'rubric', name: 'Rubric', show: RubricTab },
  { path: 'pairs', name: 'Pairs', show: PairsTab },
  { path: 'evaluation', name: 'Evaluation', show: EvaluationTab },
  { path: 'judges', name: 'Judges', show: JudgesTab },
  {
    path: 'settings',
    name: 'Settings',
    show: ({ view }: RunTabProps) => <SettingsPanel page={view.page} open />,
  },
] as const

const Head = ({ view, run, there }: { view: RunView; run: RunSummary; there: boolean }) => {
  const left = leftOf(run)
  const facts: RunView['page']['facts'] = [['recipe', view.page.title], ...view.page.facts]
  return (
    <PageHead title={run.name} status={run.status} facts={facts} note={there ? '' : 'not connected'}>
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
      <tab.show view={view} place={place} news={news} />
    </main>
  )
}
