/** @file The rubric of a run: each criterion's rate and what it does, validity against chance, rubrics born and dropped. */

import { pointsWord, shownName } from '../../../../runs/criterion-words.ts'
import { Meter } from '../../../../runs/report/parts/meter.tsx'
import { number, percent, plural } from '../../../../util/format.ts'
import type { CriterionMetrics, RubricView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Change, Empty, Explained, Heading, Meanings, Scroll, Waiting } from '../parts.tsx'
import { addressOf, Link } from '../route.tsx'
import type { RunTabProps } from '../tab.ts'

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

const Meant = ({ word }: { word: keyof typeof MEANINGS }) => (
  <Explained text={MEANINGS[word]}>{word}</Explained>
)

const Discrimination = ({ own }: { own: CriterionMetrics['discrimination'] }) =>
  own === null ? (
    <>–</>
  ) : (
    <>
      {percent(own.value)}
      {own.keptGroups !== null && <small>of {plural(own.keptGroups, 'kept group')}</small>}
    </>
  )

const Agreement = ({ own }: { own: CriterionMetrics['agreement'] }) =>
  own === null ? (
    <>–</>
  ) : (
    <span title={own.set}>
      {percent(own.value)}
      <small>step {own.step}</small>
    </span>
  )

const CriterionRow = ({ own, id }: { own: CriterionMetrics; id: string }) => (
  <tr>
    <th scope="row">
      <Link to={`${addressOf('run', id, 'rollouts')}?criterion=${encodeURIComponent(own.id)}&verdict=unmet`}>
        {own.id}
      </Link>
      {shownName(own.words) !== undefined && <small>{shownName(own.words)}</small>}
      {own.words.text !== undefined && <small class="says">{own.words.text}</small>}
      {own.words.check !== undefined && <small class="says">{own.words.check ?? 'a judge decides'}</small>}
    </th>
    <td class="num">{own.words.points !== undefined && pointsWord(own.words.points)}</td>
    <td class="num">{percent(own.first)}</td>
    <td class="meter">
      <Meter value={own.last ?? own.rate} label={`${own.id} now`} />
      {own.last === null && own.rate !== null && <small>of kept rollouts</small>}
    </td>
    <td class="num">
      {own.first !== null && own.last !== null && <Change difference={own.last - own.first} />}
    </td>
    <td class="num">
      {percent(own.rewardShare)}
      {own.pointShare !== null && <small>of {percent(own.pointShare)} to be had</small>}
    </td>
    <td class="num">
      <Discrimination own={own.discrimination} />
    </td>
    <td class="num">
      <Agreement own={own.agreement} />
    </td>
    <td class="num">{own.withReward === null ? '–' : number(own.withReward)}</td>
    <td class="num">{own.kept === 0 ? '–' : number(own.kept)}</td>
  </tr>
)

const Criteria = ({ view, id }: { view: RubricView; id: string }) => (
  <section>
    <Heading
      title="Criteria"
      about="Means over the training rollouts of the first and the last tenth of the steps. How a criterion goes with the reward is a correlation over the rollouts that were kept, the best and the worst of a step among them. A criterion’s name leads to rollouts that do not meet it."
    />
    <Scroll>
      <table>
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col" class="num">
              Points
            </th>
            <th scope="col" class="num">
              First
            </th>
            <th scope="col" class="wide">
              Now
            </th>
            <th scope="col" class="num">
              Change
            </th>
            <th scope="col" class="num">
              Share of the reward
            </th>
            <th scope="col" class="num">
              <Meant word="Discrimination" />
            </th>
            <th scope="col" class="num">
              <Meant word="Agreement" />
            </th>
            <th scope="col" class="num">
              <Meant word="With the reward" />
            </th>
            <th scope="col" class="num">
              Kept verdicts
            </th>
          </tr>
        </thead>
        <tbody>
          {view.criteria.map(own => (
            <CriterionRow key={own.id} own={own} id={id} />
          ))}
        </tbody>
      </table>
    </Scroll>
    <Meanings of={MEANINGS} />
  </section>
)

const Validity = ({ view }: { view: RubricView }) =>
  view.validity.length === 0 ? null : (
    <section>
      <Heading
        title="The rubric as a whole"
        about="First and last tenth of the steps. The mark on the bar is the floor of chance: what the same criteria reach when answers are shuffled."
      />
      <Scroll>
        <table>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              <th scope="col" class="num">
                First
              </th>
              <th scope="col" class="wide">
                Now
              </th>
              <th scope="col" class="num">
                Above chance
              </th>
            </tr>
          </thead>
          <tbody>
            {view.validity.map(({ key, first, last, floor }) => (
              <tr key={key}>
                <th scope="row">{WORDS[key] ?? key}</th>
                <td class="num">{percent(first)}</td>
                <td class="meter">
                  <Meter value={last} floor={floor} label={WORDS[key] ?? key} />
                </td>
                <td class="num">
                  {floor !== null && (
                    <>
                      <Change difference={last - floor} />
                      <small>chance {percent(floor)}</small>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )

const FATES = { born: 'born', kept: 'kept', inactive: 'set aside', pruned: 'dropped' }

const Fates = ({ view }: { view: RubricView }) => (
  <section>
    <Heading
      title="Rubrics born and dropped"
      about={`The latest, of ${plural(view.questions, 'question')} whose rubrics were looked at. A rubric that tells no two rollouts apart is set aside; one that others outdo is dropped.`}
    />
    <Scroll>
      <table class="fates">
        <thead>
          <tr>
            <th scope="col" class="num">
              Step
            </th>
            <th scope="col">Fate</th>
            <th scope="col">Rubric</th>
            <th scope="col" class="num">
              Stage
            </th>
            <th scope="col" class="num">
              Variance
            </th>
            <th scope="col">Question</th>
          </tr>
        </thead>
        <tbody>
          {view.fates.map((own, i) => (
            <tr key={`${i}-${own.title}`}>
              <td class="num">{own.step}</td>
              <td>
                <span class={`chip ${own.fate === 'born' ? 'entailed' : 'info'}`}>{FATES[own.fate]}</span>
              </td>
              <th scope="row">
                {own.sign === 'negative' ? '− ' : ''}
                {own.title}
                {own.description !== null && <small>{own.description}</small>}
              </th>
              <td class="num">{own.stage}</td>
              <td class="num">{number(own.variance)}</td>
              <td class="excerpt">{own.question}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
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
