/** @file What training is graded by where that is not the truth: negative controls, and C4 and C5 by proof instead of by proxy. */

import type { LogicGrade, LogicItem } from '../../grade/logic/grade.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { Rng } from '../../util/rng.ts'
import type { RubricAsRewardConfig } from './config.ts'
import type { ProblemSource } from './problems.ts'
import type { SoftJudge } from './verifier.ts'

type Item = LogicItem & { problem: LogicTaskExample }

/** A response's grade, and the one that training goes by: the same unless there is a control. */
export interface TrainingGrade {
  grade: LogicGrade
  rewarded: LogicGrade
}

/** How far away in the stream of problems the one lies that a shuffled rubric comes from. */
const ELSEWHERE = 1_000_003

const shifted = (grade: LogicGrade, change: (value: number, id: string) => number): LogicGrade => {
  const criteria = Object.fromEntries(
    Object.entries(grade.criteria).map(([id, value]) => [id, value === null ? null : change(value, id)]),
  ) as LogicGrade['criteria']
  const { correctAndProved: proved } = grade
  return {
    ...grade,
    criteria,
    correctAndProved: proved === null ? null : change(Number(proved), 'proved') >= 0.5,
  }
}

/** Scores by chance; the same response to the same problem gets the same ones, so that a resumed run sees no others. */
const byChance = (grade: LogicGrade, { problem, response }: Item, seed: number | string): LogicGrade => {
  const rng = new Rng(`random reward/${seed}/${problem.id}/${response}`)
  return shifted(grade, (_, id) => rng.fork(id).next())
}

/** C4 and C5 as evaluation judges them, where they were worked out; the stand-ins where the conclusion has no formula. */
const byProof = (grade: LogicGrade): LogicGrade => {
  const { truth, criteria } = grade
  return truth
    ? { ...grade, criteria: { ...criteria, C4: truth.C4 ?? criteria.C4, C5: truth.C5 ?? criteria.C5 } }
    : grade
}

/** C4 and C5 as a judge has them; an excluded grade keeps what it has. */
const byJudge = (grade: LogicGrade, soft: { C4: number; C5: number }): LogicGrade =>
  grade.excluded === null ? { ...grade, criteria: { ...grade.criteria, ...soft } } : grade

export interface TrainingGrader {
  problems: ProblemSource
  grade: (items: readonly Item[]) => Promise<TrainingGrade[]>
}

/**
 * Problems and grades as training sees them under `control` and `softCriteria`; as they are where neither is set. Evaluation
 * never goes through this.
 * @param soft judges C4 and C5 in place of the stand-ins
 */
export const trainingGrader = (
  { control, softCriteria, seed }: Pick<RubricAsRewardConfig, 'control' | 'softCriteria' | 'seed'>,
  problems: ProblemSource,
  gradeTruly: (items: readonly Item[], truth: boolean) => Promise<LogicGrade[]>,
  soft: SoftJudge | null = null,
): TrainingGrader => {
  const others = new WeakMap<LogicTaskExample, LogicTaskExample>()
  const withOther: ProblemSource = (index, hops) => {
    const problem = problems(index, hops)
    others.set(problem, problems(index + ELSEWHERE, hops))
    return problem
  }
  const exact = softCriteria === 'exact'
  const gradeBy = async (items: readonly Item[]) => {
    const grades = await gradeTruly(items, exact)
    if (exact) return grades.map(byProof)
    if (soft === null) return grades
    const credits = await soft(items)
    return grades.map((each, i) => byJudge(each, credits[i]))
  }
  const controlled = async (items: readonly Item[], grades: readonly LogicGrade[]) => {
    switch (control) {
      case 'flipped':
        return grades.map(each => shifted(each, value => 1 - value))
      case 'random':
        return grades.map((each, i) => byChance(each, items[i], seed))
      case 'shuffled':
        return gradeBy(items.map(item => ({ ...item, problem: others.get(item.problem)! })))
      default:
        return grades
    }
  }
  const grade = async (items: readonly Item[]): Promise<TrainingGrade[]> => {
    const grades = await gradeBy(items)
    const rewarded = await controlled(items, grades)
    return grades.map((each, i) => ({ grade: each, rewarded: rewarded[i] }))
  }
  return { problems: control === 'shuffled' ? withOther : problems, grade }
}
