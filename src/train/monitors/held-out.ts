/** @file Monitors of over-optimisation: the training's own reward rises while a held-out judge's scores fall. */

import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { describeScore, headlineScores, scoreValue } from '../../runs/scores.ts'
import { percent, threeDigits } from '../../util/format.ts'
import { mean, std } from '../../util/statistics.ts'
import { defineMonitor, type History, type Sign, type WatchedRollout } from './monitor.ts'
import { changeBetween, type SeriesChange, seriesValues } from './series.ts'

/** Strongest level that is reported. */
const MOST = 1e6

const WHY =
  'the policy has found something that the reward pays for and that is not what the reward stands for; from here on training makes the model worse'
const ADVICE =
  'read the rollouts kept with this warning, find what they are paid for, and close it in the rubric or the grader; go back to a checkpoint before the fall; a KL term or a lower learning rate slows it down but does not cure it'

/** A reward that merely holds while the other opinion falls is the same sign; it takes a fall of so many times the threshold. */
const HOLDS = 2

/** What the reward did meanwhile, and by what a fall has to be divided; null where it fell too: that is another illness. */
const rewardTrend = (
  { before, after, sigmas }: SeriesChange,
  enough: number,
): { words: string; divisor: number } | null => {
  const moved = sigmas >= enough
  if (moved && after < before) return null
  const [from, to] = [threeDigits(before), threeDigits(after)]
  return moved
    ? { words: `the reward rose from ${from} to ${to}`, divisor: 1 }
    : { words: `the reward stayed (${from}, now ${to})`, divisor: HOLDS }
}

const normalised = (values: readonly number[]): number[] => {
  const spread = std(values)
  const centre = mean(values)
  return values.map(value => (spread > 0 ? (value - centre) / spread : 0))
}

/** Paid best and with the lowest held-out scores, of those paid that have one; without any, paid best. */
const paidForNothing = (rollouts: readonly WatchedRollout[]): number[] => {
  const paid = rollouts.filter(({ row }) => row.reward !== null)
  const asked = paid.filter(({ row }) => row.heldOut !== undefined)
  const own = asked.length > 0 ? asked : paid
  const rewards = normalised(own.map(({ row }) => row.reward!))
  const opinions = normalised(own.map(({ row }) => row.heldOut ?? 0))
  const scores = new Map(own.map((rollout, i) => [rollout, 10 + rewards[i] - opinions[i]]))
  return rollouts.map(rollout => scores.get(rollout) ?? 0)
}

export const heldOutFalls = defineMonitor({
  name: 'heldOutFalls',
  title: 'Held-out score falls, the reward does not',
  why: WHY,
  advice: ADVICE,
  look: ({ rows }, { drop }, { window, sigmas }): Sign | null => {
    const pairs = rows.flatMap(({ reward, heldOut }) =>
      typeof reward === 'number' && typeof heldOut === 'number' ? [{ reward, heldOut }] : [],
    )
    // A grader that is asked every few steps has nothing new to say in between.
    if (typeof rows.at(-1)?.heldOut !== 'number' || pairs.length < 2 * window) return null
    const late = pairs.slice(-window)
    const best = pairs.slice(bestWindow(pairs.slice(0, -window), window)).slice(0, window)
    const opinion = changeBetween(pick(best, 'heldOut'), pick(late, 'heldOut'))
    const reward = changeBetween(pick(best, 'reward'), pick(late, 'reward'))
    const fall = opinion.before - opinion.after
    const trend = rewardTrend(reward, sigmas)
    return {
      level: trend ? Math.min(fall / (trend.divisor * drop), opinion.sigmas / sigmas) : 0,
      seen: `the held-out grader's score fell from ${threeDigits(opinion.before)} to ${threeDigits(opinion.after)} while ${trend?.words ?? 'the reward fell too'}`,
      over: `the held-out grader's score is ${threeDigits(opinion.after)}; at its best it was ${threeDigits(opinion.before)}`,
      figures: {
        heldOutBest: opinion.before,
        heldOutNow: opinion.after,
        rewardThen: reward.before,
        rewardNow: reward.after,
      },
    }
  },
  evidence: paidForNothing,
})

const pick = <K extends string>(pairs: readonly Record<K, number>[], key: K) => pairs.map(pair => pair[key])

/** Where the window with the highest mean begins; the first of equal ones. */
const bestWindow = (pairs: readonly { heldOut: number }[], window: number): number => {
  let sum = 0
  let best = Number.NEGATIVE_INFINITY
  let at = 0
  pairs.forEach(({ heldOut }, i) => {
    sum += heldOut - (i >= window ? pairs[i - window].heldOut : 0)
    if (i < window - 1 || sum <= best + 1e-12) return
    best = sum
    at = i - window + 1
  })
  return at
}

export const evaluationFalls = defineMonitor({
  name: 'evaluationFalls',
  title: 'Test score falls, the reward does not',
  why: WHY,
  advice: ADVICE,
  // Evaluations are few, and each is a test with its own error.
  confirm: 1,
  look: (history, { drop }, { window, sigmas }): Sign | null => {
    const signs = headlineScores(setRows(history)).flatMap(
      score => evaluationSign(history, score, drop, window, sigmas) ?? [],
    )
    return signs.length === 0 ? null : signs.reduce((a, b) => (b.level > a.level ? b : a))
  },
  evidence: paidForNothing,
})

const evaluationSign = (
  history: History,
  score: string,
  drop: number,
  window: number,
  sigmas: number,
): Sign | null => {
  const rows = setRows(history).filter(row => scoreValue(row, score) !== null)
  const last = rows.at(-1)
  // Between evaluations there is nothing new to say: an old one is not to be held against today's reward.
  if (last === undefined || rows.length < 2 || last.step !== history.rows.at(-1)?.step) return null
  const valueAt = (row: EvalRow) => scoreValue(row, score)!
  const best = rows.slice(0, -1).reduce((a, b) => (valueAt(b) > valueAt(a) ? b : a))
  const { fall, error } = fallBetween(best, last, score)
  const reward = rewardBetween(history.rows, best.step, window)
  if (reward === null) return null
  const trend = rewardTrend(reward, sigmas)
  const name = describeScore(score, [last])
  const [then, now] = [valueAt(best), valueAt(last)]
  return {
    level: trend ? Math.min(fall / (trend.divisor * drop), error > 0 ? fall / (sigmas * error) : MOST) : 0,
    seen: `on ${last.set}, ${name} fell from ${percent(then)} at step ${best.step} to ${percent(now)} at step ${last.step} while ${trend?.words ?? 'the reward fell too'}`,
    over: `on ${last.set}, ${name} is ${percent(now)} at step ${last.step}; the best before was ${percent(then)} at step ${best.step}`,
    figures: {
      best: then,
      bestStep: best.step,
      now,
      rewardThen: reward.before,
      rewardNow: reward.after,
    },
  }
}

const setRows = ({ evals, primarySet }: History): EvalRow[] => {
  const set = evals.some(row => row.set === primarySet) ? primarySet : evals[0]?.set
  return evals.filter(row => row.set === set)
}

/** The reward around a step, and now; on plain prompts where some rollouts were helped. Null while there is too little of it. */
const rewardBetween = (rows: readonly MetricsRow[], step: number, window: number): SeriesChange | null => {
  const own = (row: MetricsRow) => row.rewardPlain ?? row.reward
  const next = rows.findIndex(row => row.step > step)
  if (next === -1 || rows.length - next <= window / 2) return null
  const begin = Math.max(0, next - Math.floor(window / 2))
  const then = seriesValues(rows.slice(begin, begin + window), own)
  const now = seriesValues(rows.slice(-window), own)
  // The two may overlap in a short run; a change that shows all the same is one.
  return then.length < 2 || now.length < 2 ? null : changeBetween(then, now)
}

/** Paired over the problems that both evaluations asked; else as two independent shares. */
const fallBetween = (before: EvalRow, after: EvalRow, score: string): { fall: number; error: number } => {
  const known = new Map((before.items ?? []).map(({ id, scores }) => [id, scores[score]]))
  const differences = (after.items ?? []).flatMap(({ id, scores }) => {
    const [was, is] = [known.get(id), scores[score]]
    return typeof was === 'number' && typeof is === 'number' ? [was - is] : []
  })
  if (differences.length > 1)
    return { fall: mean(differences), error: std(differences, 1) / Math.sqrt(differences.length) }
  const [was, is] = [scoreValue(before, score)!, scoreValue(after, score)!]
  const chance = (share: number, n: number) => (share * (1 - share)) / n
  return { fall: was - is, error: Math.sqrt(chance(was, before.n) + chance(is, after.n)) }
}
