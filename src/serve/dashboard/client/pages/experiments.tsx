/** @file Experiments: claims with their status, the arms that were compared, every run of them as a point. */

import { StatusChip } from '../../../../runs/report/parts/claim.tsx'
import { ExperimentBody } from '../../../../runs/report/parts/experiment-page.tsx'
import type { ExperimentPage } from '../../../../runs/report/view.ts'
import { plural } from '../../../../util/format.ts'
import type { ArmCurvesView, ExperimentLine } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Chart } from '../chart.tsx'
import { Empty, useTitle, Waiting } from '../parts.tsx'
import { addressOf } from '../route.tsx'

export const ExperimentsPage = () => {
  useTitle('Experiments')
  const loaded = useJson<ExperimentLine[]>('/api/experiments')
  const experiments = loaded.value
  return (
    <main id="content">
      <h1>Experiments</h1>
      {experiments === null ? (
        <Waiting loaded={loaded} what="experiments" />
      ) : experiments.length === 0 ? (
        <Empty>No results of an experiment are here. gradus experiment writes them.</Empty>
      ) : (
        <div class="stack cards-list">
          {experiments.map(own => (
            <article class="panel" key={own.id}>
              <h2>
                <a href={addressOf('experiment', own.id)}>{own.title}</a>
              </h2>
              <p class="about">{own.summary}</p>
              <p class="row">
                {own.statuses.map(({ status, count }) => (
                  <StatusChip key={status} status={status} count={count} />
                ))}
              </p>
            </article>
          ))}
        </div>
      )}
    </main>
  )
}

/** Where curves come from, and how far they may be trusted. */
const curvesAbout = ({ from, runs, left }: ArmCurvesView): string => {
  const source =
    from === 'results'
      ? 'Of the runs beside the results, as in their report.'
      : `Of ${plural(runs, 'run')} in the folder of the work, as far as they are${left === null ? '' : `; ${plural(left.runs, 'run')} more are left out`}.`
  return `${source} Lines are means over cold starts and seeds; n is how many runs. Bands are 95% intervals of the mean (Student’s t over runs), none where fewer than three have a value: with few runs they are wide, and they say nothing of other tasks or starts.`
}

export const ExperimentView = ({ id }: { id: string }) => {
  const path = `/api/experiments/${encodeURIComponent(id)}`
  const loaded = useJson<ExperimentPage>(path)
  const curves = useJson<ArmCurvesView>(`${path}/curves`)
  const page = loaded.value
  useTitle(page?.title ?? id)
  return (
    <main id="content">
      {page === null ? (
        <Waiting loaded={loaded} what="the experiment" />
      ) : (
        <ExperimentBody
          page={page}
          charts={curves.value?.charts ?? []}
          curvesAbout={curves.value ? curvesAbout(curves.value) : ''}
          draw={spec => <Chart key={spec.id} spec={spec} />}
          waiting={curves.value ? undefined : <Waiting loaded={curves} what="the curves of the arms" />}
        />
      )}
    </main>
  )
}
