/** @file What training is graded by where that is not the truth: negative controls, and C4 and C5 by a judge. They wrap the task. */

import type { Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicResponse, TrainedLogicTask } from '../../tasks/logic/task.ts'
import { Rng } from '../../util/rng.ts'
import { controlledValue } from '../options/control.ts'
import type { RubricAsRewardConfig } from './config.ts'
import type { SoftJudge } from './verifier.ts'

/** How far away in the stream of problems the one lies that a shuffled rubric comes from. */
const ELSEWHERE = 1_000_003

const withCredit = (verdict: Verdict, change: (credit: number) => number): Verdict => {
  const known = creditOf(verdict)
  if (known === null) return verdict
  const credit = change(known)
  return { ...verdict, met: credit === 1, credit }
}

/** Every credit another one, also whether the answer is proved. */
const shifted = (own: LogicResponse, change: (credit: number, id: string) => number): LogicResponse => ({
  ...own,
  verdicts: own.verdicts.map(verdict => withCredit(verdict, credit => change(credit, verdict.criterionId))),
  proved: own.proved === null ? null : change(Number(own.proved), 'proved') >= 0.5,
})

/** Judged as if they were answers to other problems; what they are as such (`grade`) stays. */
const shuffled = (task: TrainedLogicTask): TrainedLogicTask => {
  const others = new WeakMap<LogicTaskExample, LogicTaskExample>()
  return {
    ...task,
    async grade(items) {
      const said = await task.grade(items)
      const graded = await task.grade(items.map(item => ({ ...item, problem: others.get(item.problem)! })))
      return graded.map((own, i) => ({ ...own, grade: said[i].grade }))
    },
    stream(index, hops) {
      const problem = task.stream(index, hops)
      others.set(problem, task.stream(index + ELSEWHERE, hops))
      return problem
    },
  }
}

/** The task as training sees it under `control`; as it is where that is not set. Evaluation never goes through this. */
export const controlledTask = (
  task: TrainedLogicTask,
  { control, seed }: Pick<RubricAsRewardConfig, 'control' | 'seed'>,
): TrainedLogicTask => {
  if (control === undefined) return task
  if (control === 'shuffled') return shuffled(task)
  return {
    ...task,
    grade: async items =>
      (await task.grade(items)).map((own, i) => {
        // The same response to the same problem gets the same credits.
        const rng = new Rng(`random reward/${seed}/${items[i].problem.id}/${own.response.text}`)
        return shifted(own, (credit, id) => controlledValue(control, credit, rng.fork(id)))
      }),
  }
}

/** The task with C4 and C5 as a judge has them; what nothing can be said of keeps what it has. */
export const softlyJudged = (task: TrainedLogicTask, judge: SoftJudge): TrainedLogicTask => ({
  ...task,
  async grade(items) {
    const said = await task.grade(items)
    const credits = await judge(items.map(({ problem }, i) => ({ problem, response: said[i].response.text })))
    const judged = (verdict: Verdict, soft: Readonly<Record<string, number>>): Verdict =>
      verdict.criterionId in soft
        ? { ...withCredit(verdict, () => soft[verdict.criterionId]), source: 'model' }
        : verdict
    return said.map((own, i) =>
      own.excluded === null
        ? { ...own, verdicts: own.verdicts.map(verdict => judged(verdict, credits[i])) }
        : own,
    )
  },
})
