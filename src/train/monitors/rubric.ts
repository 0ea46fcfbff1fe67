/** @file Monitors of the rubric and its graders: one criterion that pays for all, verdicts that fail, ways round the rubric. */

import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import { percent } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { defineMonitor, type Sign } from './monitor.ts'
import { recentRate } from './responses.ts'
import { changeSinceStart, groupOf, latestValues } from './series.ts'

const namesIn = (rows: readonly MetricsRow[], group: string, window: number): string[] => [
  ...new Set(rows.slice(-window).flatMap(row => Object.keys(groupOf(row, group)))),
]

const strongest = (signs: readonly Sign[]): Sign | null =>
  signs.length === 0 ? null : signs.reduce((a, b) => (b.level > a.level ? b : a))

export const singleCriterion = defineMonitor({
  name: 'singleCriterion',
  title: 'One criterion brings the reward',
  why: 'the policy collects the easiest points and drops the rest: the score rises and the rubric as a whole does not',
  advice:
    'give the neglected criteria more points, cap or saturate this one, or let a failed critical criterion veto the score (rules saturate and veto); read how the kept rollouts earn it',
  look: ({ rows }, thresholds, { window, sigmas }): Sign | null =>
    strongest(
      namesIn(rows, 'rewardShare', window).flatMap(id => {
        const change = changeSinceStart(rows, window, row => groupOf(row, 'rewardShare')[id])
        if (change === null) return []
        const part = mean(latestValues(rows, window, row => groupOf(row, 'pointShare')[id]))
        const excess = change.after - part
        const rise = change.after - change.before
        return {
          level: Math.min(
            change.after / thresholds.share,
            excess / thresholds.excess,
            rise / thresholds.rise,
            change.sigmas / sigmas,
          ),
          seen: `${id} brings ${percent(change.after)} of the points earned (${percent(change.before)} at the start); it is worth ${percent(part)} of those to be had`,
          figures: { share: change.after, shareAtStart: change.before, ofPoints: part },
          subject: id,
        }
      }),
    ),
  evidence: (rollouts, { subject }) =>
    rollouts.map(({ row }) => {
      const credits = creditsOf(row)
      const others = Object.entries(credits).filter(([id]) => id !== subject)
      return (credits[subject ?? ''] ?? 0) - (others.length > 0 ? mean(others.map(([, x]) => x)) : 0)
    }),
})

/** Credit by criterion, as far as a row tells. */
const creditsOf = ({ parts, verdicts = [] }: RolloutRow): Record<string, number> =>
  Object.fromEntries(
    parts
      ? Object.entries(parts).flatMap(([id, credit]) => (credit === null ? [] : [[id, credit]]))
      : verdicts.flatMap(({ criterionId, credit, met }) =>
          credit === undefined && met === null ? [] : [[criterionId, credit ?? Number(met)]],
        ),
  )

/** Most criteria that a sign names. */
const MOST_NAMED = 6
/** What is not met by then is known, and no run is walked through at each of its steps. */
const FIRST_STEPS = 50

/** Whether a criterion has points above zero, as far as rows tell: where nothing was earned at all, they tell of none. */
const isPaid = (rows: readonly MetricsRow[], id: string): boolean => {
  const shares = rows.map(row => groupOf(row, 'pointShare'))
  return shares.some(own => (own[id] ?? 0) > 0) || shares.every(own => Object.keys(own).length === 0)
}

export const neverMet = defineMonitor({
  name: 'neverMet',
  title: 'Criteria that are never met',
  why: 'where no sample meets a criterion, no sample is better by it than another: it pays nothing, and rewards alone do not find what is never tried',
  advice:
    'show it while sampling (a scaffold: recipe ruscarl), give partial credit or an easier form of it, train on a few examples first (recipe sft), or check that its rule says what you mean',
  confirm: 1,
  look: ({ rows }, { steps }): Sign | null => {
    if (rows.length > FIRST_STEPS) return null
    const names = namesIn(rows, 'criteria', FIRST_STEPS).filter(id => {
      const rates = latestValues(rows, FIRST_STEPS, row => groupOf(row, 'criteria')[id])
      return rates.length >= steps && rates.every(rate => rate === 0) && isPaid(rows, id)
    })
    const shown = names.slice(0, MOST_NAMED).join(', ')
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
    return {
      level: names.length > 0 ? 1 : 0,
      seen: `since the start no response has met ${shown}${more}`,
      over: 'each has been met by some',
      figures: { criteria: names.length },
    }
  },
  evidence: rollouts => rollouts.map(() => 0),
})

/**
 * What is true of responses, whatever the criteria say: a held-out grader's score, else how many are right. One of the two for a
 * whole run: a step at which the grader failed is none on which its score is the accuracy.
 */
const truthIn = (rows: readonly MetricsRow[]): ((row: MetricsRow) => unknown) =>
  rows.some(({ heldOut }) => typeof heldOut === 'number') ? row => row.heldOut : row => row.accuracy

/** Means of what responses earn by criteria that are proposed while training. */
const earnedOf = (row: MetricsRow): unknown => {
  const stages = Object.values(groupOf(row, 'stageScores')).filter(score => typeof score === 'number')
  return row.cotWherePaid ?? (stages.length > 0 ? mean(stages) : null)
}

/** Where nobody knows what is true, responses may have become better: it takes a rise of so many times the threshold. */
const UNKNOWN_TRUTH = 2

export const alwaysMet = defineMonitor({
  name: 'alwaysMet',
  title: 'Proposed criteria drift towards always met',
  why: 'a criterion that all responses meet separates none of them; rubrics that evolve unchecked end there while scores look fine (arXiv 2610.11464)',
  advice:
    'read the latest criteria and what the judge says of them; have them tried on labelled answers (anchors), give the judge a stricter template, or go back to a checkpoint before the drift',
  look: ({ rows }, { rise }, { window, sigmas }): Sign | null => {
    const truth = changeSinceStart(rows, window, truthIn(rows))
    const enough = truth === null ? UNKNOWN_TRUTH * rise : rise
    const better = truth === null ? 0 : Math.max(0, truth.after - truth.before)
    const truthText =
      truth === null
        ? ''
        : `; what is true of them went from ${percent(truth.before)} to ${percent(truth.after)}`
    const signOf = (subject: string, what: string, pick: (row: MetricsRow) => unknown): Sign[] => {
      const change = changeSinceStart(rows, window, pick)
      if (change === null) return []
      const { before, after } = change
      return [
        {
          level: Math.min((after - before - better) / enough, change.sigmas / sigmas),
          seen: `${what} rose from ${percent(before)} to ${percent(after)}${truthText}`,
          figures: { before, now: after, ...(truth && { truthBefore: truth.before, truthNow: truth.after }) },
          subject,
        },
      ]
    }
    return strongest([
      ...signOf('share', 'the share of criteria that all responses meet', row => row.alwaysMet),
      // Without anything to compare it with, earning more is what training is for.
      ...(truth === null ? [] : signOf('earned', 'what responses earn by proposed criteria', earnedOf)),
    ])
  },
  evidence: rollouts => rollouts.map(({ row }) => (row.role === 'rubricator' ? 1 : 0)),
})

const SIDES = { above: 'judgeNullRatePositive', below: 'judgeNullRateNegative' } as const

export const nullVerdicts = defineMonitor({
  name: 'nullVerdicts',
  title: 'Verdicts missing',
  why: 'a missing verdict drops its criterion or counts as not met; for a penalty that is a gift, so a policy can learn to write what the judge cannot read',
  advice:
    'read the raw answers kept with the verdicts; give the judge a sturdier template or more retries, set how nulls count (drop or as-false), and do not report a run above 5%',
  look: ({ rows }, { rate, rise }, { window, sigmas }): Sign | null =>
    strongest(
      Object.entries(SIDES).flatMap(([side, name]) => {
        const pick = (row: MetricsRow) => row[name]
        const found = recentRate(rows, window, pick)
        if (found === null) return []
        const change = changeSinceStart(rows, window, pick)
        const drift =
          change === null ? 0 : Math.min((change.after - change.before) / rise, change.sigmas / sigmas)
        return {
          level: Math.max(found.atLeast / rate, drift),
          seen: `graders failed on ${percent(found.rate)} of verdicts about criteria with points ${side} zero${change === null ? '' : `, ${percent(change.before)} at the start`}`,
          figures: { rate: found.rate, ...(change !== null && { before: change.before }) },
          subject: side,
        }
      }),
    ),
  evidence: rollouts =>
    rollouts.map(
      ({ row }) =>
        (row.verdicts ?? []).filter(({ met, credit }) => met === null && credit === undefined).length,
    ),
})

/** Entries of the metrics `exploits` that are no doing of the policy. */
const NOT_EXPLOITS = new Set(['solverFailed', 'faultyProblem', 'timeout'])

export const exploits = defineMonitor({
  name: 'exploits',
  title: 'A known way round the rubric',
  why: 'the responses do more and more of something that satisfies the letter of a criterion and not its purpose',
  advice:
    'close it: leave such steps out of the score (noveltyDiscount where the recipe has it), add a penalty, or pay for the whole answer instead of its parts',
  look: ({ rows }, { rise }, { window, sigmas }): Sign | null =>
    strongest(
      namesIn(rows, 'exploits', window).flatMap(name => {
        if (NOT_EXPLOITS.has(name)) return []
        const change = changeSinceStart(rows, window, row => groupOf(row, 'exploits')[name])
        if (change === null) return []
        return {
          level: Math.min((change.after - change.before) / rise, change.sigmas / sigmas),
          seen: `${name} rose from ${percent(change.before)} to ${percent(change.after)}`,
          figures: { before: change.before, now: change.after },
          subject: name,
        }
      }),
    ),
  evidence: (rollouts, { subject }) => rollouts.map(({ row }) => row.flags?.[subject ?? ''] ?? 0),
})
