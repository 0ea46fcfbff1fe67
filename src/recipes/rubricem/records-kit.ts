/** @file The records miniature as a run of rubricem: made-up questions, judges by script. */

import {
  placeboOf,
  RECORDS_TEST_WORLD,
  type RecordsQuestion,
  recordsQuestion,
  relatedTo,
} from '../../tasks/records/index.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { RubricemConfig } from './config.ts'
import type { RubricemKit } from './kit.ts'
import {
  type RecordsTakeaways,
  RecordsTask,
  recordsReflectionJudge,
  recordsSettings,
  recordsStageJudge,
} from './records.ts'

/** What a person should know of a run before it trains. */
const ORACLE_NOTE =
  "judge.oracle: the judge knows the right answers and the archives' field names, which a judge of real research does not"

export const recordsKit = (config: RubricemConfig): RubricemKit<RecordsQuestion, RecordsTakeaways> => {
  const { seed, reflection, evaluation } = config
  const { task: settings, judge } = recordsSettings(config)
  const world = `train/${seed}`
  const { pool } = settings
  const questionAt = (i: number) => recordsQuestion(world, i, settings)
  const pooled = pool === null ? null : Array.from({ length: pool }, (_, i) => questionAt(i))
  return {
    task: new RecordsTask(settings, { placebo: reflection.placebo, oracle: judge.oracle }),
    question: pooled ? shuffledPasses(pooled, `records/${seed}`) : questionAt,
    test: Array.from({ length: evaluation.problems }, (_, i) =>
      recordsQuestion(RECORDS_TEST_WORLD, i, settings),
    ),
    judge: recordsStageJudge(config),
    reflectionJudge: recordsReflectionJudge(judge),
    siblingOf: relatedTo,
    placeboOf: ({ takeaways }, key) => {
      const { advice, lessons } = placeboOf(takeaways, `evaluation/${key}`)
      return {
        rubrics: [...advice],
        takeaways: { ...takeaways, advice: [...advice], lessons: [...lessons] },
      }
    },
    notes: judge.oracle ? [ORACLE_NOTE] : [],
    close: async () => {},
  }
}
