/** @file What stands between the truth and a reward in an experiment: verdicts inverted, scores drawn at random. */

import type { Verdict } from '../../rubric/criterion.ts'
import type { Noise } from '../../tasks/scored-response.ts'
import { Rng } from '../../util/rng.ts'

export interface RewardNoiseSettings {
  /** Chance that a verdict is inverted before it is scored. */
  flipRate: number
  /** Scores are drawn from [0, 1) and have nothing to do with the response: a negative control. */
  randomScores: boolean
}

/** Draws depend on the rollout's key alone: neither the order in which rollouts are graded nor a resume changes them. */
export class RewardNoise implements Noise {
  readonly #settings: RewardNoiseSettings

  constructor(settings: RewardNoiseSettings) {
    this.#settings = settings
  }

  /** The verdicts with some inverted; those that a grader failed to give stay as they are. */
  verdicts(verdicts: readonly Verdict[], key: string): Verdict[] {
    const { flipRate } = this.#settings
    if (flipRate === 0) return [...verdicts]
    const rng = new Rng(`flipped verdicts/${key}`)
    return verdicts.map(verdict => {
      const flips = rng.next() < flipRate
      return flips && verdict.met !== null ? turned(verdict) : verdict
    })
  }

  /** The score, or a number that has nothing to do with it. */
  score(score: number | null, key: string): number | null {
    return this.#settings.randomScores ? new Rng(`random score/${key}`).next() : score
  }
}

const turned = ({ met, credit, level, ...verdict }: Verdict): Verdict => ({
  ...verdict,
  met: !met,
  ...(credit !== undefined && { credit: 1 - credit }),
  ...(level !== undefined && { level: (2 - level) as 0 | 1 | 2 }),
})
