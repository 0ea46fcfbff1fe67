/** @file What a step's rollouts say in metrics.jsonl: criteria, answers and proofs, ways round the rubric. */

import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA, type LogicCriterion } from '../../grade/logic/rubric.ts'
import { SolverError } from '../../grade/logic/solver-process.ts'
import type { Groups } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricGroup, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { LogicTask } from '../../tasks/logic/task.ts'
import type { HeldOut } from '../../train/recipe.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { rewardMetrics, rolloutFields } from '../../train/update-rows.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { discrimination, pointShareMetrics } from '../common/criterion-metrics.ts'
import { namedVerdicts, verdictFields } from '../common/rubric-task.ts'
import { gradedFields } from '../logic/evaluate.ts'
import { optionMetrics } from '../options/options.ts'
import type { CreditedLogicRollout, LogicRollout } from './credit.ts'
import { type Hops, isSchedule, type RolloutOutcome } from './lengths.ts'

type Read = (grade: LogicRollout['grade']) => number | boolean | null

/** What is not known has no part in a mean; null over none. */
const average = (items: readonly LogicRollout[], read: Read): number | null =>
  meanKnown(items.flatMap(({ grade }) => read(grade) ?? []).map(Number))

/** What is true of an answer, whatever training is told. */
const truth =
  (read: (grade: LogicRollout['grade']['grade']) => number | boolean | null): Read =>
  ({ grade }) =>
    grade.excluded === null ? read(grade) : null

/** The credit on a criterion that training goes by. */
const credited =
  (id: LogicCriterion): Read =>
  ({ excluded, verdicts }) =>
    excluded === null ? creditOf(verdicts.find(({ criterionId }) => criterionId === id)!) : null

const answered = truth(({ answerCorrect }) => answerCorrect)
const proved = truth(({ correctAndProved }) => correctAndProved)

/**
 * Criteria and flags are those that training goes by; answers and proofs are judged as they are, also under a control.
 * @param rubric what rewards are made of
 */
export const logicMetrics = (groups: Groups<LogicRollout>, rubric: Rubric): Omit<MetricsRow, 'step'> => {
  const all = groups.flat()
  const known = all.filter(({ grade }) => grade.excluded === null)
  const excludedBy = (reason: string) => mean(all.map(({ grade }) => Number(grade.excluded === reason)))
  return {
    ...rewardMetrics(groups),
    correctAndValid: average(
      all,
      truth(grade => grade.correctAndValid),
    ),
    correctAndProved: average(all, proved),
    accuracy: average(all, answered),
    criteria: Object.fromEntries(LOGIC_CRITERIA.map(id => [id, average(all, credited(id))])),
    discrimination: discrimination(groups.map(group => group.map(({ grade }) => grade))),
    reasoningSteps: average(
      all,
      truth(({ steps }) => steps.length),
    ),
    answered: average(
      all,
      truth(({ answer }) => answer !== null),
    ),
    exploits: {
      ...Object.fromEntries(
        Object.keys(known[0]?.grade.flags ?? {}).map(name => [
          name,
          mean(known.map(own => own.grade.flags[name])),
        ]),
      ),
      // What the means leave out, as shares of all rollouts.
      solverFailed: excludedBy('solver-failed'),
      tooLong: excludedBy('too-long'),
      faultyProblem: excludedBy('inconsistent-premises'),
    },
    // Where the weighted sum comes from; nothing where the reward is none.
    ...pointShareMetrics(
      known.map(({ grade: { verdicts, leftOut } }) => {
        const counted = leftOut ? withoutCriteria(rubric, leftOut.ids) : rubric
        const ids = new Set(counted.criteria.map(({ id }) => id))
        return { rubric: counted, verdicts: verdicts.filter(({ criterionId }) => ids.has(criterionId)) }
      }),
    ),
    ...optionMetrics(groups, () => rubric.criteria, {
      rewardWhole: all.flatMap(({ reward, grade }) => (reward === null ? [] : (grade.whole ?? reward))),
    }),
  }
}

/** Whether each rollout's proof holds from end to end; null where nothing can be said of it. */
export const provedOf = async (groups: Groups<LogicRollout>): Promise<HeldOut> => ({
  scores: groups.flat().map(item => average([item], proved)),
})

/** Whether each rollout's proof holds, and whether it counts for a longer length, whatever training is told. */
export const outcomesOf = (groups: Groups<LogicRollout>, hops: Hops): RolloutOutcome[] => {
  const byAnswer = isSchedule(hops) && hops.kind === 'growing' && hops.by === 'answered'
  return groups.flat().map(({ problem, grade }) => {
    const holds = grade.grade.excluded === null ? grade.grade.correctAndProved : null
    return {
      problem,
      proved: holds,
      ...(byAnswer && holds !== null && { passed: grade.grade.answerCorrect }),
    }
  })
}

/** @throws SolverError when nothing of a step could be judged: going on would train on nothing. */
export const assertSolverWorks = (groups: Groups<LogicRollout>): void => {
  const rollouts = groups.flat()
  if (rollouts.length > 0 && rollouts.every(({ grade }) => grade.excluded === 'solver-failed'))
    throw new SolverError(`the solver failed on every one of ${rollouts.length} rollouts`, {
      hint: 'go on with --resume; if it happens again, check the memory that is left',
    })
}

export const rubricAsRewardRolloutRow = (
  task: Pick<LogicTask, 'id' | 'question' | 'show'>,
  step: number,
  item: CreditedLogicRollout,
): RolloutRow => {
  const { problem, parts } = item
  const { grade, flags, verdicts, leftOut, response } = item.grade
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: task.question(problem),
    response: response.text,
    ...tokenFields(item, response.text, task.show),
    ...gradedFields(problem, grade),
    ...{ parts, flags },
    ...verdictFields(namedVerdicts('', verdicts, leftOut)),
  }
}

/**
 * Metrics by source, each a group with one entry a source (`accuracyBySourceAndLabel`: one a source and label that occurs); null
 * where the step has no rollout that says anything. Criteria are those that training goes by, answers and proofs the truth.
 * @param names all sources, also those without a problem in this step
 */
export const sourceMetrics = (
  groups: Groups<LogicRollout>,
  names: readonly string[],
): Record<string, MetricGroup> => {
  const all = groups.flat()
  const of = (name: string) => all.filter(({ problem }) => problem.source === name)
  const bySource = (metric: (items: readonly LogicRollout[]) => number | null): MetricGroup =>
    Object.fromEntries(names.map(name => [name, metric(of(name))]))
  const labelled = names.flatMap(name =>
    LOGIC_LABELS.flatMap(label => {
      const own = of(name).filter(({ problem }) => problem.label === label)
      return own.length > 0 ? [[`${name}, ${label}`, average(own, answered)] as const] : []
    }),
  )
  return {
    shareBySource: bySource(items => items.length / Math.max(1, all.length)),
    rewardBySource: bySource(items => rewardMetrics([items]).reward as number | null),
    accuracyBySource: bySource(items => average(items, answered)),
    provedBySource: bySource(items => average(items, proved)),
    accuracyBySourceAndLabel: Object.fromEntries(labelled),
    ...Object.fromEntries(
      LOGIC_CRITERIA.map(id => [`${id}BySource`, bySource(items => average(items, credited(id)))]),
    ),
  }
}
