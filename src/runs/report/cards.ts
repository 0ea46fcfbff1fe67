/** @file The headline of a report: what changed, with its uncertainty, and what it took. */

import { mean } from '../../util/descriptive.ts'
import {
  capitalised,
  formatDuration,
  joinKnown,
  number,
  percent,
  percentInterval,
  plural,
  points,
  pointsInterval,
} from '../../util/format.ts'
import type { EvalRow } from '../rows.ts'
import { describeScore, greedyName, headlineScores, scoreValue } from '../scores.ts'
import { beforeAfter, evalsOf, type ReportData, setNames, totalsOf } from './data.ts'
import { type ScoreChange, scoreChange } from './paired.ts'
import type { HeadlineCard } from './view.ts'

const percentFromTo = ({ before, after }: ScoreChange) => ({
  before: before === null ? null : percent(before),
  after: percent(after),
})

const gainOf = ({ paired }: ScoreChange): HeadlineCard['gain'] =>
  paired && {
    text: `${points(paired.difference)} points`,
    direction: paired.interval[0] > 0 ? 'up' : paired.interval[1] < 0 ? 'down' : '',
  }

const intervalNotes = ({ paired }: ScoreChange, { interval }: EvalRow['scores'][string]): string[] => {
  if (paired !== null) return [`95% interval ${pointsInterval(paired.interval)}`]
  return interval ? [`95% interval after: ${percentInterval(interval)}`] : []
}

/** Where the last evaluation has more problems than it shares with the first, the metric over all of them. */
const allNotes = ({ paired }: ScoreChange, after: EvalRow, score: string): string[] =>
  paired !== null && paired.n < after.n
    ? [`${percent(scoreValue(after, score))} after on all ${number(after.n)} problems`]
    : []

const samplesOf = ({ samples }: EvalRow): string => (samples ? ` × ${plural(samples, 'sample')}` : '')

const scoreCard = (data: ReportData, set: string, score: string): HeadlineCard | null => {
  const { before, after } = beforeAfter(data, set)
  const change = scoreChange(before, after, score)
  if (after === undefined || change === null) return null
  return {
    title: capitalised(describeScore(score, [after])),
    ...percentFromTo(change),
    gain: gainOf(change),
    notes: [
      ...intervalNotes(change, after.scores[score]),
      `${set}, ${change.problems}${samplesOf(after)}`,
      ...allNotes(change, after, score),
    ],
  }
}

/** The first headline score as decoded greedily, with the others in a line. */
const greedyCard = (data: ReportData, set: string): HeadlineCard | null => {
  const { before, after } = beforeAfter(data, set)
  if (after === undefined) return null
  const [first, ...others] = headlineScores([after]).flatMap(score => {
    const change = scoreChange(before, after, greedyName(score))
    return change ? [{ words: describeScore(score, [after]), change }] : []
  })
  if (first === undefined) return null
  const line = ({ words, change }: typeof first) =>
    `${capitalised(words)}: ${change.before === null ? '' : `${percent(change.before)} → `}${percent(change.after)}`
  const notes = [others.map(line).join(', '), first.change.problems].filter(text => text !== '')
  return { title: `Greedy: ${first.words}`, ...percentFromTo(first.change), gain: null, notes }
}

const rewardCard = (data: ReportData): HeadlineCard | null => {
  const rewards = data.metrics.flatMap(row => (typeof row.reward === 'number' ? [row.reward] : []))
  if (rewards.length < 2) return null
  const tenth = Math.max(1, Math.round(rewards.length / 10))
  const of = data.totals ? 'tenth' : tenth === 1 ? 'step' : `${tenth} steps`
  return {
    ...{ title: 'Mean reward in training', gain: null, notes: [`first and last ${of}`] },
    before: number(mean(rewards.slice(0, tenth))),
    after: number(mean(rewards.slice(-tenth))),
  }
}

const speedCard = (data: ReportData): HeadlineCard | null => {
  const { steps, seconds, rollouts, tokens } = totalsOf(data)
  if (seconds === 0 || steps === 0) return null
  const rate = steps / seconds
  const amounts = [
    `${number(steps)} steps in ${formatDuration(seconds)}`,
    rollouts > 0 && `${number(rollouts)} rollouts`,
    tokens > 0 && `${number(tokens)} tokens`,
  ]
  return {
    ...{ title: 'Speed', before: null, gain: null, notes: [joinKnown(amounts, ', ')] },
    after: rate >= 1 ? `${rate.toFixed(2)} steps/s` : `${formatDuration(1 / rate)} a step`,
  }
}

/** The cards that this run has metrics for. */
export const headlineCards = (data: ReportData): HeadlineCard[] => {
  const [set] = setNames(data)
  const evaluated = set === undefined ? [] : headlineScores(evalsOf(data, set))
  const cards = evaluated.map(score => scoreCard(data, set, score))
  const scores = [...cards, set === undefined ? null : greedyCard(data, set)].filter(card => card !== null)
  const reward = scores.length < 2 ? rewardCard(data) : null
  return [...scores, reward, speedCard(data)].filter(card => card !== null)
}
