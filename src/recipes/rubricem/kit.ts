/** @file What a run of rubricem is about: a task with its questions, who judges, and what memory is compared with. */

import type { StageJudge } from '../../grade/evolving/index.ts'
import type { Json } from '../../memory/index.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import type { Lessons, ReflectionJudge, ResearchTask } from './research-task.ts'

export interface RubricemKit<Question, Takeaways extends Json> {
  task: ResearchTask<Question, Takeaways>
  /** Questions to train on. */
  question: ProblemStream<Question>
  /** Never trained on. */
  test: readonly Question[]
  judge: StageJudge<Question>
  reflectionJudge: ReflectionJudge<Question, Takeaways>
  /** Another question that shares lessons with one; absent: evaluations take similar ones from the run's memory. */
  siblingOf?(question: Question): Question
  /** Lessons of the same make about nothing. */
  placeboOf?(lessons: Lessons<Takeaways>, key: string): Lessons<Takeaways>
  /** What a judge says of answers that nothing certain is known of, in [0, 1]; null where it cannot tell. */
  opinion?(question: Question, attempts: readonly Rollout[]): Promise<(number | null)[]>
  /** What judging took since it was last asked. */
  figures?(): MetricGroup
  /** What a person should know before the training. */
  notes: readonly string[]
  close(): Promise<void>
}
