/** @file From verdicts to a reward: scoring rule, too many nulls, scale, clip. */

import { maxPoints, minPoints, type Rubric, type Verdict } from '../../rubric/criterion.ts'
import { scoreByRule } from '../../rubric/rules.ts'
import { NumericError } from '../../util/errors.ts'
import type { RewardAggregation } from './config.ts'
import { nullShare, type RewardResult } from './item.ts'

const scaled = (score: number, { scale, offset, clip }: RewardAggregation): number => {
  const reward = score * scale + offset
  if (!Number.isFinite(reward))
    throw new NumericError(
      `reward: expected a finite number, got ${reward} (score ${score}); check scale and offset`,
    )
  return clip === null ? reward : Math.min(clip[1], Math.max(clip[0], reward))
}

/** Why there is no reward, in the words of the verdicts that are missing. */
const reasonOf = (verdicts: readonly Verdict[]): string => {
  const missing = verdicts.filter(({ met, credit }) => met === null && credit === undefined)
  const said = [...new Set(missing.flatMap(({ explanation }) => explanation ?? []))].slice(0, 3)
  if (missing.length === 0) return 'the scoring rule has nothing to divide by'
  const failed = `${missing.length} of ${verdicts.length} criteria have no verdict`
  return said.length > 0 ? `${failed}: ${said.join('; ')}`.slice(0, 1000) : failed
}

/**
 * Credit x points, over the points to be had (of a rubric of nothing but penalties, over all its points). The divisor is the
 * same for every response to a rubric, and so are the names.
 */
const componentsOf = (rubric: Rubric, parts: Readonly<Record<string, number>>): Record<string, number> => {
  const whole = maxPoints(rubric) || -minPoints(rubric)
  return Object.fromEntries(
    rubric.criteria.map(({ id, points }) => [
      id,
      ((Object.hasOwn(parts, id) ? parts[id] : 0) * points) / whole,
    ]),
  )
}

/**
 * The reward of a response. It is null where the rule gives no score, and where more than `maxNullShare`
 * of the criteria have no verdict.
 * @throws DataError for verdicts that do not belong to the rubric; NumericError for a reward that is not finite.
 */
export const responseReward = (
  rubric: Rubric,
  verdicts: Verdict[],
  aggregation: RewardAggregation,
): Omit<RewardResult, 'id' | 'rubric'> => {
  const { rule, nulls: nullHandling, maxNullShare } = aggregation
  const { score, parts, nulls, counts } = scoreByRule(rule, rubric, verdicts, { nulls: nullHandling })
  const usable = score !== null && nullShare({ nulls, counts }) <= maxNullShare
  return {
    reward: usable ? scaled(score, aggregation) : null,
    score,
    parts,
    components: componentsOf(rubric, parts),
    verdicts,
    nulls,
    counts,
    ...(!usable && { reason: reasonOf(verdicts) }),
  }
}
