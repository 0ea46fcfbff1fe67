/** @file Which task a configuration names, and what of it a plan needs. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelShape } from '../../train/config.ts'
import { mean } from '../../util/statistics.ts'
import { thoughtModelConfig } from '../checklist/packing.ts'
import { arithmeticModelConfig } from '../reasoning/arithmetic.ts'
import { arithmeticRit } from './arithmetic.ts'
import type { RitConfig } from './config.ts'
import { packingRit } from './packing.ts'
import type { RitTask } from './task.ts'

/** Does something with the configured task, whatever its problems are. */
export const withTask = <Result>(
  config: RitConfig,
  use: <Problem>(kit: RitTask<Problem>) => Result,
): Result => (config.task.kind === 'arithmetic' ? use(arithmeticRit(config)) : use(packingRit(config)))

/** The model that a cold start would make for the task. */
export const freshShape = ({ task }: RitConfig): ((shape: ModelShape) => ModelConfig) =>
  task.kind === 'arithmetic' ? arithmeticModelConfig : thoughtModelConfig

/** Problems whose prompts are measured. */
const MEASURED = 500

export interface TaskFigures {
  train: number
  test: number
  /** Length of prompts, tokens, with all that a scaffold shows where there is one: mean and longest. */
  promptTokens: number
  longestPrompt: number
}

export const taskFigures = (config: RitConfig): TaskFigures =>
  withTask(config, ({ task, train, test, answerRubric }) => {
    const lengths = test.slice(0, MEASURED).map(problem => {
      const hints = config.scaffold === null ? [] : answerRubric(problem).criteria
      return task.prompt(problem, hints).length
    })
    return {
      train: train.length,
      test: test.length,
      promptTokens: mean(lengths),
      longestPrompt: Math.max(...lengths),
    }
  })
