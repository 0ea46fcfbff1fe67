/** @file The rubric of a run: each criterion's rate and what it does, validity against chance, rubrics born and dropped. */

import { number, percent, plural } from '../../../../util/format.ts'
import type { CriterionFigures, RubricView } from '../../wire.ts'
import { useJson, useThrottled } from '../api.ts'
import { Change, Empty, Heading, Meter, Scroll, Waiting } from '../parts.tsx'
import { addressOf, Link } from '../route.tsx'
import type { RunTabProps } from '../tab.ts'

const WORDS: Record<string, string> = {
  validRate: 'Valid criteria',
  nullValidRate: 'Valid by chance, answers shuffled',
  saturation: 'One verdict on all responses',
  alwaysMet: 'Always met',
  verifierAgreement: 'Verifier agrees with execution',
  zeroVarianceGroups: 'Groups in which all rewards are equal',
  judgeNullRate: 'Missing verdicts',
}

const CriterionRow = ({ own, id }: { own: CriterionFigures; id: string }) => (
  <tr>
    <th scope="row">
      <Link to={`${addressOf('run', id, 'rollouts')}?criterion=${encodeURIComponent(own.id)}&verdict=unmet`}>
        {own.id}
      </Link>
      {own.name !== null && <small>{own.name}</small>}
    </th>
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
              First
            </th>
            <th scope="col" class="wide">
              Now
            </th>
            <th scope="col" class="num">
              Points
            </th>
            <th scope="col" class="num">
              Share of the reward
            </th>
            <th scope="col" class="num">
              With the reward
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
  </section>
)

const Validity = ({ view }: { view: RubricView }) =>
  view.validity.length === 0 ? null : (
    <section>
      <Heading
        title="The rubric as a whole"
        about="First and last tenth of the steps. What shuffled answers reach is the floor of chance."
      />
      <Scroll>
        <table>
          <tbody>
            {view.validity.map(({ key, first, last }) => (
              <tr key={key}>
                <th scope="row">{WORDS[key] ?? key}</th>
                <td class="num">{percent(first)}</td>
                <td class="meter">
                  <Meter value={last} label={WORDS[key] ?? key} />
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
