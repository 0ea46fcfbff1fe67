/** @file Evaluations of a run: every score over steps, and the problems won and lost between two of them. */

import { Facts } from '../../../../runs/report/parts/facts.tsx'
import { RolloutCard } from '../../../../runs/report/parts/rollout.tsx'
import { Heading } from '../../../../runs/report/parts/section.tsx'
import { Table, TextTable } from '../../../../runs/report/parts/table.tsx'
import type { RolloutRow } from '../../../../runs/rows.ts'
import { number, percent } from '../../../../util/format.ts'
import type { EvaluationView, ItemView, WonItem } from '../../wire.ts'
import { useJson } from '../api.ts'
import { Change, Choice, Empty, Waiting } from '../parts.tsx'
import { addressOf, setQuery } from '../route.tsx'
import type { RunTabProps } from './overview.tsx'

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
  <Table
    rows={view.items}
    columns={[
      ['Problem', ({ id, readable }) => (readable ? <a href={addressOfItem(id)}>{id}</a> : id)],
      ['Before', ({ before }) => percent(before), 'num'],
      ['After', ({ after }) => percent(after), 'num'],
      ['Change', item => <ChangeOf item={item} />, 'num'],
    ]}
  />
)

const stepOptions = ({ steps }: EvaluationView): [string, string][] =>
  steps.map(step => [String(step), `step ${step}`])

interface WonAndLostProps {
  view: EvaluationView
  addressOfItem(id: string): string
}

const WonAndLost = ({ view, addressOfItem }: WonAndLostProps) => (
  <>
    <div class="row tools">
      <Choice name="before" label="Between" value={String(view.before)} options={stepOptions(view)} />
      <Choice name="after" label="and" value={String(view.after)} options={stepOptions(view)} />
      <Choice name="score" label="Score" value={view.score} options={Object.entries(view.words)} />
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
      <div class="row tools">
        <a href={back}>All problems</a>
      </div>
      <h2>{view.id.length > 160 ? 'Responses to one problem' : view.id}</h2>
      <div class="stack beside">
        <Answer row={view.before} criteria={view.criteria} />
        <Answer row={view.after} criteria={view.criteria} />
      </div>
    </>
  )
}

export const EvaluationTab = ({ view, place, news }: RunTabProps) => {
  const { sets } = view
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
  return (
    <>
      {sets.length > 1 && (
        <div class="row tools">
          <Choice
            name="set"
            label="Problems"
            value={set}
            options={sets}
            onChoose={chosen => setQuery({ set: chosen, before: null, after: null, score: null })}
          />
        </div>
      )}
      <section>
        <Heading
          title={`Scores on ${set}`}
          about="Problems that training never saw, with 95% intervals over problems."
        />
        {loaded.value && <TextTable table={loaded.value.scores} />}
      </section>
      <section>
        <Heading
          title="Won and lost"
          about="The same problems at two steps; a score is a mean over the samples of a problem. Of the first problems of a set one response is kept: their names lead to it."
        />
        {loaded.value === null ? (
          <Waiting loaded={loaded} what="the evaluations" />
        ) : (
          <WonAndLost view={loaded.value} addressOfItem={id => `${here}&item=${encodeURIComponent(id)}`} />
        )}
      </section>
    </>
  )
}
