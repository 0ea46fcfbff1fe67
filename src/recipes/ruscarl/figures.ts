/** @file What a step's rollouts say in metrics.jsonl and rollouts.jsonl: scores by scaffold, criteria, verdicts that are missing. */

import type { Credited, Graded, Groups, Rollout } from '../../rl/rollout.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { rewardFigures, rolloutFields } from '../../train/lesson-rows.ts'
import { mean } from '../../util/statistics.ts'
import { satisfaction } from '../checklist/evaluate.ts'
import { shareFigures } from '../common/figures.ts'
import type { ScaffoldTask } from '../common/rubric-task.ts'

export type ScoredRollout<Problem> = Graded<Problem, ScoredResponse>
export type CreditedScore<Problem> = Credited<Problem, ScoredResponse>

/** Tokens of scaffold that a rollout was shown. */
const hintOf = ({ prompt, sampledFrom }: Rollout): number =>
  (sampledFrom?.length ?? prompt.length) - prompt.length

/**
 * The score over all samples, over those that saw nothing, and over those that saw the whole rubric.
 * @param options.byRubric whether the rubric's points are what the rewards are made of
 * @param options.showsRubric whether the rubric is all that a scaffold shows
 */
export const scoreFigures = <Problem>(
  task: ScaffoldTask<Problem>,
  groups: Groups<ScoredRollout<Problem>>,
  { byRubric, showsRubric }: { byRubric: boolean; showsRubric: boolean },
): Omit<MetricsRow, 'step'> => {
  const all = groups.flatMap(group => {
    const whole =
      showsRubric && group.some(({ rollout }) => hintOf(rollout) > 0) ? wholeHint(task, group[0]) : null
    return group.map(item => ({
      ...item,
      hint: hintOf(item.rollout),
      isWhole: hintOf(item.rollout) === whole,
    }))
  })
  const grades = all.map(({ grade }) => grade)
  const rewardOf = (own: typeof all) => rewardFigures([own]).reward
  return {
    ...rewardFigures(groups),
    rewardPlain: rewardOf(all.filter(({ hint }) => hint === 0)),
    rewardFullScaffold: rewardOf(all.filter(({ isWhole }) => isWhole)),
    scaffoldTokens: mean(all.map(({ hint }) => hint)),
    criteria: satisfaction(grades),
    wellFormed: mean(grades.map(({ wellFormed }) => Number(wellFormed))),
    ...nullRates(task, all),
    unscored: mean(grades.map(({ score }) => Number(score === null))),
    leakRate: task.leaks ? mean(all.map(({ rollout }) => Number(task.leaks!(rollout.tokens)))) : null,
    ...(byRubric &&
      shareFigures(
        all.map(({ problem, grade: { verdicts, kinds } }) => ({
          rubric: task.rubric(problem),
          verdicts,
          kinds,
        })),
      )),
  }
}

/** Tokens that the whole rubric of a group adds to its prompt. */
const wholeHint = <Problem>(
  task: ScaffoldTask<Problem>,
  { problem, rollout: { prompt } }: ScoredRollout<Problem>,
): number => task.scaffolded(problem, task.rubric(problem).criteria).length - prompt.length

/** Share of verdicts that the graders failed to give, in all and by the sign of the points; null without any (spec 1.5). */
const nullRates = <Problem>(task: ScaffoldTask<Problem>, all: readonly ScoredRollout<Problem>[]) => {
  const nulls = { positive: [] as number[], negative: [] as number[] }
  for (const { problem, grade } of all) {
    const points = new Map(task.rubric(problem).criteria.map(criterion => [criterion.id, criterion.points]))
    for (const verdict of grade.verdicts)
      nulls[points.get(verdict.criterionId)! > 0 ? 'positive' : 'negative'].push(
        Number(creditOf(verdict) === null),
      )
  }
  const rate = (values: readonly number[]) => (values.length > 0 ? mean(values) : null)
  return {
    judgeNullRate: rate([...nulls.positive, ...nulls.negative]),
    judgeNullRatePositive: rate(nulls.positive),
    judgeNullRateNegative: rate(nulls.negative),
  }
}

/** A rollout as it is kept for reading. */
export const rolloutRow = <Problem>(
  task: ScaffoldTask<Problem>,
  step: number,
  item: CreditedScore<Problem>,
): RolloutRow => {
  const { problem, rollout, grade, reward } = item
  const { tokens, prompt, sampledFrom } = rollout
  const flags = { ...(task.leaks?.(tokens) && { leak: 1 }), ...(reward === null && { unjudged: 1 }) }
  return {
    ...rolloutFields(step, item),
    problemId: task.name(problem),
    prompt: task.show(sampledFrom ?? prompt),
    response: task.show(tokens),
    ...(Object.keys(flags).length > 0 && { flags }),
    verdicts: grade.verdicts.map(({ criterionId, met, credit, explanation }) => ({
      criterionId,
      met,
      ...(credit !== undefined && { credit }),
      ...(explanation !== undefined && { explanation }),
    })),
  }
}
