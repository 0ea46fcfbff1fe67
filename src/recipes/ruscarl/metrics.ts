/** @file What a step's rollouts say in metrics.jsonl and rollouts.jsonl: scores by scaffold, criteria, verdicts that are missing. */

import type { Credited, Graded, Groups, Rollout } from '../../rl/rollout.ts'
import { maxPoints } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { promptFields, rewardMetrics, rolloutFields } from '../../train/update-rows.ts'
import { mean } from '../../util/statistics.ts'
import { discrimination, nullRate, pointShareMetrics, satisfaction } from '../common/criterion-metrics.ts'
import { namedVerdicts, unloggedCriteria, verdictFields } from '../common/rubric-task.ts'
import { relativeVerdict } from '../options/group-judge.ts'
import { countedVerdicts, optionMetrics } from '../options/options.ts'
import type { RuscarlConfig } from './config.ts'

type ScoredRollout<Problem> = Graded<Problem, ScoredResponse>
type CreditedScore<Problem> = Credited<Problem, ScoredResponse>

/** Tokens of scaffold that a rollout was shown. */
const hintOf = ({ prompt, sampledFrom }: Rollout): number =>
  (sampledFrom?.length ?? prompt.length) - prompt.length

/**
 * The score over all samples, over those that saw nothing, and over those that saw the whole rubric.
 */
export const ruscarlMetrics = <Problem>(
  config: Pick<Partial<RuscarlConfig>, 'reward' | 'memory' | 'criterionGroups'>,
  task: ScoredTask<Problem>,
  groups: Groups<ScoredRollout<Problem>>,
): Omit<MetricsRow, 'step'> => {
  // Beside lessons nobody sees the whole rubric and nothing else.
  const showsRubric = (config.memory?.kind ?? 'none') === 'none'
  const all = groups.flatMap(group => {
    const [{ problem, rollout: first }] = group
    // Tokens that the whole rubric adds to the prompt.
    const whole =
      showsRubric && group.some(({ rollout }) => hintOf(rollout) > 0)
        ? task.prompt(problem, task.rubric(problem).criteria).length - first.prompt.length
        : null
    return group.map(item => ({
      ...item,
      hint: hintOf(item.rollout),
      isWhole: hintOf(item.rollout) === whole,
    }))
  })
  const grades = all.map(({ grade }) => grade)
  const rewardOf = (own: typeof all) => rewardMetrics([own]).reward
  return {
    ...rewardMetrics(groups),
    rewardPlain: rewardOf(all.filter(({ hint }) => hint === 0)),
    rewardFullScaffold: rewardOf(all.filter(({ isWhole }) => isWhole)),
    scaffoldTokens: mean(all.map(({ hint }) => hint)),
    criteria: satisfaction(grades),
    discrimination: discrimination(groups.map(group => group.map(({ grade }) => grade))),
    wellFormed: mean(grades.map(({ wellFormed }) => Number(wellFormed))),
    ...nullRates(task, all),
    unscored: mean(grades.map(({ score, relative }) => Number((relative ? relative.score : score) === null))),
    leakRate: task.leaks ? mean(all.map(({ rollout }) => Number(task.leaks!(rollout.tokens)))) : null,
    ...(config.reward !== 'random' &&
      !grades.some(({ relative }) => relative) &&
      pointShareMetrics(
        all.map(({ problem, grade: { verdicts, leftOut, kinds } }) => {
          const left = leftOut?.ids ?? new Set()
          const rubric = withoutCriteria(task.rubric(problem), left)
          const own = verdicts.filter(({ criterionId }) => !left.has(criterionId))
          return { rubric, verdicts: countedVerdicts(config, rubric, own), kinds }
        }),
      )),
    ...optionMetrics(groups, problem => task.rubric(problem).criteria, {
      rewardWhole: grades.flatMap(({ whole, score }) => (whole === undefined ? score : whole) ?? []),
    }),
  }
}

/** What the criteria of a group's problem are worth that count, over the points to be had. */
export const pointsIn = <Problem>(
  task: Pick<ScoredTask<Problem>, 'rubric'>,
  [{ problem, grade }]: readonly ScoredRollout<Problem>[],
): Record<string, number> => {
  const rubric = withoutCriteria(task.rubric(problem), grade.leftOut?.ids ?? new Set())
  const most = maxPoints(rubric)
  return Object.fromEntries(rubric.criteria.map(({ id, points }) => [id, most > 0 ? points / most : points]))
}

/** Share of verdicts that the graders failed to give, in all and by the sign of the points; null without any. */
const nullRates = <Problem>(task: ScoredTask<Problem>, all: readonly ScoredRollout<Problem>[]) => {
  const verdicts = all.flatMap(({ problem, grade }) => {
    const points = new Map(task.rubric(problem).criteria.map(criterion => [criterion.id, criterion.points]))
    return grade.verdicts.map(verdict => ({ verdict, isMerit: points.get(verdict.criterionId)! > 0 }))
  })
  const rate = (own: typeof verdicts) => nullRate(own.map(({ verdict }) => verdict))
  return {
    judgeNullRate: rate(verdicts),
    judgeNullRatePositive: rate(verdicts.filter(({ isMerit }) => isMerit)),
    judgeNullRateNegative: rate(verdicts.filter(({ isMerit }) => !isMerit)),
  }
}

/** A rollout as it is kept for reading. */
export const ruscarlRolloutRow = <Problem>(
  task: ScoredTask<Problem>,
  step: number,
  item: CreditedScore<Problem>,
): RolloutRow => {
  const { problem, rollout, grade, reward } = item
  const { tokens, prompt, sampledFrom } = rollout
  const response = task.show(tokens)
  const flags = { ...(task.leaks?.(tokens) && { leak: 1 }), ...(reward === null && { unjudged: 1 }) }
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    ...promptFields(prompt, sampledFrom, each => task.show(each)),
    response,
    ...tokenFields(item, response, each => task.show(each)),
    ...(Object.keys(flags).length > 0 && { flags }),
    ...verdictFields(
      [
        ...(grade.relative ? [relativeVerdict(grade.relative)] : []),
        ...namedVerdicts('', grade.verdicts, grade.leftOut),
      ],
      unloggedCriteria(task, problem),
    ),
  }
}
