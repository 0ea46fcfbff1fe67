/** @file Which task a configuration names, and what of it a plan needs. */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { ModelConfig } from '../../model/config.ts'
import { modelPath } from '../../model/model-place.ts'
import { type QuestionFigures, questionFigures } from '../../tasks/questions/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { mean } from '../../util/statistics.ts'
import { thoughtModelConfig } from '../checklist/packing.ts'
import { shapeFolder } from '../common/remote.ts'
import { arithmeticModelConfig } from '../reasoning/arithmetic.ts'
import { arithmeticRit } from './arithmetic.ts'
import type { RitConfig } from './config.ts'
import { packingRit } from './packing.ts'
import { QUESTIONS_TEST, questionsRit, thinkingJudges } from './questions.ts'
import { withRules } from './ruled.ts'
import type { RitTask } from './task.ts'

type Use<Result> = <Problem>(kit: RitTask<Problem>) => Result

/** Does something with a miniature, whose problems need no files and no model; null for questions. */
const withMiniature = <Result>(config: RitConfig, use: Use<Result>): Result | null => {
  if (config.task.kind === 'questions') return null
  return config.task.kind === 'arithmetic' ? use(arithmeticRit(config)) : use(packingRit(config))
}

/** What is known of good thinking about the task before it is opened. */
export const knownOf = (config: RitConfig): Pick<RitTask<never>, 'oracle' | 'bank' | 'assertExecutes'> =>
  withMiniature(config, ({ oracle, bank, assertExecutes }) => ({ oracle, bank, assertExecutes })) ?? {
    bank: [],
  }

export const testNameOf = (config: RitConfig): string =>
  withMiniature(config, ({ testName }) => testName) ?? QUESTIONS_TEST

/**
 * Opens the configured task with its judges.
 * @param folder of the model that answers
 * @param model in place of the configured judge's endpoints
 * @throws ConfigError, DataError, CheckpointError
 */
export const openTask = <Result>(
  config: RitConfig,
  folder: string,
  use: Use<Result>,
  model?: ChatModel,
): Result => {
  const ruled: Use<Result> = kit => use({ ...kit, verifier: withRules(kit.verifier, kit.task) })
  return (
    withMiniature(config, kit =>
      ruled(
        config.judge === null ? kit : { ...kit, gradeBatch: 1, ...thinkingJudges(config, kit.task, model) },
      ),
    ) ?? ruled(questionsRit(config, folder, model))
  )
}

/** The model that a cold start would make for the task; questions have none. */
export const freshShape = ({ task }: RitConfig): ((shape: ModelShape) => ModelConfig) =>
  task.kind === 'arithmetic' ? arithmeticModelConfig : thoughtModelConfig

/** Problems whose prompts are measured. */
const MEASURED = 500

export type TaskFigures = Pick<
  QuestionFigures,
  'train' | 'test' | 'promptTokens' | 'longestPrompt' | 'questionCharacters' | 'judged' | 'assumed'
>

/** Sizes of the data; prompts with all that a scaffold shows where there is one. @throws DataError for files that cannot be used */
export const taskFigures = (config: RitConfig): TaskFigures =>
  withMiniature(config, ({ task, train, test, answerRubric }): TaskFigures => {
    const measured = test.slice(0, MEASURED)
    const lengths = measured.map(problem => {
      const { scaffold, memory } = config
      const showsRubric = scaffold !== null && (memory.kind === 'none' || memory.show === 'beside')
      const hints = showsRubric ? answerRubric(problem).criteria : []
      return task.prompt(problem, hints).length
    })
    return {
      train: train.length,
      test: test.length,
      promptTokens: mean(lengths),
      longestPrompt: Math.max(...lengths),
      questionCharacters: mean(measured.map(problem => task.question(problem).length)),
      judged: 0,
      assumed: false,
    }
  }) ?? questionFigures({ task: config.task.questions, folder: folderOf(config) })

const folderOf = (config: RitConfig): string | null => {
  const place = shapeFolder(config)
  return place === null ? null : modelPath(place)
}
