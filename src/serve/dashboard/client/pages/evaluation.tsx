/** @file Evaluations of a run: every score over steps, and the problems won and lost between two of them. */

import { Facts } from '../../../../runs/report/parts/facts.tsx'
import { RolloutCard } from '../../../../runs/report/parts/rollout.tsx'
import { type ScoreLine, ScoreTable } from '../../../../runs/report/parts/score-table.tsx'
import type { RolloutRow } from '../../../../runs/rows.ts'
import { headlineScores, scoreNamesOf } from '../../../../runs/scores.ts'
import { number, percent } from '../../../../util/format.ts'
import type { EvaluationView, ItemView, LightEval, WonItem } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Change, Empty, Heading, Scroll, Waiting } from '../parts.tsx'
import { addressOf, Link, setQuery } from '../route.tsx'
import type { RunTabProps } from '../tab.ts'

const Scores = ({ rows }: { rows: readonly LightEval[] }) => {
  const bars = headlineScores(rows)
  const lines = rows.map(({ step, n, scores }, i): ScoreLine => {
    const kind = i === rows.length - 1 ? 'after' : 'before'
    return { name: number(step), kind, n, scores }
  })
  return (
    <Scroll class="panel scroll figures-place">
      <ScoreTable
        head="Step"
        lines={lines}
        bars={bars}
        others={scoreNamesOf(rows).filter(name => !bars.includes(name))}
        evals={rows}
      />
    </Scroll>
  )
}

const StepChoice = ({
  name,
  label,
  value,
  rows,
}: {
  name: string
  label: string
  value: number
  rows: readonly LightEval[]
}) => (
  <label>
    {label}{' '}
    <select value={String(value)} onChange={event => setQuery({ [name]: event.currentTarget.value })}>
      {[...new Set(rows.map(({ step }) => step))].map(step => (
        <option key={step} value={String(step)}>
          step {step}
        </option>
      ))}
    </select>
  </label>
)

const ChangeOf = ({ item: { before, after } }: { item: WonItem }) =>
  before === after ? (
    <span class="quiet">the same</span>
  ) : (
    <span class={`change ${after > before ? 'up' : 'down'}`}>
      {after > before ? 'won ' : 'lost '}
      {Math.abs((after - before) * 100).toFixed(1)}
    </span>
  )

const Items = ({ view, addressOfItem }: { view: EvaluationView; addressOfItem(id: string): string }) => (
  <Scroll>
    <table>
      <thead>
        <tr>
          <th scope="col">Problem</th>
          <th scope="col" class="num">
            Before
          </th>
          <th scope="col" class="num">
            After
          </th>
          <th scope="col" class="num">
            Change
          </th>
        </tr>
      </thead>
      <tbody>
        {view.items.map(item => (
          <tr key={item.id}>
            <th scope="row" class="item">
              {item.readable ? <Link to={addressOfItem(item.id)}>{item.id}</Link> : item.id}
            </th>
            <td class="num">{percent(item.before)}</td>
            <td class="num">{percent(item.after)}</td>
            <td class="num">
              <ChangeOf item={item} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
)

interface WonAndLostProps {
  view: EvaluationView
  rows: readonly LightEval[]
  addressOfItem(id: string): string
}

const WonAndLost = ({ view, rows, addressOfItem }: WonAndLostProps) => (
  <>
    <div class="tools">
      <StepChoice name="before" label="Between" value={view.before} rows={rows} />
      <StepChoice name="after" label="and" value={view.after} rows={rows} />
      <label>
        Score{' '}
        <select value={view.score} onChange={event => setQuery({ score: event.currentTarget.value })}>
          {Object.entries(view.words).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </div>
    <Facts
      facts={[
        ['won', number(view.won)],
        ['lost', number(view.lost)],
        ['the same', number(view.same)],
        [
          'paired difference, points',
          view.paired && <Change difference={view.paired.difference} interval={view.paired.interval} />,
        ],
      ]}
    />
    {view.items.length === 0 ? (
      <Empty>No problem changed.</Empty>
    ) : (
      <Items view={view} addressOfItem={addressOfItem} />
    )}
  </>
)

const Answer = ({ row, criteria }: { row: RolloutRow | null; criteria: ItemView['criteria'] }) =>
  row === null ? (
    <Empty>No response was kept of this evaluation.</Empty>
  ) : (
    <RolloutCard row={row} criteria={criteria} of="score" />
  )

/** A problem's responses at two evaluations, one beside the other. */
const OneItem = ({ path, back }: { path: string; back: string }) => {
  const loaded = useJson<ItemView>(path)
  const view = loaded.value
  if (view === null) return <Waiting loaded={loaded} what="the responses" />
  return (
    <>
      <div class="tools">
        <Link to={back}>All problems</Link>
      </div>
      <h2>{view.id.length > 160 ? 'Responses to one problem' : view.id}</h2>
      <div class="beside">
        <Answer row={view.before} criteria={view.criteria} />
        <Answer row={view.after} criteria={view.criteria} />
      </div>
    </>
  )
}

export const EvaluationTab = ({ view, place, news }: RunTabProps) => {
  const sets = [...new Set(view.evals.map(({ set }) => set))]
  const set = sets.includes(place.query.get('set') ?? '') ? place.query.get('set')! : sets[0]
  const asked = ['before', 'after', 'score'].flatMap(name => {
    const value = place.query.get(name)
    return value === null ? [] : [[name, value]]
  })
  const query = new URLSearchParams([['set', set ?? ''], ...asked])
  const path = `/api/runs/${encodeURIComponent(view.run.id)}/evaluation?${query}`
  const item = place.query.get('item')
  const loaded = useJson<EvaluationView>(set === undefined || item !== null ? null : path, news?.evals ?? 0)
  if (set === undefined) return <Empty>Nothing has been evaluated yet.</Empty>
  const here = `${addressOf('run', view.run.id, 'evaluation')}?${query}`
  if (item !== null)
    return (
      <OneItem
        path={path.replace('/evaluation?', '/evaluation/item?').concat(`&id=${encodeURIComponent(item)}`)}
        back={here}
      />
    )
  const rows = view.evals.filter(row => row.set === set)
  return (
    <>
      {sets.length > 1 && (
        <div class="tools">
          <label>
            Problems{' '}
            <select
              value={set}
              onChange={event =>
                setQuery({ set: event.currentTarget.value, before: null, after: null, score: null })
              }
            >
              {sets.map(each => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        </div>
      )}
      <section>
        <Heading
          title={`Scores on ${set}`}
          about="Problems that training never saw, with 95% intervals over problems."
        />
        <Scores rows={rows} />
      </section>
      <section>
        <Heading
          title="Won and lost"
          about="The same problems at two steps; a score is a mean over the samples of a problem. Of the first problems of a set one response is kept: their names lead to it."
        />
        {loaded.value === null ? (
          <Waiting loaded={loaded} what="the evaluations" />
        ) : (
          <WonAndLost
            view={loaded.value}
            rows={rows}
            addressOfItem={id => `${here}&item=${encodeURIComponent(id)}`}
          />
        )}
      </section>
    </>
  )
}
