/** @file What thinking is worth: verdicts of a rubric or of its steps, made into a number. */

import { meanSatisfaction, type NullVerdicts } from '../../rl/fusion.ts'
import type { Graded, Groups } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import { creditOf } from '../../rubric/score.ts'
import type { LeftOut, ResponseItem, ScoredResponse } from '../../tasks/scored-response.ts'
import type { ThinkingVerifier, ThoughtItem, ThoughtResponse } from '../../tasks/thinking.ts'
import type { RollOutRequest } from '../../train/rollout.ts'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import type { Attempts } from '../common/lessons-memory.ts'
import { leftOutOf } from '../common/rubric-dropout.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './task.ts'

/** A rollout with both judgements. */
export interface RitGrade {
  response: ThoughtResponse
  answer: ScoredResponse
  /** Mean satisfaction of the thinking rubric; null where nobody could judge, `none` without criteria. */
  thinking: number | null | 'none'
  /** On the thinking, in the rubric's order. */
  verdicts: readonly Verdict[]
  /** Criteria that its score does not count; absent without dropout. */
  leftOut?: LeftOut
  /** Where criteria are left out that were judged all the same: the score by all of them. */
  whole?: number | null | 'none'
}

/** What a verdict earns: a merit that is there, a flaw that is not. */
const satisfactionOf = ({ criteria }: Rubric, verdicts: readonly Verdict[]): (number | null)[] =>
  criteria.map(({ points }, i) => {
    const credit = verdicts[i] === undefined ? null : creditOf(verdicts[i])
    return credit === null || points > 0 ? credit : 1 - credit
  })

/** Nothing was thought: no criterion is satisfied, whatever a judge would make of nothing. */
export const thinkingScore = (
  rubric: Rubric,
  { thinking }: ThoughtResponse,
  verdicts: readonly Verdict[],
  nulls?: NullVerdicts,
): number | null | 'none' => {
  const satisfied = satisfactionOf(rubric, verdicts)
  if (thinking === '' && satisfied.length > 0) return 0
  return meanSatisfaction(satisfied, nulls)
}

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

/** How rollouts are graded in training: thinking and answer of each one, and the thinking of a group where it is compared. */
export const thoughtGrader = <Problem>(
  config: Pick<RitConfig, 'thinkingBy' | 'control' | 'fusion' | 'seed' | 'rubricDropout'>,
  ritTask: RitTask<Problem>,
  rubricOf: (problem: Problem) => Rubric,
): Pick<RollOutRequest<Problem, RitGrade>, 'grade' | 'gradeBatch' | 'gradeGroup'> => {
  const { task, groupThinking } = ritTask
  const leftOutIn = (step: number) => (problem: Problem) =>
    leftOutOf(config, rubricOf(problem).criteria, step, task.id(problem))
  return {
    gradeBatch: task.gradeBatch,
    grade: async items => {
      const answered = items.map(({ rollout: { tokens, key }, ...item }) => ({ ...item, tokens, key }))
      return items.length === 0
        ? []
        : gradeThoughts(config, ritTask, rubricOf, answered, leftOutIn(items[0].step))
    },
    ...(config.thinkingBy === 'group' &&
      groupThinking && {
        async gradeGroup(problem, rollouts, step) {
          const leftOut = leftOutIn(step)(problem)
          const textOf = (tokens: Int32Array) => task.thinking.read(tokens).thinking
          const thoughts = rollouts.map(({ tokens, key }) => ({ key, thinking: textOf(tokens) }))
          const rubric = withoutCriteria(rubricOf(problem), leftOut?.ids ?? new Set())
          const scored = await scoreThinkingTogether(config, groupThinking, problem, thoughts, rubric)
          return scored.map(own => ({ ...own, ...(leftOut && { leftOut }) }))
        },
      }),
  }
}

/** Grades thinking and answers of finished rollouts, as training sees them. */
const gradeThoughts = async <Problem>(
  { thinkingBy, control, fusion, seed }: Pick<RitConfig, 'thinkingBy' | 'control' | 'fusion' | 'seed'>,
  ritTask: Pick<RitTask<Problem>, 'task' | 'verifier' | 'stepVerdicts'>,
  rubricOf: (problem: Problem) => Rubric,
  rollouts: readonly ResponseItem<Problem>[],
  leftOut: LeftOutOf<Problem>,
): Promise<RitGrade[]> => {
  const items = rollouts.map(item => ({ ...item, response: ritTask.task.thinking.read(item.tokens) }))
  const [answers, thoughts] = await Promise.all([
    ritTask.task.grade(rollouts),
    thinkingBy === 'steps'
      ? scoreSteps(ritTask, items)
      : thinkingBy === 'group'
        ? items.map((): Thought => ({ verdicts: [], thinking: null }))
        : scoreByRubric(ritTask.verifier, items, { rubricOf, leftOut, nulls: fusion.nulls }),
  ])
  return items.map(({ response, key = '' }, i) => ({
    response,
    answer: answers[i],
    ...thoughts[i],
    thinking: controlled(control, thoughts[i].thinking, `${seed}/${key}`),
  }))
}

type Thought = Pick<RitGrade, 'thinking' | 'verdicts' | 'leftOut' | 'whole'>

type LeftOutOf<Problem> = (problem: Problem) => LeftOut | undefined

interface Scoring<Problem> {
  rubricOf: (problem: Problem) => Rubric
  leftOut: LeftOutOf<Problem>
  nulls: NullVerdicts
}

const scoreByRubric = async <Problem>(
  verifier: ThinkingVerifier<Problem>,
  items: readonly ThoughtItem<Problem>[],
  { rubricOf, leftOut, nulls }: Scoring<Problem>,
): Promise<Thought[]> => {
  const parts = new Map(items.map(({ problem }) => [problem, partOf(rubricOf(problem), leftOut(problem))]))
  const verdicts = await verifyThinking(verifier, items, problem => parts.get(problem)!.asked)
  return items.map(({ problem, response }, i): Thought => {
    const { asked, counted, left } = parts.get(problem)!
    const counting = verdicts[i].filter(({ criterionId }) => !left?.ids.has(criterionId))
    return {
      verdicts: verdicts[i],
      thinking: thinkingScore(counted, response, counting, nulls),
      ...(left && { leftOut: left }),
      ...(asked !== counted && { whole: thinkingScore(asked, response, verdicts[i], nulls) }),
    }
  })
}

/** What of a rubric is asked about, and what of it counts. */
const partOf = (rubric: Rubric, leftOut: LeftOut | undefined) => {
  const counted = leftOut?.ids.size ? withoutCriteria(rubric, leftOut.ids) : rubric
  return { asked: leftOut?.asked ? rubric : counted, counted, left: leftOut }
}

/**
 * Scores of all thinking about a problem, by one judge at once; of no thinking it is 0, as by a rubric.
 * @param keys name the rollouts, for a control
 */
const scoreThinkingTogether = async <Problem>(
  { control, seed }: Pick<RitConfig, 'control' | 'seed'>,
  groupThinking: NonNullable<RitTask<Problem>['groupThinking']>,
  problem: Problem,
  thoughts: readonly { thinking: string; key: string }[],
  rubric: Rubric,
): Promise<Thought[]> => {
  const some = thoughts.flatMap(({ thinking }, i) => (thinking === '' ? [] : [i]))
  const texts = some.map(i => thoughts[i].thinking)
  const { scores, explanations, problem: why } = await groupThinking(problem, texts, rubric)
  const placeOf = new Map(some.map((i, at) => [i, at]))
  return thoughts.map(({ key }, i): Thought => {
    const at = placeOf.get(i)
    const score = at === undefined ? 0 : scores[at]
    const explanation =
      at === undefined ? 'nothing was thought' : (explanations[at] ?? (score === null ? why : null))
    const verdict: Verdict = {
      criterionId: 'relative to the group',
      met: score === null ? null : score > 0.5,
      ...(score !== null && { credit: score }),
      ...(explanation !== null && { explanation }),
      source: 'llm',
    }
    return { verdicts: [verdict], thinking: controlled(control, score, `${seed}/${key}`) as number | null }
  })
}

/** Mean verdict of the steps (PRM); thinking without any step is worth nothing. */
const scoreSteps = async <Problem>(
  { stepVerdicts }: Pick<RitTask<Problem>, 'stepVerdicts'>,
  items: readonly ThoughtItem<Problem>[],
): Promise<Thought[]> => {
  const steps = (await stepVerdicts?.(items)) ?? []
  return items.map((_, i) => {
    const known = (steps[i] ?? []).filter(verdict => verdict !== null)
    const unknown = known.length === 0 && (steps[i] ?? []).length > 0
    return { verdicts: [], thinking: unknown ? null : known.length === 0 ? 0 : mean(known.map(Number)) }
  })
}

/** The score under a negative control. The same rollout gets the same number, so that a resumed run sees no others. */
const controlled = (
  control: RitConfig['control'],
  thinking: RitGrade['thinking'],
  key: string,
): RitGrade['thinking'] => {
  if (typeof thinking !== 'number') return thinking
  if (control === 'random') return new Rng(`random thinking/${key}`).next()
  return control === 'flipped' ? 1 - thinking : thinking
}

/**
 * The control `shuffled`: the scores of a group's thinking given to other responses of the group. A rubric of another question
 * would not do: much of what rubrics ask for is the same for all questions.
 */
const shuffledThinking = <Item extends { grade: RitGrade }>(group: readonly Item[], key: string): Item[] => {
  const order = new Rng(`shuffled thinking/${key}`).shuffle(group.map((_, i) => i))
  return group.map((item, i) => ({
    ...item,
    grade: { ...item.grade, thinking: group[order[i]].grade.thinking },
  }))
}

/** A step's rollouts under the control `shuffled`; the others act on each rollout by itself. */
export const underControl = <Problem>(
  { control, seed }: Pick<RitConfig, 'control' | 'seed'>,
  step: number,
  groups: Groups<Graded<Problem, RitGrade>>,
): Groups<Graded<Problem, RitGrade>> =>
  control === 'shuffled' ? groups.map((group, p) => shuffledThinking(group, `${seed}/${step}/${p}`)) : groups

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
