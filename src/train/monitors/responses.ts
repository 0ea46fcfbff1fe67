/** @file Monitors of what responses look like: length, repetition, talk of the scaffold, running into the limit. */

import type { TokenIds } from '../../rl/datum.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { percent, threeDigits } from '../../util/format.ts'
import { mean, wilsonInterval } from '../../util/statistics.ts'
import type { MonitorSettings } from './config.ts'
import { defineMonitor, type History, type Sign, type WatchedRollout } from './monitor.ts'
import { changeSinceStart, latestValues, seriesValues } from './series.ts'

/** Coverage of the interval whose lower end a rate is judged by: of few rollouts, few odd ones are no sign. */
const RATE_LEVEL = 0.98

/** A share of the rollouts over the latest steps, and what it is at least; null before half a window has it. */
export const recentRate = (
  rows: readonly MetricsRow[],
  window: number,
  pick: (row: MetricsRow) => unknown,
): { rate: number; atLeast: number } | null => {
  const latest = rows.slice(-window)
  const values = seriesValues(latest, pick)
  if (values.length < Math.ceil(window / 2)) return null
  const rate = mean(values)
  const rollouts = seriesValues(latest, row => row.rollouts).reduce((a, b) => a + b, 0)
  if (rollouts === 0) return { rate, atLeast: rate }
  return { rate, atLeast: wilsonInterval(rate * rollouts, rollouts, RATE_LEVEL).low }
}

/** The look at a share of the rollouts. @param did what they do, in words */
const rateSign =
  (pick: (row: MetricsRow) => unknown, did: string) =>
  ({ rows }: History, { rate: threshold }: { rate: number }, { window }: MonitorSettings): Sign | null => {
    const found = recentRate(rows, window, pick)
    if (found === null) return null
    return {
      level: found.atLeast / threshold,
      seen: `${percent(found.rate)} of responses ${did}`,
      figures: { rate: found.rate },
    }
  }

/** Correlation from which on length is said to be paid for. */
const PAID = 0.2

export const lengthDrift = defineMonitor({
  name: 'lengthDrift',
  title: 'Length drift',
  why: 'graders tend to like long answers and rubrics to forget a limit: length that is paid for grows without end, and so do time and cost; answers that shrink often skip the work',
  advice:
    'read the rollouts kept with this warning; if the length carries nothing, add a criterion or a penalty for it, compare grader scores at equal length, and see whether the loss weighs long responses more',
  look: ({ rows }, { ratio }, { window, sigmas }): Sign | null => {
    const change = changeSinceStart(rows, window, row => row.responseTokens)
    if (change === null || !(change.before > 0) || !(change.after > 0)) return null
    const factor = change.after / change.before
    const paid = mean(latestValues(rows, window, row => row.lengthAdvantage))
    const known = Number.isFinite(paid)
    return {
      level: Math.min(Math.abs(Math.log(factor)) / Math.log(ratio), change.sigmas / sigmas),
      seen: `responses ${factor > 1 ? 'grew' : 'shrank'} from ${threeDigits(change.before)} to ${threeDigits(change.after)} tokens${known ? `; ${lengthPaid(paid)}` : ''}`,
      figures: {
        before: change.before,
        now: change.after,
        factor,
        ...(known && { lengthAdvantage: paid }),
      },
    }
  },
  evidence: (rollouts, { figures }) => {
    const longest = Math.max(...rollouts.map(({ tokens }) => tokens.length))
    return rollouts.map(({ tokens }) => (figures.factor > 1 ? tokens.length : 1 + longest - tokens.length))
  },
})

const lengthPaid = (correlation: number): string => {
  if (Math.abs(correlation) < PAID) return 'length itself is hardly paid for'
  const side = correlation > 0 ? 'longer' : 'shorter'
  return `${side} ones are rewarded more (correlation of length and advantage ${threeDigits(correlation)})`
}

/** Tokens of a sequence that counts as said before. */
const SEQUENCE = 4

/** Share of a response's four-token sequences that it has said before; 0 for one without any. */
export const repeatedShare = (tokens: TokenIds): number => {
  const count = tokens.length - SEQUENCE + 1
  if (count < 1) return 0
  const seen = new Set<string>()
  for (let i = 0; i < count; i++) {
    let key = ''
    for (let k = i; k < i + SEQUENCE; k++) key += `${tokens[k]},`
    seen.add(key)
  }
  return 1 - seen.size / count
}

export const repetition = defineMonitor({
  name: 'repetition',
  title: 'Repeated sequences',
  why: 'a response that says the same again satisfies counts and lengths without saying more; it is also how a policy begins to fall apart',
  advice:
    'penalise repetition in the rubric, leave repeated steps out of what is paid, or lower the learning rate if the reward does not gain by it',
  look: ({ rows }, { rise }, { window, sigmas }): Sign | null => {
    const change = changeSinceStart(rows, window, row => row.repetition)
    if (change === null) return null
    return {
      level: Math.min((change.after - change.before) / rise, change.sigmas / sigmas),
      seen: `${percent(change.after)} of four-token sequences in a response are repeats, ${percent(change.before)} at the start`,
      figures: { before: change.before, now: change.after },
    }
  },
  evidence: rollouts => rollouts.map(({ tokens }) => repeatedShare(tokens)),
})

export const scaffoldLeak = defineMonitor({
  name: 'scaffoldLeak',
  title: 'Scaffold leaks',
  why: 'responses repeat the instructions of the scaffold; trained on the plain prompt, the policy learns to speak of a rubric that nobody asked about',
  advice:
    'forbid mentioning the criteria in the scaffold, give leaking responses the lowest reward, or let the scaffold decay earlier',
  look: rateSign(row => row.leakRate, 'quote the scaffold'),
  evidence: rollouts => rollouts.map(({ row }) => row.flags?.leak ?? 0),
})

export const truncation = defineMonitor({
  name: 'truncation',
  title: 'Truncated responses',
  why: 'a response that is cut off loses its ending whatever it was worth, so the reward teaches length instead of quality, and a change in reward may be a change in length',
  advice:
    'raise rollout.maxTokens; if responses fill whatever they get, penalise length softly before the limit, and look for repetition',
  look: rateSign(row => row.truncationRate, 'ran into the token limit'),
  evidence: rollouts => rollouts.map(wasCut),
})

const wasCut = ({ row }: WatchedRollout): number => (row.finishReason === 'length' ? 1 : 0)
