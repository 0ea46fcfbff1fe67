/** @file What thinking is worth: verdicts of a rubric or of its steps, made into a number. */

import { meanSatisfaction, type NullVerdicts } from '../../rl/fusion.ts'
import type { Graded, Groups } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import type { Item, Task } from '../../tasks/task.ts'
import type { ThinkingVerifier, ThoughtItem, ThoughtResponse } from '../../tasks/thinking.ts'
import type { RollOutRequest } from '../../train/rollout.ts'
import { Rng } from '../../util/rng.ts'
import { meanKnown } from '../../util/statistics.ts'
import { controlledOrder, controlledValue } from '../options/control.ts'
import { relativeVerdict } from '../options/group-judge.ts'
import type { Attempts } from '../options/lesson-memory.ts'
import { asTrained, type OptionSettings } from '../options/options.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './tasks.ts'

/** A rollout with both judgements. */
export interface RitGrade extends Pick<ScoredResponse, 'verdicts' | 'leftOut' | 'whole'> {
  response: ThoughtResponse
  answer: ScoredResponse
  /** Mean satisfaction of the thinking rubric; null where nobody could judge, `none` without criteria. */
  thinking: number | null | 'none'
}

/** Mean satisfaction of a rubric: a merit that is there, a flaw that is not. */
const satisfied = ({ criteria }: Rubric, verdicts: readonly Verdict[], nulls?: NullVerdicts) =>
  meanSatisfaction(
    criteria.map(({ points }, i) => {
      const credit = verdicts[i] === undefined ? null : creditOf(verdicts[i])
      return credit === null || points > 0 ? credit : 1 - credit
    }),
    nulls,
  )

const numberOr = (score: number | null | 'none'): number | null => (score === 'none' ? null : score)

/** Null where nobody could judge, and without criteria. Nothing was thought: none is satisfied, whatever a judge would make of nothing. */
export const thinkingScore = (
  rubric: Rubric,
  { thinking }: ThoughtResponse,
  verdicts: readonly Verdict[],
): number | null =>
  thinking === '' && rubric.criteria.length > 0 ? 0 : numberOr(satisfied(rubric, verdicts))

/** Judges thinking; where there is none nobody is asked. */
export const verifyThinking = async <Problem>(
  verifier: ThinkingVerifier<Problem>,
  items: readonly ThoughtItem<Problem>[],
  rubricOf: (problem: Problem) => Rubric,
): Promise<Verdict[][]> => {
  const asked = items.flatMap((item, i) =>
    item.response.thinking !== '' && rubricOf(item.problem).criteria.length > 0 ? [i] : [],
  )
  const verdicts = await verifier.verify(
    asked.map(i => ({ ...items[i], rubric: rubricOf(items[i].problem) })),
  )
  const known = new Map(asked.map((i, at) => [i, verdicts[at]]))
  return items.map(({ problem }, i) => {
    const { criteria } = rubricOf(problem)
    const own = known.get(i)
    // A list of another length says nothing about any criterion.
    if (own !== undefined && own.length === criteria.length) return own
    const met = own === undefined ? false : null
    return criteria.map(({ id, points }) => ({
      criterionId: id,
      met: met === false ? points < 0 : null,
      source: 'rule',
    }))
  })
}

type ThoughtConfig = Pick<RitConfig, 'thinkingBy' | 'fusion'> & OptionSettings

/** Thinking as a task of its own: its rubric is that of thinking, its score what the reward hears of it. */
const thinkingTask = <Problem>(
  config: ThoughtConfig,
  { task, verifier, stepVerdicts, groups }: RitTask<Problem>,
  rubricOf: (problem: Problem) => Rubric,
): ScoredTask<Problem> => {
  const { thinkingBy, fusion } = config
  const read = <Asked extends Item<Problem>>(items: readonly Asked[]) =>
    items.map(item => ({ ...item, response: task.thinking.read(item.tokens) }))
  const nothing = { verdicts: [], wellFormed: true }
  const gradeBy: Record<RitConfig['thinkingBy'], Task<Problem>['grade']> = {
    // The mean verdict of the steps (PRM): thinking without any is worth nothing; null where nobody could judge any.
    async steps(items) {
      const steps_I = (await stepVerdicts?.(read(items))) ?? []
      return items.map((_, i) => {
        const steps = (steps_I[i] ?? []).map(met => (met === null ? null : Number(met)))
        return { ...nothing, score: steps.length > 0 ? meanKnown(steps) : 0 }
      })
    },
    group: async items => items.map(() => ({ ...nothing, score: null })),
    async rubric(items) {
      const partOf = new Map(items.map(({ problem, criteria }) => [problem, { criteria: [...criteria] }]))
      const verdicts = await verifyThinking(verifier, read(items), problem => partOf.get(problem)!)
      return verdicts.map(own => ({ ...nothing, verdicts: own }))
    },
  }
  const own = { ...task, kind: undefined, rubric: rubricOf, grade: gradeBy[thinkingBy] }
  const { nulls } = fusion
  return asTrained(config, own, {
    rule: (rubric, verdicts) => numberOr(satisfied(rubric, verdicts, nulls)),
    ...{ nulls, groups: () => (thinkingBy === 'group' && groups ? groups : null) },
  }).reward
}

/** How rollouts are graded in training: thinking and answer of each one, and the thinking of a group where it is compared. */
export const thoughtGrader = <Problem>(
  config: ThoughtConfig,
  ritTask: RitTask<Problem>,
  rubricOf: (problem: Problem) => Rubric,
): Pick<RollOutRequest<Problem, RitGrade>, 'grade' | 'gradeBatch' | 'gradeGroup'> => {
  const { task } = ritTask
  const { grade, gradeGroup } = thinkingTask(config, ritTask, rubricOf)
  return {
    gradeBatch: task.gradeBatch,
    async grade(items) {
      const asked = items.map(({ rollout: { tokens, key }, ...item }) => ({ ...item, tokens, key }))
      const [answers, thoughts] = await Promise.all([task.grade(asked), grade(asked)])
      return asked.map(({ tokens }, i) => {
        const { score, unjudged, ...said } = thoughts[i]
        const thinking = score ?? (unjudged ? null : 'none')
        return { ...said, response: task.thinking.read(tokens), answer: answers[i], thinking }
      })
    },
    ...(gradeGroup && {
      async gradeGroup(problem, rollouts, step) {
        const said = await gradeGroup(problem, rollouts, step)
        return said.map(({ relative, leftOut }) => ({
          verdicts: [relativeVerdict(relative!)],
          thinking: relative!.score,
          leftOut,
        }))
      },
    }),
  }
}

/**
 * A step's rollouts with the scores of their thinking under the control; `shuffled`: those of other responses of the group. A rubric
 * of another question would not do: much of what rubrics ask for is the same for all.
 */
export const underControl = <Problem>(
  { control, seed }: Pick<RitConfig, 'control' | 'seed'>,
  step: number,
  groups: Groups<Graded<Problem, RitGrade>>,
): Groups<Graded<Problem, RitGrade>> =>
  groups.map((group, p) => {
    const order = controlledOrder(control, group.length, new Rng(`shuffled thinking/${seed}/${step}/${p}`))
    return group.map((item, i) => {
      const rng = new Rng(`random thinking/${seed}/${item.rollout.key}`)
      const thinking = controlledValue(control, group[order[i]].grade.thinking, rng)
      return { ...item, grade: { ...item.grade, thinking } }
    })
  })

/** Reward and verdicts of a rollout. Those on what is not paid, thinking or answer, are left out: they do not decide about a step. */
export const saidOf = (
  { reward: paid }: Pick<RitConfig, 'reward'>,
  { reward, grade: { verdicts, answer } }: Graded<unknown, RitGrade>,
) => ({
  reward,
  verdicts: [...(paid === 'response' ? [] : verdicts), ...(paid === 'thinking' ? [] : answer.verdicts)],
})

/** Verdicts on what a hint may be. */
export const attemptsOf = <Problem>(
  { task }: RitTask<Problem>,
  rubricOf: (problem: Problem) => Rubric,
  group: readonly Graded<Problem, RitGrade>[],
): Attempts<Problem> => {
  const [{ problem }] = group
  const { hinted = 'answers' } = task.thinking
  const answers = {
    criteria: task.rubric(problem).criteria,
    verdicts_G: group.map(({ grade: { answer } }) => answer.verdicts),
  }
  const thinking = {
    criteria: rubricOf(problem).criteria,
    verdicts_G: group.map(({ grade: { verdicts } }) => verdicts),
  }
  return {
    problem,
    judged: [...(hinted === 'thinking' ? [] : [answers]), ...(hinted === 'answers' ? [] : [thinking])],
  }
}
