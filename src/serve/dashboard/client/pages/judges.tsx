/** @file What judges did in a run: calls, waiting, failures, missing verdicts. */

import { Charts, Heading } from '../../../../runs/report/parts/section.tsx'
import { Table } from '../../../../runs/report/parts/table.tsx'
import { number, percent } from '../../../../util/format.ts'
import type { JudgesView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Chart } from '../chart.tsx'
import { Empty, Waiting } from '../parts.tsx'
import type { RunTabProps } from './overview.tsx'

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
      <Table
        rows={judges.figures}
        columns={[
          ['Figure', ({ title }) => title],
          ['Mean of a step', ({ unit, mean }) => formatOf(unit)(mean), 'num'],
          ['Latest', ({ unit, last }) => formatOf(unit)(last), 'num'],
          ['In all', ({ total }) => (total === null ? '' : number(Math.round(total))), 'num'],
        ]}
      />
      <Charts charts={judges.charts} size="narrow" draw={spec => <Chart key={spec.id} spec={spec} />} />
      {judges.evaluations.length > 0 && (
        <>
          <Heading title="In evaluations" />
          <Table
            rows={judges.evaluations}
            columns={[
              ['Step', ({ step }) => step],
              ['Set', ({ set }) => set],
              ['Calls', ({ calls }) => number(calls), 'num'],
              ['Missing verdicts', ({ nullRate }) => percent(nullRate), 'num'],
            ]}
          />
        </>
      )}
    </>
  )
}
