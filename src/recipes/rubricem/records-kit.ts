/** @file The records miniature as a run of rubricem: made-up questions, judges by script. */

import { placeboOf, type RecordsQuestion, recordsQuestion, relatedTo } from '../../tasks/records/index.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import { RECORDS_TEST_WORLD } from '../records-cold-start/evaluate.ts'
import type { RubricemConfig } from './config.ts'
import type { RubricemKit } from './kit.ts'
import {
  type RecordsTakeaways,
  RecordsTask,
  recordsReflectionJudge,
  recordsSettings,
  recordsStageJudge,
} from './records.ts'

export const recordsKit = (config: RubricemConfig): RubricemKit<RecordsQuestion, RecordsTakeaways> => {
  const { seed, reflection, evaluation } = config
  const { task: settings } = recordsSettings(config)
  const world = `train/${seed}`
  const { pool } = settings
  const questionAt = (i: number) => recordsQuestion(world, i, settings)
  const pooled = pool === null ? null : Array.from({ length: pool }, (_, i) => questionAt(i))
  return {
    task: new RecordsTask(settings, reflection.placebo),
    question: pooled ? shuffledPasses(pooled, `records/${seed}`) : questionAt,
    test: Array.from({ length: evaluation.problems }, (_, i) =>
      recordsQuestion(RECORDS_TEST_WORLD, i, settings),
    ),
    judge: recordsStageJudge(config),
    reflectionJudge: recordsReflectionJudge,
    siblingOf: relatedTo,
    placeboOf: ({ takeaways }, key) => {
      const { advice, lessons } = placeboOf(takeaways, `evaluation/${key}`)
      return {
        rubrics: [...advice],
        takeaways: { ...takeaways, advice: [...advice], lessons: [...lessons] },
      }
    },
    notes: [],
    close: async () => {},
  }
}
