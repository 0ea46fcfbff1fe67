/** @file From what a judge said to verdicts about criteria. */

import { type Calibration, calibrated } from '../../eval/calibration.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { JudgeOutcome } from './ask.ts'
import type { Remembered } from './judge-call.ts'
import type { Judgement } from './templates/scale.ts'

/** A judge's verdict; `margin` says how sure it was (nats between its verdict's token and the next best verdict's). */
export interface JudgedVerdict extends Verdict {
  margin?: number
  /** Log-odds of yes before calibration, where likelihoods were asked for. */
  logOdds?: number
}

/**
 * Verdicts of a call, in the order of its criteria. An unusable call is null for each of them, reason and raw text kept.
 * @param options.tellsCalls whether each of them says which call it came from
 * @param options.calibration of log-odds; what is remembered is not calibrated
 */
export const verdictsOf = (
  criteria: readonly Criterion[],
  outcome: JudgeOutcome,
  {
    nullsKeepRaw,
    tellsCalls,
    calibration,
  }: { nullsKeepRaw: boolean; tellsCalls: boolean; calibration?: Calibration | null },
): JudgedVerdict[] => {
  const { judgements, attempts, call } = outcome
  const called = tellsCalls ? { call } : {}
  if (judgements !== null)
    return criteria.map(({ id }, index) => ({
      criterionId: id,
      ...asCalibrated(judgements[index], calibration ?? null),
      source: 'llm',
      attempts,
      ...called,
    }))
  const { problem, raw } = outcome
  const kept = nullsKeepRaw && raw !== undefined && raw !== '' ? { raw } : {}
  return criteria.map(({ id }) => ({
    criterionId: id,
    met: null,
    explanation: problem,
    source: 'llm',
    attempts,
    ...kept,
    ...called,
  }))
}

const asCalibrated = (judgement: Judgement, calibration: Calibration | null): Judgement => {
  if (judgement.logOdds === undefined || calibration === null) return judgement
  const logOdds = calibrated(judgement.logOdds, calibration)
  return { ...judgement, met: logOdds > 0, margin: Math.abs(logOdds) }
}

/** Whether a remembered value is what was once put there: a list of judgements of this length. */
export const isJudgements = (value: unknown, count: number): value is Remembered =>
  Array.isArray(value) &&
  value.length === count &&
  value.every(
    entry =>
      entry !== null && typeof entry === 'object' && (entry.met === null || typeof entry.met === 'boolean'),
  )
