/** @file What `gradus grade` sums up: scores, null verdicts by sign, how often each criterion was met. */

import { aggregateScores } from '../../rubric/aggregate.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { creditOf, type RubricScore } from '../../rubric/score.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { percent } from '../../util/format.ts'
import { EXIT, type Io } from '../io.ts'

interface CriterionTally {
  criterion: Criterion
  credit: number
  judged: number
  nulls: number
}

type Sign = 'positive' | 'negative'

/** Counts as rows are graded; holds a number a row, and a line a criterion where there is one rubric. */
export class GradeTally {
  readonly #scores: (number | null)[] = []
  readonly #nulls = { positive: 0, negative: 0 }
  readonly #counts = { positive: 0, negative: 0 }
  readonly #criteria = new Map<string, CriterionTally>()
  readonly #perCriterion: boolean
  #firstNull: Verdict | undefined
  /** Rows that could not be graded. */
  unusable = 0

  /** @param perCriterion all rows share one rubric, so that its criteria can be distinguished */
  constructor(perCriterion: boolean) {
    this.#perCriterion = perCriterion
  }

  add(rubric: Rubric, verdicts: readonly Verdict[], { score, nulls, counts }: RubricScore): void {
    this.#scores.push(score)
    for (const sign of ['positive', 'negative'] as const) {
      this.#nulls[sign] += nulls[sign]
      this.#counts[sign] += counts[sign]
    }
    this.#firstNull ??= verdicts.find(({ met, credit }) => met === null && credit === undefined)
    if (this.#perCriterion)
      for (const [index, criterion] of rubric.criteria.entries()) this.#count(criterion, verdicts[index])
  }

  #count(criterion: Criterion, verdict: Verdict): void {
    const tally = this.#criteria.get(criterion.id) ?? { criterion, credit: 0, judged: 0, nulls: 0 }
    this.#criteria.set(criterion.id, tally)
    const credit = creditOf(verdict)
    if (credit === null) tally.nulls++
    else {
      tally.credit += credit
      tally.judged++
    }
  }

  get rows(): number {
    return this.#scores.length
  }

  /** Share of null verdicts; null where no criterion has that sign. */
  nullRate(sign: Sign): number | null {
    return this.#counts[sign] === 0 ? null : this.#nulls[sign] / this.#counts[sign]
  }

  /** Mean of the scores as they are, not clipped; null without one. */
  mean(): number | null {
    return meanKnown(this.#scores)
  }

  /** Lines for people. */
  summary(rule: string): string[] {
    const { scored, skipped, bootstrapStd } = aggregateScores(this.#scores)
    const mean = this.mean()
    const metric =
      mean === null ? 'no score' : `mean score ${mean.toFixed(4)} (bootstrap sd ${bootstrapStd.toFixed(4)})`
    const undefinedScores = skipped > 0 ? `, ${skipped} without a score` : ''
    const unusable = this.unusable > 0 ? `, ${this.unusable} rows unusable` : ''
    return [
      `${this.rows} responses by rule ${rule}: ${metric} over ${scored}${undefinedScores}${unusable}`,
      `null verdicts: ${this.#share('positive', 'rewards')}, ${this.#share('negative', 'penalties')}`,
      ...this.#firstNullLine(),
      ...this.#criterionLines(),
    ]
  }

  #firstNullLine(): string[] {
    if (!this.#firstNull) return []
    const { criterionId, explanation = 'no reason given' } = this.#firstNull
    return [`the first of them, ${criterionId}: ${explanation.slice(0, 300)}`]
  }

  #share(sign: Sign, what: string): string {
    const rate = this.nullRate(sign)
    return rate === null ? `no ${what}` : `${percent(rate)} of ${this.#counts[sign]} ${what}`
  }

  #criterionLines(): string[] {
    const tallies = [...this.#criteria.values()]
    if (tallies.length === 0) return []
    const width = Math.min(32, Math.max(...tallies.map(({ criterion }) => criterion.id.length)))
    const lines = tallies.map(({ criterion, credit, judged, nulls }) => {
      const share = judged === 0 ? '     –' : percent(credit / judged).padStart(6)
      const missing = nulls > 0 ? `, ${nulls} null` : ''
      const points = `${criterion.points > 0 ? '+' : ''}${criterion.points}`
      return `  ${criterion.id.padEnd(width)} ${points.padStart(6)}  met ${share} of ${judged}${missing}`
    })
    return ['criteria (a penalty is met where the flaw is present):', ...lines]
  }
}

interface Thresholds {
  mean: number | null
  minScore: number | undefined
  /** What is said of too many nulls; null where there are few. */
  nullFault: string | null
}

/** Says on stderr what was not reached. Returns the exit code. */
export const thresholdCode = ({ mean, minScore, nullFault }: Thresholds, io: Io): number => {
  const isLow = minScore !== undefined && !(mean !== null && mean >= minScore)
  if (isLow) io.err.write(`mean score: expected at least ${minScore}, got ${mean ?? 'none'}\n`)
  if (nullFault !== null) io.err.write(`${nullFault}\n`)
  return isLow || nullFault !== null ? EXIT.belowThreshold : EXIT.ok
}
