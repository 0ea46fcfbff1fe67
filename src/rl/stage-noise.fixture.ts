/** @file A toy of four stages whose true qualities are known: what learns faster, stage credit or terminal broadcast, as the judge errs. */

import { Rng } from '../util/rng.ts'
import { type StageWeights, stageAdvantages } from './stage-credit.ts'

/** Four bits: each stage does well or not. The answer is right when all do. */
export type Trajectory = readonly [0 | 1, 0 | 1, 0 | 1, 0 | 1]

export const TRAJECTORIES: readonly Trajectory[] = Array.from({ length: 16 }, (_, i) => [
  (i & 1) as 0 | 1,
  ((i >> 1) & 1) as 0 | 1,
  ((i >> 2) & 1) as 0 | 1,
  ((i >> 3) & 1) as 0 | 1,
])

/** True quality of each stage: of the first three what they do, of the answer whether it is right. */
export const truth = (t: Trajectory): number[] => [t[0], t[1], t[2], t[0] & t[1] & t[2] & t[3]]

const chance = (logit: number): number => 1 / (1 + Math.exp(-logit))

export interface Course {
  lambda: StageWeights
  mode: 'stages' | 'terminal'
  /** Chance that the judge turns a stage's reward round; the answer's is always true. */
  flipRate: number
  /** Policies that are trained side by side, each with random streams of its own. */
  policies: number
}

const STEPS = 60
const SAMPLES = 8
const LEARNING_RATE = 0.6
/** Logit of doing well in a stage at the start: .4, so that .026 of the answers are right. */
const START = -0.4

/** Mean chance of a right answer after training policies of four independent stages by policy gradients. */
export const learnToy = ({ lambda, mode, flipRate, policies }: Course): number => {
  const all = Array.from({ length: policies }, (_, seed) => ({
    logits: [START, START, START, START],
    rng: new Rng(`toy/${seed}`),
    noise: new Rng(`toy noise/${seed}`),
  }))
  for (let step = 0; step < STEPS; step++) {
    const groups = all.map(({ logits, rng }) =>
      Array.from({ length: SAMPLES }, () => logits.map(logit => (rng.next() < chance(logit) ? 1 : 0))),
    )
    const rewards = groups.map((rollouts, p) =>
      rollouts.map(bits =>
        truth(bits as unknown as Trajectory).map((y, k) =>
          k < 3 && all[p].noise.next() < flipRate ? 1 - y : y,
        ),
      ),
    )
    const { advantages_P_G_K } = stageAdvantages(rewards, { lambda, mode })
    for (const [p, { logits }] of all.entries())
      for (let k = 0; k < 4; k++) {
        const right = chance(logits[k])
        const gradient = groups[p].reduce(
          (sum, bits, g) => sum + advantages_P_G_K[p][g][k] * (bits[k] - right),
          0,
        )
        logits[k] += (LEARNING_RATE * gradient) / SAMPLES
      }
  }
  const rights = all.map(({ logits }) => logits.reduce((product, logit) => product * chance(logit), 1))
  return rights.reduce((sum, right) => sum + right, 0) / policies
}
