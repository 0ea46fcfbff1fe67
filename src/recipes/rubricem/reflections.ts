/** @file Reflections: one attempt at each question is looked back at, candidates are judged, the best is kept, all are learnt from (spec 5.4). */

import type { JudgedGroup } from '../../grade/evolving/index.ts'
import { gate, type Json, type Reflection, type ReflectionScores, utilityOf } from '../../memory/index.ts'
import { type GrpoOptions, grpoAdvantages } from '../../rl/advantages.ts'
import {
  advantagesOf,
  type Credited,
  creditRollouts,
  type Graded,
  type Groups,
  type Rollout,
} from '../../rl/rollout.ts'
import { Rng } from '../../util/rng.ts'
import type { RubricemConfig } from './config.ts'
import type { JudgedAttempt, Lessons, ReflectionJudge, ResearchTask } from './research-task.ts'

/** What a reflector is asked about. */
export interface Reflected<Question> {
  question: Question
  /** The one attempt that it sees. */
  attempt: Rollout
}

/** A candidate, as it was read and judged. */
export interface ReflectionGrade<Takeaways extends Json = Json> {
  /** Null where the format is broken. */
  lessons: Lessons<Takeaways> | null
  /** Null where there is nothing to judge, or the judge failed. */
  scores: ReflectionScores | null
}

export type Candidate<Question, Takeaways extends Json = Json> = Graded<
  Reflected<Question>,
  ReflectionGrade<Takeaways>
>

/** One attempt of each group, drawn uniformly: no score has a say in which. Groups of which all attempts failed have none. */
export const pickAttempts = <Question>(
  groups: Groups<Graded<Question, unknown>>,
  label: string,
): Reflected<Question>[] =>
  groups.flatMap((group, p) => {
    const whole = group.filter(({ rollout }) => rollout.end !== 'failed')
    if (whole.length === 0) return []
    const { problem, rollout } = new Rng(`${label}/${p}`).pick(whole)
    return [{ question: problem, attempt: rollout }]
  })

/** What is known of an attempt by the judge of stages, who may still be at work on it. */
export type JudgementOf = (attempt: Rollout) => Promise<JudgedAttempt | null>

/** Where judgements of groups are found by one of their attempts. */
export const judgementsOf = (
  groups: Groups<Graded<unknown, unknown>>,
  judging: readonly Promise<JudgedGroup>[],
): JudgementOf => {
  const placeOf = new Map(groups.flatMap((group, p) => group.map(({ rollout }) => [rollout.key, p] as const)))
  return async ({ key }) => {
    const p = placeOf.get(key)
    const judged = p === undefined ? undefined : await judging[p]
    const rollout = judged?.rollouts.find(own => own.rollout.key === key)
    return judged && rollout ? { rubrics: judged.rubrics, rollout } : null
  }
}

/** Reads candidates and has those judged that can be read, once what they are about is judged. */
export const gradeReflections = async <Question, Takeaways extends Json>(
  task: Pick<ResearchTask<Question, Takeaways>, 'readReflection'>,
  judge: ReflectionJudge<Question, Takeaways>,
  items: readonly { problem: Reflected<Question>; rollout: Rollout }[],
  judgementOf: JudgementOf,
): Promise<ReflectionGrade<Takeaways>[]> => {
  const read = items.map(({ rollout: { tokens, end } }) =>
    end === 'length' ? null : task.readReflection(tokens),
  )
  const judged = await Promise.all(
    items.map(({ problem: { attempt } }, i) => (read[i] === null ? null : judgementOf(attempt))),
  )
  const asked = items.flatMap(({ problem, rollout: { key } }, i) => {
    const lessons = read[i]
    return lessons === null ? [] : [{ ...problem, lessons, key, judged: judged[i] }]
  })
  const scores = asked.length > 0 ? await judge.score(asked) : []
  const given = scores.values()
  return read.map(lessons => ({ lessons, scores: lessons && (given.next().value ?? null) }))
}

/** What came of a step's candidates. */
export interface Reflections<Question, Takeaways extends Json = Json> {
  /** With their rewards: the utility; 0 for a broken format; null where the judge failed. */
  candidates: Candidate<Question, Takeaways>[][]
  /** What goes into the bank, at most one a question. */
  accepted: { question: Question; reflection: Reflection<Takeaways> }[]
}

/** Gate and rewards of a step's candidates. */
export const rewardReflections = <Question, Takeaways extends Json>(
  task: Pick<ResearchTask<Question, Takeaways>, 'question' | 'kept'>,
  groups: Groups<Candidate<Question, Takeaways>>,
  { utility, acceptThreshold }: Pick<RubricemConfig['reflection'], 'utility' | 'acceptThreshold'>,
  step: number,
): Reflections<Question, Takeaways> => {
  const accepted: Reflections<Question, Takeaways>['accepted'] = []
  const candidates = groups.map(group => {
    const us = group.map(({ grade: { scores } }) => utilityOf(utility, scores))
    const gated = gate(
      group.map(({ grade: { lessons } }, i) => ({ valid: lessons !== null, u: us[i] })),
      acceptThreshold,
    )
    if (gated.accepted !== null) {
      const { problem, grade, rollout } = group[gated.accepted]
      const { rubrics, takeaways } = task.kept(problem.question, grade.lessons!, rollout.key)
      const question = task.question(problem.question)
      accepted.push({
        question: problem.question,
        reflection: { question, rubrics, takeaways, u: us[gated.accepted]!, step },
      })
    }
    return group.map((item, i) => ({
      ...item,
      reward: gated.rewards[i],
      parts: { ...(item.grade.scores ?? {}), valid: Number(item.grade.lessons !== null) },
    }))
  })
  return { candidates, accepted }
}

/** Advantages among the candidates of a question; an equal group has no gradient. */
export const creditReflections = <Question, Takeaways extends Json>(
  candidates: Groups<Candidate<Question, Takeaways>>,
  options: GrpoOptions,
): Credited<Reflected<Question>, ReflectionGrade<Takeaways>>[][] => {
  const { advantages_P_G } = advantagesOf(candidates, rewards => grpoAdvantages(rewards, options))
  return creditRollouts(candidates, advantages_P_G)
}
