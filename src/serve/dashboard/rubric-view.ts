/** @file What the criteria of a run's rubric do: how often each is met, whether that goes with the reward, how it changed. */

import {
  type CriterionDescription,
  describeCriteria,
  pointsWord,
  shownName,
} from '../../runs/criterion-words.ts'
import {
  foldBlock,
  type PageSection,
  type PageView,
  plainView,
  type TableCell,
  type TableRow,
  tableSection,
} from '../../runs/report/view.ts'
import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import { meanKnown, pearson } from '../../util/descriptive.ts'
import { NONE, number, percent, plural, points } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import { runAddress } from './library.ts'
import type { OpenRun } from './open-run.ts'
import type { RolloutIndex } from './rollout-index.ts'

/** Added and dropped rubrics that a page is sent, the latest. */
const MOST_FATES = 120

/** Of fewer a correlation says nothing. */
const FEWEST_PAIRS = 8

/** Of the rollouts that were kept: how many have a verdict, how often it is met, how it goes with the reward. */
const keptMetrics = ({ rollouts }: OpenRun, id: string) => {
  const place = rollouts.names.criteria.indexOf(id)
  const credits: number[] = []
  const pairs: { credit: number; reward: number }[] = []
  for (let nth = 0; place >= 0 && nth < rollouts.count; nth++) {
    const credit = rollouts.credit(nth, place)
    if (credit === null) continue
    credits.push(credit)
    const { reward } = rollouts.at(nth)
    if (reward !== null) pairs.push({ credit, reward })
  }
  const [xs, ys] = [pairs.map(({ credit }) => credit), pairs.map(({ reward }) => reward)]
  return {
    kept: credits.length,
    rate: meanKnown(credits),
    withReward: pairs.length < FEWEST_PAIRS ? null : pearson(xs, ys),
  }
}

/** Groups of which so many are needed before a share of them is said. */
const FEWEST_GROUPS = 8

/** The kept rollouts of each step by role and problem, where there are several; those of a step stand one after the other. */
const keptGroups = function* (rollouts: RolloutIndex): Generator<number[]> {
  let step = -1
  let groups = new Map<string, number[]>()
  const several = () => [...groups.values()].filter(({ length }) => length > 1)
  for (let nth = 0; nth < rollouts.count; nth++) {
    const own = rollouts.at(nth)
    if (own.step !== step) {
      yield* several()
      step = own.step
      groups = new Map()
    }
    const key = `${own.role} ${own.problem}`
    const group = groups.get(key)
    if (group) group.push(nth)
    else groups.set(key, [nth])
  }
  yield* several()
}

/**
 * Of runs that do not record it: by place of a criterion, the share of groups of which several rollouts were kept in which it
 * tells these apart. The best and the worst of a step are kept, so it is too high rather than too low.
 */
const keptDiscrimination = (rollouts: RolloutIndex): TableCell[] => {
  const counts = rollouts.names.criteria.map(() => ({ all: 0, apart: 0 }))
  for (const group of keptGroups(rollouts))
    for (const [place, count] of counts.entries()) {
      const credits = group.flatMap(nth => rollouts.credit(nth, place) ?? [])
      if (credits.length < 2) continue
      count.all++
      count.apart += Number(credits.some(credit => credit !== credits[0]))
    }
  return counts.map(({ all, apart }) =>
    all < FEWEST_GROUPS ? NONE : { text: percent(apart / all), notes: [`of ${plural(all, 'kept group')}`] },
  )
}

/** Of all groups of the last tenth of the steps where the run records it, else of those that were kept. */
const discriminationOf = ({ rollouts, metrics }: OpenRun, last: MetricsRow | undefined) => {
  const records = metrics.names().some(({ key }) => key === 'discrimination')
  const kept = records ? [] : keptDiscrimination(rollouts)
  return (id: string): TableCell => {
    const value = valueIn(last?.discrimination, id)
    return value === null ? (kept[rollouts.names.criteria.indexOf(id)] ?? NONE) : percent(value)
  }
}

/** By two graders on the same responses; the latest evaluation that had two. */
const agreementOn = ({ evals }: OpenRun, id: string): TableCell => {
  const found = evals.findLast(({ agreement }) => typeof agreement?.[id] === 'number')
  if (found === undefined) return NONE
  return { text: percent(found.agreement![id]), notes: [`step ${found.step}`], title: found.set }
}

const valueIn = (group: unknown, id: string): number | null => {
  const value = typeof group === 'object' && group !== null ? (group as MetricGroup)[id] : null
  return typeof value === 'number' ? value : null
}

/** What the metrics are, for who points at their names. */
const MEANINGS = {
  Discrimination:
    'Share of groups (all rollouts of a prompt in a step) in which the criterion tells rollouts apart: not all of its verdicts there are equal. Where it is 0 the criterion adds nothing to any advantage. Of runs that do not record it: over the groups of which several rollouts were kept, which are the best and the worst.',
  Agreement:
    'Share of responses on which two graders gave the same verdict: the held-out judge and the run’s own, or training’s judge and the truth. Of the latest evaluation that had two.',
  'With the reward':
    'Pearson correlation of the criterion’s credit with the reward, over the rollouts that were kept.',
}

const explained = (name: keyof typeof MEANINGS) => ({ name, title: MEANINGS[name] })

const changeCell = (difference: number, ...notes: string[]): TableCell => ({
  ...{ text: points(difference), class: 'change', notes },
})

/** A share with its bar; in small what has to be said of it. */
const barCell = (value: number | null, floor?: number | null, ...notes: string[]): TableCell =>
  value === null ? NONE : { text: percent(value), bar: { value, floor }, notes }

/** Its name, which leads to rollouts that do not meet it, and its points. */
const nameCells = (run: string, id: string, words: CriterionDescription): TableCell[] => {
  const { text, check, points: worth } = words
  const says = [shownName(words), text, check === null ? 'a judge decides' : check]
  return [
    {
      text: id,
      href: runAddress(run, 'rollouts', { criterion: id, verdict: 'unmet' }),
      notes: says.filter(words => words !== undefined),
    },
    worth === undefined ? '' : pointsWord(worth),
  ]
}

/** The criteria of the run's own rubric first, in its order. */
const criterionRows = (run: OpenRun): TableRow[] => {
  const { rows } = run.metrics.rows(10)
  const [early, late] = [rows[0], rows.at(-1)]
  const named = run.metrics.names().flatMap(({ key, name }) => (key === 'criteria' && name ? [name] : []))
  const words = describeCriteria(run.info)
  const declared = run.info.rubric?.criteria.map(({ id }) => id) ?? []
  const discrimination = discriminationOf(run, late)
  return [...new Set([...declared, ...named, ...run.rollouts.names.criteria])].map(id => {
    const { kept, rate, withReward } = keptMetrics(run, id)
    const [first, last] = [early, late].map(row => valueIn(row?.criteria, id))
    const pointShare = valueIn(late?.pointShare, id)
    return [
      ...nameCells(run.found.id, id, ownValue(words, id) ?? {}),
      percent(first),
      barCell(last ?? rate, undefined, ...(last === null && rate !== null ? ['of kept rollouts'] : [])),
      first !== null && last !== null ? changeCell(last - first) : '',
      {
        text: percent(valueIn(late?.rewardShare, id)),
        notes: pointShare === null ? [] : [`of ${percent(pointShare)} to be had`],
      },
      ...[discrimination(id), agreementOn(run, id), number(withReward)],
      kept === 0 ? NONE : number(kept),
    ]
  })
}

const criteriaSection = (run: OpenRun): PageSection | null => {
  const rows = criterionRows(run)
  if (rows.length === 0) return null
  const pairs = Object.entries(MEANINGS).map(([name, text]) => ({ name, text }))
  const head = [
    ...['Criterion', 'Points', 'First', { name: 'Now', kind: 'meter' }, 'Change', 'Share of the reward'],
    ...[explained('Discrimination'), explained('Agreement'), explained('With the reward'), 'Kept verdicts'],
  ]
  return {
    title: 'Criteria',
    about:
      'Means over the training rollouts of the first and the last tenth of the steps. How a criterion goes with the reward is a correlation over the rollouts that were kept, the best and the worst of a step among them. A criterion’s name leads to rollouts that do not meet it.',
    blocks: [{ head, rows }, foldBlock('What the columns mean', { kind: 'pairs', pairs })],
  }
}

/** Metrics about the rubric as a whole that some recipes have, in words; and what is the same where answers are shuffled. */
const VALIDITY: readonly { key: string; words: string; floor?: string }[] = [
  { key: 'validRate', words: 'Valid criteria', floor: 'nullValidRate' },
  { key: 'saturation', words: 'One verdict on all responses' },
  { key: 'alwaysMet', words: 'Always met' },
  { key: 'verifierAgreement', words: 'Verifier agrees with execution' },
  { key: 'zeroVarianceGroups', words: 'Groups in which all rewards are equal' },
  { key: 'judgeNullRate', words: 'Missing verdicts' },
]

const BY_SIGN: Readonly<Record<string, string>> = { reward: ', on merits', penalty: ', on flaws' }

/** First and last tenth of the steps. */
const validitySection = (run: OpenRun): PageSection | null => {
  const { rows: tenths } = run.metrics.rows(10)
  const [first, last] = [tenths[0], tenths.at(-1)]
  const names = run.metrics.names()
  const rows = VALIDITY.flatMap(({ key, words, floor: floorKey = '' }) =>
    names.flatMap(({ key: own, name }) => {
      const at = (row: MetricsRow | undefined, of: string) =>
        name === null ? numberOr(row?.[of]) : valueIn(row?.[of], name)
      const value = own === key ? at(last, key) : null
      if (value === null) return []
      const floor = at(last, floorKey)
      const row: TableRow = [
        `${words}${name === null ? '' : (BY_SIGN[name] ?? `, ${name}`)}`,
        percent(at(first, key)),
        barCell(value, floor),
        floor === null ? '' : changeCell(value - floor, `chance ${percent(floor)}`),
      ]
      return [row]
    }),
  )
  if (rows.length === 0) return null
  const about =
    'First and last tenth of the steps. The mark on the bar is the floor of chance: what the same criteria reach when answers are shuffled.'
  const head = ['Metric', 'First', { name: 'Now', kind: 'meter' }, 'Above chance']
  return tableSection('The rubric as a whole', about, { head, rows })
}

const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const FATES = { kept: 'kept', inactive: 'set aside', pruned: 'dropped' }

/** Rubrics of a run whose rubrics evolve, the latest first. */
const fatesSection = ({ rubrics }: OpenRun): PageSection | null => {
  const all = rubrics.rows.flatMap(({ rubrics: own, ...row }) => own.map(rubric => ({ ...row, ...rubric })))
  const changed = all.filter(({ born, fate }) => born || fate !== 'kept').slice(-MOST_FATES)
  const rows = changed
    .reverse()
    .map(({ step, question, born, fate, sign, title, description, ...own }) => [
      String(step),
      born ? { text: 'added', class: 'chip entailed' } : { text: FATES[fate], class: 'chip info' },
      { text: `${sign === 'negative' ? '− ' : ''}${title}`, notes: description ? [description] : [] },
      ...[String(own.stage), number(own.variance), question],
    ])
  if (rows.length === 0) return null
  const about = `The latest, of ${plural(rubrics.count, 'question')} whose rubrics were looked at. A rubric that scores all rollouts alike is set aside; one that others outperform is dropped.`
  const head = [
    ...[{ name: 'Step', kind: 'num' }, 'Outcome', { name: 'Rubric', kind: 'head' }, 'Stage', 'Variance'],
    { name: 'Question', kind: 'excerpt' },
  ]
  return tableSection('Rubrics added and dropped', about, { head, rows })
}

export const rubricPage = (run: OpenRun): PageView => {
  const sections = [criteriaSection(run), validitySection(run), fatesSection(run)]
  return sections.every(section => section === null)
    ? plainView('Rubric', 'No criterion has been scored in this run.')
    : { title: 'Rubric', sections }
}
