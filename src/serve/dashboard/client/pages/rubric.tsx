/** @file The rubric of a run: each criterion's rate and what it does, validity against chance, rubrics born and dropped. */

import { pointsWord, shownName } from '../../../../runs/criterion-words.ts'
import { Meter } from '../../../../runs/report/parts/meter.tsx'
import { Heading } from '../../../../runs/report/parts/section.tsx'
import { noted, Table } from '../../../../runs/report/parts/table.tsx'
import { number, percent, plural } from '../../../../util/format.ts'
import type { CriterionMetrics, RubricView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Change, Empty, Waiting } from '../parts.tsx'
import { addressOf } from '../route.tsx'
import type { RunTabProps } from './overview.tsx'

const WORDS: Record<string, string> = {
  validRate: 'Valid criteria',
  saturation: 'One verdict on all responses',
  alwaysMet: 'Always met',
  verifierAgreement: 'Verifier agrees with execution',
  'verifierAgreement.reward': 'Verifier agrees with execution, on merits',
  'verifierAgreement.penalty': 'Verifier agrees with execution, on flaws',
  zeroVarianceGroups: 'Groups in which all rewards are equal',
  judgeNullRate: 'Missing verdicts',
}

/** What the figures are, for who points at their names. */
const MEANINGS = {
  Discrimination:
    'Share of groups (all rollouts of a prompt in a step) in which the criterion tells rollouts apart: not all of its verdicts there are equal. Where it is 0 the criterion adds nothing to any advantage. Of runs that do not record it: over the groups of which several rollouts were kept, which are the best and the worst.',
  Agreement:
    'Share of responses on which two graders gave the same verdict: the held-out judge and the run’s own, or training’s judge and the truth. Of the latest evaluation that had two.',
  'With the reward':
    'Pearson correlation of the criterion’s credit with the reward, over the rollouts that were kept.',
}

const meant = (word: keyof typeof MEANINGS) => (
  <span class="explained" title={MEANINGS[word]}>
    {word}
  </span>
)

/** What the words of the table mean, under it. */
const Meanings = () => (
  <details>
    <summary>What the figures mean</summary>
    <dl class="pairs">
      {Object.entries(MEANINGS).map(([word, text]) => (
        <>
          <dt>{word}</dt>
          <dd>{text}</dd>
        </>
      ))}
    </dl>
  </details>
)

const CriterionName = ({ own: { id, words }, run }: { own: CriterionMetrics; run: string }) => (
  <>
    <a href={`${addressOf('run', run, 'rollouts')}?criterion=${encodeURIComponent(id)}&verdict=unmet`}>
      {id}
    </a>
    {shownName(words) !== undefined && <small>{shownName(words)}</small>}
    {words.text !== undefined && <small class="says">{words.text}</small>}
    {words.check !== undefined && <small class="says">{words.check ?? 'a judge decides'}</small>}
  </>
)

const Criteria = ({ view, id }: { view: RubricView; id: string }) => (
  <section>
    <Heading
      title="Criteria"
      about="Means over the training rollouts of the first and the last tenth of the steps. How a criterion goes with the reward is a correlation over the rollouts that were kept, the best and the worst of a step among them. A criterion’s name leads to rollouts that do not meet it."
    />
    <Table
      rows={view.criteria}
      columns={[
        ['Criterion', own => <CriterionName own={own} run={id} />],
        ['Points', ({ words }) => (words.points === undefined ? '' : pointsWord(words.points)), 'num'],
        ['First', ({ first }) => percent(first), 'num'],
        [
          'Now',
          ({ id: name, last, rate }) =>
            noted(
              <Meter value={last ?? rate} label={`${name} now`} />,
              last === null && rate !== null && 'of kept rollouts',
            ),
          'meter',
        ],
        [
          'Change',
          ({ first, last }) => first !== null && last !== null && <Change difference={last - first} />,
          'num',
        ],
        [
          'Share of the reward',
          ({ rewardShare, pointShare }) =>
            noted(percent(rewardShare), pointShare !== null && `of ${percent(pointShare)} to be had`),
          'num',
        ],
        [
          meant('Discrimination'),
          ({ discrimination: own }) =>
            own &&
            noted(
              percent(own.value),
              own.keptGroups !== null && `of ${plural(own.keptGroups, 'kept group')}`,
            ),
          'num',
        ],
        [
          meant('Agreement'),
          ({ agreement: own }) => own && noted(percent(own.value), `step ${own.step}`),
          'num',
          ({ agreement: own }) => own?.set,
        ],
        [meant('With the reward'), ({ withReward }) => number(withReward), 'num'],
        ['Kept verdicts', ({ kept }) => (kept === 0 ? '–' : number(kept)), 'num'],
      ]}
    />
    <Meanings />
  </section>
)

const Validity = ({ view }: { view: RubricView }) =>
  view.validity.length === 0 ? null : (
    <section>
      <Heading
        title="The rubric as a whole"
        about="First and last tenth of the steps. The mark on the bar is the floor of chance: what the same criteria reach when answers are shuffled."
      />
      <Table
        rows={view.validity}
        columns={[
          ['Figure', ({ key }) => WORDS[key] ?? key],
          ['First', ({ first }) => percent(first), 'num'],
          [
            'Now',
            ({ key, last, floor }) => <Meter value={last} floor={floor} label={WORDS[key] ?? key} />,
            'meter',
          ],
          [
            'Above chance',
            ({ last, floor }) =>
              floor !== null && noted(<Change difference={last - floor} />, `chance ${percent(floor)}`),
            'num',
          ],
        ]}
      />
    </section>
  )

const FATES = { born: 'born', kept: 'kept', inactive: 'set aside', pruned: 'dropped' }

const Fates = ({ view }: { view: RubricView }) => (
  <section>
    <Heading
      title="Rubrics born and dropped"
      about={`The latest, of ${plural(view.questions, 'question')} whose rubrics were looked at. A rubric that tells no two rollouts apart is set aside; one that others outdo is dropped.`}
    />
    <Table
      rows={view.fates}
      columns={[
        ['Step', ({ step }) => step, 'num'],
        [
          'Fate',
          ({ fate }) => <span class={`chip ${fate === 'born' ? 'entailed' : 'info'}`}>{FATES[fate]}</span>,
        ],
        [
          'Rubric',
          own => noted(`${own.sign === 'negative' ? '− ' : ''}${own.title}`, own.description),
          'head',
        ],
        ['Stage', ({ stage }) => stage, 'num'],
        ['Variance', ({ variance }) => number(variance), 'num'],
        ['Question', ({ question }) => question, 'excerpt'],
      ]}
    />
  </section>
)

export const RubricTab = ({ view, news }: RunTabProps) => {
  const id = view.run.id
  const version = useThrottled(news?.run.step ?? 0, 4_000)
  const loaded = useJson<RubricView>(`/api/runs/${encodeURIComponent(id)}/rubric`, version)
  const rubric = loaded.value
  if (rubric === null) return <Waiting loaded={loaded} what="the rubric" />
  if (rubric.criteria.length === 0 && rubric.fates.length === 0)
    return <Empty>No criterion has been scored in this run.</Empty>
  return (
    <>
      {rubric.criteria.length > 0 && <Criteria view={rubric} id={id} />}
      <Validity view={rubric} />
      {rubric.fates.length > 0 && <Fates view={rubric} />}
    </>
  )
}
