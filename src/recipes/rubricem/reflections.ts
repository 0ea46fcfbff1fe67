/** @file Reflections: one attempt at each question is looked back at, candidates are judged, the best is kept, all are learnt from. */

import { z } from 'zod'
import type { JudgedGroup } from '../../grade/evolving/index.ts'
import { gate, type Reflection, type ReflectionScores, utilityOf } from '../../memory/index.ts'
import type { Graded, GroupedDatum, Groups, Rollout } from '../../rl/rollout.ts'
import type { JudgedReflection, ReflectedLessons, Reflector } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { StepIo } from '../../train/rollout.ts'
import { CheckpointError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import type { RubricemConfig } from './config.ts'

/** What a reflector is asked about: one attempt at a problem. */
export type Reflected<Problem> = Pick<JudgedReflection<Problem>, 'problem' | 'attempt'>

/** A candidate, as it was read and judged. */
export interface ReflectionGrade {
  /** Null where the format is broken. */
  lessons: ReflectedLessons | null
  /** Null where there is nothing to judge, or the judge failed. */
  scores: ReflectionScores | null
}

export type GradedReflection<Problem> = Graded<Reflected<Problem>, ReflectionGrade>

/** What is known of an attempt by the judge of stages, who may still be at work on it. */
export type JudgementOf = (attempt: Rollout) => Promise<JudgedReflection<unknown>['judged']>

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
const gradeReflections = async <Problem>(
  reflector: Pick<Reflector<Problem>, 'read' | 'judge'>,
  items: readonly { problem: Reflected<Problem>; rollout: Rollout }[],
  judgementOf: JudgementOf,
): Promise<ReflectionGrade[]> => {
  const read = items.map(({ problem: { problem }, rollout: { tokens, end } }) =>
    end === 'length' ? null : reflector.read(problem, tokens),
  )
  const asked = await Promise.all(
    items.flatMap(({ problem }, i) => {
      const lessons = read[i]
      return lessons === null
        ? []
        : [judgementOf(problem.attempt).then(judged => ({ ...problem, lessons, judged }))]
    }),
  )
  const scores = asked.length > 0 ? await reflector.judge(asked) : []
  const given = scores.values()
  return read.map(lessons => ({ lessons, scores: lessons && (given.next().value ?? null) }))
}

/** The same policy looks back at one attempt of each problem. */
export const reflect = <Problem>(
  { config, task }: { config: RubricemConfig; task: TaskWith<Problem, 'stages'> },
  io: StepIo,
  step: number,
  agents: Groups<Graded<Problem, unknown>>,
  judgementOf: JudgementOf,
) => {
  const { seed, reflection } = config
  const { reflector } = task.stages
  const { maxTokens, temperature } = reflection
  // One attempt of each group, drawn uniformly: no score has a say in which. Groups of which all attempts failed have none.
  const problems = agents.flatMap((group, p): Reflected<Problem>[] => {
    const whole = group.filter(({ rollout }) => rollout.end !== 'failed')
    if (whole.length === 0) return []
    const { problem, rollout } = new Rng(`${seed}/${step}/reflected/${p}`).pick(whole)
    return [{ problem, attempt: rollout }]
  })
  return io.rollOut<Reflected<Problem>, ReflectionGrade>({
    role: 'reflector',
    problems,
    prompt: ({ problem, attempt: seen }) => reflector.prompt(problem, seen),
    samples: reflection.candidates,
    sampling: { maxTokens, temperature, stopTokens: reflector.stopTokens },
    grade: items => gradeReflections(reflector, items, judgementOf),
    last: true,
  })
}

/** What came of a step's candidates. */
export interface Reflections<Problem> {
  /** With their rewards: the utility; 0 for a broken format; null where the judge failed. */
  candidates: GradedReflection<Problem>[][]
  /** What goes into the bank, at most one a problem. */
  accepted: Reflection[]
}

/** Lessons as later attempts are shown them: as they are, or under a control such as say nothing. @param key draws those */
export const keptLessons = <Problem>(
  { stages }: Pick<TaskWith<Problem, 'stages'>, 'stages'>,
  { placebo }: Pick<RubricemConfig['reflection'], 'placebo'>,
  lessons: ReflectedLessons,
  key: string,
): ReflectedLessons => (placebo ? stages.placebo!(lessons, key) : lessons)

/** Gate and rewards of a step's candidates. */
export const rewardReflections = <Problem>(
  task: Pick<TaskWith<Problem, 'stages'>, 'question' | 'stages'>,
  config: Pick<RubricemConfig['reflection'], 'utility' | 'acceptThreshold' | 'placebo'>,
  groups: Groups<GradedReflection<Problem>>,
  step: number,
): Reflections<Problem> => {
  const accepted: Reflection[] = []
  const candidates = groups.map(group => {
    const us = group.map(({ grade: { scores } }) => utilityOf(config.utility, scores))
    const gated = gate(
      group.map(({ grade: { lessons } }, i) => ({ valid: lessons !== null, u: us[i] })),
      config.acceptThreshold,
    )
    if (gated.accepted !== null) {
      const { problem, grade, rollout } = group[gated.accepted]
      const { rubrics, takeaways } = keptLessons(task, config, grade.lessons!, rollout.key)
      const question = task.question(problem.problem)
      accepted.push({ question, rubrics, takeaways, u: us[gated.accepted]!, step })
    }
    return group.map((item, i) => ({
      ...item,
      reward: gated.rewards[i],
      parts: { ...(item.grade.scores ?? {}), valid: Number(item.grade.lessons !== null) },
    }))
  })
  return { candidates, accepted }
}

const ids = z.array(z.int().min(0))
const floats = z.array(z.number()).transform(values => Float32Array.from(values))
const batchSchema = z.array(
  z
    .strictObject({
      group: z.string(),
      promptTokens: ids,
      tokens: ids.transform(values => Int32Array.from(values)),
      ...{ mask: floats, oldLogprobs: floats, advantages: floats },
    })
    .transform(({ group, ...datum }): GroupedDatum => ({ group, datum })),
)

/** Log-probs of sampling go with the batch: the policy is another one when it is learnt from. */
export class DeferredBatch {
  #batch: readonly GroupedDatum[] = []

  /** Puts a batch off. @returns the one that was put off before */
  swap(batch: readonly GroupedDatum[]): readonly GroupedDatum[] {
    const before = this.#batch
    this.#batch = batch
    return before
  }

  save(): unknown {
    return this.#batch.map(({ group, datum: { promptTokens, tokens, mask, oldLogprobs, advantages } }) => {
      const kept = { promptTokens, tokens, mask, oldLogprobs, advantages }
      const lists = Object.entries(kept).map(([name, values]) => [name, Array.from(values)])
      return { group, ...Object.fromEntries(lists) }
    })
  }

  /** @throws CheckpointError for something else than `save` gives */
  load(value: unknown): void {
    this.#batch = parseWith(batchSchema, value, "recipe's state: deferred batch", CheckpointError)
  }
}
