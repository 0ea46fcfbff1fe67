/** @file The headline of a report: what changed, with its uncertainty, and what it took. */

import { mean } from '../../util/descriptive.ts'
import {
  capitalised,
  formatDuration,
  number,
  percent,
  percentInterval,
  plural,
  points,
  pointsInterval,
} from '../../util/format.ts'
import type { EvalRow } from '../rows.ts'
import { describeScore, greedyName, headlineScores, scoreValue } from '../scores.ts'
import { beforeAfter, evalsOf, type ReportData, setNames, trainingSeconds } from './data.ts'
import { type Html, html } from './html.ts'
import { type ScoreChange, scoreChange } from './paired.ts'

const card = (title: string, big: Html, ...rest: (Html | null)[]): Html =>
  html`<div class="panel card"><h3>${title}</h3><div class="big">${big}</div>${rest}</div>`

const sub = (text: string): Html | null => (text === '' ? null : html`<div class="sub">${text}</div>`)

const fromTo = (before: string | null, after: string): Html =>
  before === null
    ? html`${after}`
    : html`<span class="from">${before}</span><span class="arrow">→</span>${after}`

const percentFromTo = ({ before, after }: ScoreChange): Html =>
  fromTo(before === null ? null : percent(before), percent(after))

const gainLine = ({ paired }: ScoreChange, after: EvalRow, score: string): Html | null => {
  if (paired !== null) {
    const direction = paired.interval[0] > 0 ? 'up' : paired.interval[1] < 0 ? 'down' : ''
    return html`<div class="gain ${direction}">${points(paired.difference)} points</div>${sub(`95% interval ${pointsInterval(paired.interval)}`)}`
  }
  const interval = after.scores[score].interval
  return interval ? sub(`95% interval after: ${percentInterval(interval)}`) : null
}

/** Where the last evaluation has more problems than it shares with the first, the figure over all of them. */
const allLine = ({ paired }: ScoreChange, after: EvalRow, score: string): Html | null =>
  paired !== null && paired.n < after.n
    ? sub(`${percent(scoreValue(after, score))} after on all ${number(after.n)} problems`)
    : null

const samplesOf = ({ samples }: EvalRow): string => (samples ? ` × ${plural(samples, 'sample')}` : '')

const scoreCard = (data: ReportData, set: string, score: string): Html | null => {
  const { before, after } = beforeAfter(data, set)
  const change = scoreChange(before, after, score)
  if (after === undefined || change === null) return null
  return card(
    capitalised(describeScore(score, [after])),
    percentFromTo(change),
    gainLine(change, after, score),
    sub(`${set}, ${change.problems}${samplesOf(after)}`),
    allLine(change, after, score),
  )
}

/** The first headline score as decoded greedily, with the others in a line. */
const greedyCard = (data: ReportData, set: string): Html | null => {
  const { before, after } = beforeAfter(data, set)
  if (after === undefined) return null
  const [first, ...others] = headlineScores([after]).flatMap(score => {
    const change = scoreChange(before, after, greedyName(score))
    return change ? [{ words: describeScore(score, [after]), change }] : []
  })
  if (first === undefined) return null
  const line = ({ words, change }: typeof first) =>
    `${capitalised(words)}: ${change.before === null ? '' : `${percent(change.before)} → `}${percent(change.after)}`
  return card(
    `Greedy: ${first.words}`,
    percentFromTo(first.change),
    sub(others.map(line).join(', ')),
    sub(first.change.problems),
  )
}

const rewardCard = (data: ReportData): Html | null => {
  const rewards = data.metrics.flatMap(row => (typeof row.reward === 'number' ? [row.reward] : []))
  if (rewards.length < 2) return null
  const tenth = Math.max(1, Math.round(rewards.length / 10))
  return card(
    'Mean reward in training',
    fromTo(number(mean(rewards.slice(0, tenth))), number(mean(rewards.slice(-tenth)))),
    sub(`first and last ${tenth === 1 ? 'step' : `${tenth} steps`}`),
  )
}

const speedCard = (data: ReportData): Html | null => {
  const seconds = trainingSeconds(data)
  const steps = data.metrics.length
  if (seconds === 0 || steps === 0) return null
  const total = (key: 'rollouts' | 'tokens') =>
    data.metrics.reduce((sum, row) => sum + (typeof row[key] === 'number' ? row[key] : 0), 0)
  const rate = steps / seconds
  const amounts = [
    `${number(steps)} steps in ${formatDuration(seconds)}`,
    total('rollouts') > 0 && `${number(total('rollouts'))} rollouts`,
    total('tokens') > 0 && `${number(total('tokens'))} tokens`,
  ].filter(part => part !== false)
  return card(
    'Speed',
    rate >= 1 ? html`${rate.toFixed(2)} steps/s` : html`${formatDuration(1 / rate)} a step`,
    sub(amounts.join(', ')),
  )
}

/** The cards that this run has figures for. */
export const headlineCards = (data: ReportData): Html | null => {
  const set = setNames(data)[0]
  const scores =
    set === undefined
      ? []
      : [
          ...headlineScores(evalsOf(data, set)).map(score => scoreCard(data, set, score)),
          greedyCard(data, set),
        ]
  const shown = scores.filter(item => item !== null)
  const cards = [...(shown.length < 2 ? [...shown, rewardCard(data)] : shown), speedCard(data)].filter(
    c => c !== null,
  )
  return cards.length > 0 ? html`<section class="cards">${cards}</section>` : null
}
