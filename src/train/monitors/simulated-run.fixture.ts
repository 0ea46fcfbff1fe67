/** @file Simulated trainings: metrics that move and jitter as those of healthy runs do, and runs that go wrong from a step on. */

import { evalRowOf } from '../../runs/eval-row.fixture.ts'
import type { EvalRow, MetricsRow } from '../../runs/rows.ts'
import { Rng } from '../../util/rng.ts'

const ROLLOUTS = 128
const EVAL_EVERY = 20
const PROBLEMS = 150

export interface SimulatedRun {
  rows: MetricsRow[]
  evals: EvalRow[]
}

/** Changes a healthy row from a step on; `since` counts steps from 1. */
export type Illness = (row: MetricsRow, since: number) => Partial<MetricsRow>

/** Noise with a memory: it wanders, as metrics of a training do. */
const wander = (rng: Rng, spread: number, memory = 0.6): (() => number) => {
  let value = 0
  return () => {
    value = memory * value + Math.sqrt(1 - memory * memory) * spread * rng.normal()
    return value
  }
}

const clamp = (x: number) => Math.min(1, Math.max(0, x))

/** A share of `ROLLOUTS` rollouts with chance `p`. */
const rate = (rng: Rng, p: number): number => {
  let hits = 0
  for (let i = 0; i < ROLLOUTS; i++) hits += Number(rng.next() < p)
  return hits / ROLLOUTS
}

const evaluate = (rng: Rng, step: number, accuracy: number): EvalRow => {
  const rights = Array.from({ length: PROBLEMS }, () => Number(rng.next() < accuracy))
  return evalRowOf(rights, { step, set: 'test' })
}

/**
 * A run that learns: reward and test score rise from .3 to .6, entropy halves, responses grow by a tenth, groups become
 * alike, everything jitters, and now and then a step is odd.
 * @param illness what goes wrong after step `onset`
 * @param testScore accuracy of evaluations; that of a healthy run where absent
 */
export const simulate = (
  seed: number | string,
  steps: number,
  {
    illness,
    onset = 0,
    testScore,
  }: { illness?: Illness; onset?: number; testScore?: (step: number) => number } = {},
): SimulatedRun => {
  const rng = new Rng(`simulated run/${seed}`)
  const noise = (spread: number, name: string) => wander(rng.fork(name), spread)
  const jitter = {
    reward: noise(0.03, 'reward'),
    opinion: noise(0.03, 'opinion'),
    length: noise(0.03, 'length'),
    entropy: noise(0.06, 'entropy'),
    groups: noise(0.08, 'groups'),
    repetition: noise(0.02, 'repetition'),
    exploit: noise(0.02, 'exploit'),
    shares: noise(0.03, 'shares'),
    paid: noise(0.15, 'paid'),
    always: noise(0.03, 'always met'),
    earned: noise(0.03, 'earned'),
  }
  const rows: MetricsRow[] = []
  const evals = [evaluate(rng, 0, 0.3)]
  for (let step = 1; step <= steps; step++) {
    const progress = 1 / (1 + Math.exp((steps / 2 - step) / (steps / 8)))
    const score = 0.3 + 0.3 * progress
    const share = 0.3 + 0.1 * progress + jitter.shares()
    const odd = rng.next() < 0.02
    const row: MetricsRow = {
      step,
      reward: score + jitter.reward(),
      heldOut: clamp(0.9 * score + jitter.opinion()),
      responseTokens: 60 * (1 + 0.1 * progress) * Math.exp(jitter.length()),
      lengthAdvantage: jitter.paid(),
      repetition: clamp(0.1 + jitter.repetition()),
      leakRate: rate(rng, 0.003),
      truncationRate: rate(rng, 0.04),
      judgeNullRatePositive: rate(rng, 0.015),
      judgeNullRateNegative: rate(rng, 0.015),
      exploits: { restatedPremise: clamp(0.5 + 0.03 * progress + jitter.exploit()) },
      rewardShare: { C1: share, C2: 1 - share },
      pointShare: { C1: 0.45, C2: 0.55 },
      alwaysMet: clamp(0.1 + 0.2 * progress + jitter.always()),
      cotWherePaid: clamp(0.5 + 0.1 * progress + jitter.earned()),
      entropy: 1.4 * (1 - 0.5 * progress) * Math.exp(jitter.entropy()),
      zeroVarianceGroups: clamp(0.1 + 0.5 * progress + jitter.groups()),
      logprobGapMax: odd ? 0.5 : 1e-5,
      ratioMax: odd ? 40 : 1 + rng.next(),
      ratioMin: odd ? 0.02 : 1 - 0.5 * rng.next(),
      rollouts: ROLLOUTS,
    }
    rows.push(illness && step > onset ? { ...row, ...illness(row, step - onset) } : row)
    if (step % EVAL_EVERY === 0) evals.push(evaluate(rng, step, testScore?.(step) ?? score))
  }
  return { rows, evals }
}
