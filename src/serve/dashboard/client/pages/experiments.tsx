/** @file Experiments: claims with their status, the arms that were compared, every run of them as a point. */

import { type Dot, dotRow } from '../../../../runs/report/dots.ts'
import { ClaimCard, StatusChip } from '../../../../runs/report/parts/claim.tsx'
import { Facts } from '../../../../runs/report/parts/facts.tsx'
import { Charts, Heading } from '../../../../runs/report/parts/section.tsx'
import { Table } from '../../../../runs/report/parts/table.tsx'
import { ArmDots } from '../../../../runs/report/parts/tracks.tsx'
import { number, percent, plural } from '../../../../util/format.ts'
import type { ArmCurvesView, ClaimView, ExperimentLine, ExperimentView } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Chart } from '../chart.tsx'
import { Change, Empty, useTitle, Waiting } from '../parts.tsx'
import { addressOf, Link } from '../route.tsx'

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
        <div class="cards-list">
          {experiments.map(own => (
            <article class="panel" key={own.id}>
              <h2>
                <Link to={addressOf('experiment', own.id)}>{own.title ?? own.name}</Link>
              </h2>
              <p class="about">{own.summary}</p>
              <p class="statuses">
                {Object.entries(own.statuses).map(([status, count]) => (
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

/** A value in the claim's unit. */
const valueText = (value: number | null, unit: string | null): string =>
  unit === 'share' ? percent(value) : number(value)

/** Every run of an arm as a point on one line. */
const Arms = ({ claim: { runs, arms, unit } }: { claim: ClaimView }) => {
  const dotsOf = (arm: string) =>
    runs.flatMap(({ arm: own, value, seed, start }): Dot[] => {
      if (own !== arm || value === null) return []
      const title = `cold start ${start ?? '–'}, seed ${seed ?? '–'}: ${valueText(value, unit)}`
      return [{ value, start: start ?? '–', title }]
    })
  const rows = [...new Set(runs.map(({ arm }) => arm))].flatMap(arm => {
    const dots = dotsOf(arm)
    const about = arms.find(each => each.arm === arm)?.summary
    return dots.length === 0 ? [] : [dotRow(arm, dots, about ?? undefined)]
  })
  if (rows.length === 0) return null
  const starts = [...new Set(runs.map(({ start }) => start ?? '–'))].sort()
  return <ArmDots rows={rows} starts={starts} text={value => valueText(value, unit)} />
}

const Comparisons = ({ claim }: { claim: ClaimView }) => {
  const known = claim.comparisons.filter(({ difference }) => difference !== null)
  if (known.length === 0) return null
  return (
    <Table
      frame="scroll"
      rows={known}
      columns={[
        ['Arms', ({ a, b }) => `${a} − ${b ?? 'a fixed value'}`],
        [
          'Means',
          ({ meanA, meanB }) => `${valueText(meanA, claim.unit)} / ${valueText(meanB, claim.unit)}`,
          'num',
        ],
        [
          'Difference',
          ({ difference, interval }) => (
            <Change
              {...{ difference: difference!, interval, unit: claim.unit === 'share' ? 'points' : 'number' }}
            />
          ),
          'num',
        ],
        ['Pairs', ({ n }) => number(n), 'num'],
        ['p', ({ p }) => p?.toFixed(4) ?? null, 'num'],
        ['Status', ({ status }) => status],
      ]}
    />
  )
}

const Claim = ({ claim }: { claim: ClaimView }) => (
  <ClaimCard id={claim.id} status={claim.status} reason={claim.reason} statement={claim.statement}>
    {claim.adjustedP !== null && <p class="quiet">p {claim.adjustedP.toFixed(4)} (Holm)</p>}
    <Comparisons claim={claim} />
    <Arms claim={claim} />
  </ClaimCard>
)

/** Where curves come from, and how far they may be trusted. */
const curvesAbout = ({ from, runs, left }: ArmCurvesView): string => {
  const source =
    from === 'results'
      ? 'Of the runs beside the results, as in their report.'
      : `Of ${plural(runs, 'run')} in the folder of the work, as far as they are${left === null ? '' : `; ${plural(left.runs, 'run')} more are left out`}.`
  return `${source} Lines are means over cold starts and seeds; n is how many runs. Bands are 95% intervals of the mean (Student’s t over runs), none where fewer than three have a value: with few runs they are wide, and they say nothing of other tasks or starts.`
}

const Curves = ({ id }: { id: string }) => {
  const loaded = useJson<ArmCurvesView>(`/api/experiments/${encodeURIComponent(id)}/curves`)
  const view = loaded.value
  if (view === null) return <Waiting loaded={loaded} what="the curves of the arms" />
  if (view.charts.length === 0) return null
  return (
    <section>
      <Heading title="Curves of the arms" about={curvesAbout(view)} />
      <Charts charts={view.charts} draw={spec => <Chart key={spec.id} spec={spec} />} />
    </section>
  )
}

const Registration = ({ view: { runs, registration } }: { view: ExperimentView }) => (
  <Facts
    facts={[
      ['runs', runs && `${number(runs.done)} of ${number(runs.planned)}`],
      ['registered', registration && (registration.registeredAt?.slice(0, 16).replace('T', ' ') ?? '–')],
      [
        'as',
        registration && (
          <>
            <code>{registration.sha256?.slice(0, 16)}</code> {registration.file}
          </>
        ),
      ],
    ]}
  />
)

export const ExperimentPage = ({ id }: { id: string }) => {
  const loaded = useJson<ExperimentView>(`/api/experiments/${encodeURIComponent(id)}`)
  const view = loaded.value
  useTitle(view?.title ?? id)
  if (view === null)
    return (
      <main id="content">
        <Waiting loaded={loaded} what="the experiment" />
      </main>
    )
  return (
    <main id="content">
      <h1>{view.title ?? view.name}</h1>
      <p class="about">{view.summary}</p>
      <Registration view={view} />
      {view.claims.length > 0 && (
        <section>
          <Heading title="Claims" />
          <div class="cards-list">
            {view.claims.map(claim => (
              <Claim key={claim.id} claim={claim} />
            ))}
          </div>
        </section>
      )}
      <Curves id={id} />
      {view.controls.length > 0 && (
        <section>
          <Heading
            title="Controls"
            about="Runs in which a method must not work; where one does, the claims say nothing."
          />
          <Table
            rows={view.controls}
            columns={[
              ['Control', ({ kind }) => kind],
              ['Arm', ({ arm }) => arm],
              [
                'Outcome',
                ({ outcome, note }) => [
                  <StatusChip status={outcome ?? 'not run'} />,
                  note && <small>{note}</small>,
                ],
              ],
            ]}
          />
        </section>
      )}
      {view.document !== null && (
        <details>
          <summary>Its summary as written</summary>
          <pre class="document">{view.document}</pre>
        </details>
      )}
    </main>
  )
}
