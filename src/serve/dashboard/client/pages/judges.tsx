/** @file What judges did in a run: calls, waiting, failures, missing verdicts. */

import { number, percent } from '../../../../util/format.ts'
import type { JudgesView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Chart } from '../chart.tsx'
import { Empty, Heading, Scroll, Waiting } from '../parts.tsx'
import type { RunTabProps } from '../tab.ts'

const formatOf = (unit: JudgesView['figures'][number]['unit']) =>
  unit === 'share' || unit === 'rate' ? percent : number

export const JudgesTab = ({ view, news }: RunTabProps) => {
  const version = useThrottled(news?.run.step ?? 0, 3_000)
  const loaded = useJson<JudgesView>(`/api/runs/${encodeURIComponent(view.run.id)}/judges`, version)
  const judges = loaded.value
  if (judges === null) return <Waiting loaded={loaded} what="the judges" />
  if (judges.figures.length === 0 && judges.evaluations.length === 0)
    return <Empty>No judge was asked in this run: its criteria are decided by programs.</Empty>
  return (
    <>
      <Heading
        title="Judges"
        about="Figures a step, as the run recorded them. A verdict that a judge failed to give is neither met nor unmet; its share is told by the sign of the points."
      />
      <Scroll>
        <table>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              <th scope="col" class="num">
                Mean of a step
              </th>
              <th scope="col" class="num">
                Latest
              </th>
              <th scope="col" class="num">
                In all
              </th>
            </tr>
          </thead>
          <tbody>
            {judges.figures.map(({ title, unit, mean, last, total }) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                <td class="num">{formatOf(unit)(mean)}</td>
                <td class="num">{formatOf(unit)(last)}</td>
                <td class="num">{total === null ? '' : number(Math.round(total))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <div class="charts narrow">
        {judges.charts.map(spec => (
          <Chart key={spec.id} spec={spec} />
        ))}
      </div>
      {judges.evaluations.length > 0 && (
        <>
          <Heading title="In evaluations" />
          <Scroll>
            <table>
              <thead>
                <tr>
                  <th scope="col">Step</th>
                  <th scope="col">Set</th>
                  <th scope="col" class="num">
                    Calls
                  </th>
                  <th scope="col" class="num">
                    Missing verdicts
                  </th>
                </tr>
              </thead>
              <tbody>
                {judges.evaluations.map((row, i) => (
                  <tr key={`${i}-${row.step}`}>
                    <th scope="row">{row.step}</th>
                    <td>{row.set}</td>
                    <td class="num">{number(row.calls)}</td>
                    <td class="num">{percent(row.nullRate)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </>
      )}
    </>
  )
}
