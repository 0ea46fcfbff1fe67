/** @file What a step's rollouts say in metrics.jsonl: criteria, answers and proofs, ways round the rubric. */

import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_CRITERIA, LOGIC_RUBRIC, type LogicCriterion } from '../../grade/logic/rubric.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { rewardFigures } from '../../train/lesson-rows.ts'
import type { HeldOut } from '../../train/recipe.ts'
import { mean } from '../../util/statistics.ts'
import { discrimination } from '../common/criterion-figures.ts'
import { shareFigures } from '../common/figures.ts'
import { dropoutFigures } from '../common/rubric-dropout.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { rewardOf, type Weights, weighedCriteria } from './rewards.ts'
import type { LogicRollout } from './rollout.ts'

/** What is not known has no part in a mean. */
const share = (holds: boolean | null): number | null => (holds === null ? null : Number(holds))

const known = (grades: readonly LogicGrade[]) => grades.filter(({ excluded }) => excluded === null)

/**
 * Criteria and flags are those that training goes by; answers and proofs are judged as they are, also under a control.
 * @param weightsOf the weights that a problem's rewards had; those of all where absent
 */
export const logicFigures = (
  groups: Groups<LogicRollout>,
  weights: Weights,
  weightsOf: (problem: LogicTaskExample) => Weights = () => weights,
): Omit<MetricsRow, 'step'> => {
  const all = groups.flat().map(({ grade }) => grade)
  const rewarded = known(all.map(each => each.rewarded))
  const truths = known(all.map(each => each.grade))
  const average = (of: readonly LogicGrade[], pick: (grade: LogicGrade) => number | null) => {
    const values = of.flatMap(grade => pick(grade) ?? [])
    return values.length > 0 ? mean(values) : null
  }
  return {
    ...rewardFigures(groups),
    correctAndValid: average(truths, grade => share(grade.correctAndValid)),
    correctAndProved: average(truths, grade => share(grade.correctAndProved)),
    accuracy: average(truths, grade => Number(grade.answerCorrect)),
    criteria: Object.fromEntries(
      LOGIC_CRITERIA.map(id => [id, average(rewarded, ({ criteria }) => criteria[id])]),
    ),
    discrimination: discrimination(groups.map(group => group.map(({ grade }) => grade))),
    reasoningSteps: average(truths, ({ steps }) => steps.length),
    answered: average(truths, ({ answer }) => Number(answer !== null)),
    exploits: { ...averageFlags(rewarded), ...excludedShares(all.map(each => each.rewarded)) },
    // Where the weighted sum comes from; nothing where the reward is none.
    ...shareFigures(
      groups.flat().flatMap(({ problem, grade: { rewarded: grade, verdicts: all } }) => {
        const own = weightsOf(problem)
        const counts = ({ criterionId }: Verdict) => own[criterionId as LogicCriterion] !== undefined
        const verdicts = own === weights ? all : all.filter(counts)
        return grade.excluded === null ? [{ rubric: LOGIC_RUBRIC, verdicts }] : []
      }),
      weights as Record<string, number>,
    ),
  }
}

/** What dropout left out of a step's rewards, and what the responses are worth by all criteria of the condition. */
export const droppedFigures = (
  config: Pick<RubricAsRewardConfig, 'rubricDropout' | 'condition'>,
  groups: Groups<LogicRollout>,
  weights: Weights,
  placesOf: (problem: LogicTaskExample) => ReadonlySet<number>,
): Omit<MetricsRow, 'step'> => {
  if (config.rubricDropout === undefined) return {}
  const criteria = weighedCriteria(weights)
  const rubrics = groups.flatMap(([first]) => (first ? [{ criteria, places: placesOf(first.problem) }] : []))
  const whole = groups.flat().flatMap(({ grade }) => rewardOf(grade, config.condition, weights).reward ?? [])
  return { ...dropoutFigures(config, rubrics), ...(whole.length > 0 && { rewardWhole: mean(whole) }) }
}

const averageFlags = (grades: readonly LogicGrade[]): Record<string, number> =>
  Object.fromEntries(
    Object.keys(grades[0]?.flags ?? {}).map(name => [name, mean(grades.map(({ flags }) => flags[name]))]),
  )

/** What the means leave out, as shares of all rollouts. */
const excludedShares = (grades: readonly LogicGrade[]): Record<string, number> => ({
  solverFailed: mean(grades.map(({ excluded }) => Number(excluded === 'solver-failed'))),
  tooLong: mean(grades.map(({ excluded }) => Number(excluded === 'too-long'))),
  faultyProblem: mean(grades.map(({ excluded }) => Number(excluded === 'inconsistent-premises'))),
})

/** Whether each rollout's proof holds from end to end; null where nothing can be said of it. */
export const provedOf = async (groups: Groups<LogicRollout>): Promise<HeldOut> => ({
  scores: groups
    .flat()
    .map(({ grade: { grade } }) => (grade.excluded === null ? share(grade.correctAndProved) : null)),
})
