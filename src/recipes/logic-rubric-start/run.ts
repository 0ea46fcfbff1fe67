/** @file The start of both roles on the logic task: a reasoner's vocabulary grows, and it learns to write rubrics beside its own proofs. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../model/checkpoint.ts'
import { growCheckpoint } from '../../model/grow.ts'
import { isModel } from '../../model/model-files.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { openPolicy } from '../../policy/open.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  LOGIC_RUBRIC_VOCABULARY,
  logicRubricator,
  logicRubricTokenizer,
  logicThinkingTask,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { CheckpointError, ConfigError } from '../../util/errors.ts'
import { modelComesLater, type Purpose } from '../common/purpose.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { decidingHash, withRun } from '../common/session.ts'
import { assertLogicVocabulary, logicTokensOf, wholeModel } from '../common/starting-model.ts'
import { runSupervised } from '../common/supervised.ts'
import { type LabelSource, writeLabels } from '../reasoning/labels.ts'
import type { LogicRubricPhase } from './config.ts'
import { logicDemonstrations } from './demonstrations.ts'
import { evaluateLogicRoles, testProblems, toldPrompt } from './evaluate.ts'
import { logicProblems } from './problems.ts'
import { startResponses } from './responses.ts'

const task = logicThinkingTask()

/**
 * The folder of the model to start from; null in a plan whose model comes later. What a run refuses before it trains is refused here.
 * @throws ConfigError, DataError, CheckpointError for problems, contexts and models that do not go together
 */
export const checkLogicRubricStart = (config: LogicRubricPhase, purpose: Purpose): string | null => {
  const { evaluation, reasoners, maxPositions, start } = config
  for (const problem of testProblems(config).slice(0, FITTED)) {
    const told = toldPrompt(problem, config).length
    assertRoom(`problem ${problem.id} with hints`, told, evaluation.maxTokens, maxPositions)
    const asked = task.prompt(problem).length + Math.max(evaluation.maxTokens, reasoners.maxTokens)
    assertRoom(
      `problem ${problem.id} with its thinking, for a rubric`,
      asked,
      evaluation.rubricTokens,
      maxPositions,
    )
  }
  if (modelComesLater(start, purpose)) return null
  const folder = wholeModel(start, 'start')
  assertLogicVocabulary(folder)
  if (logicTokensOf(folder) > LOGIC_VOCABULARY.length)
    throw new CheckpointError(
      `start: expected a model of the logic task's ${LOGIC_VOCABULARY.length} tokens, got one of ${logicTokensOf(folder)} in ${folder}`,
      {
        hint: 'the words of rubrics come after those of the first vocabulary; start from a model without the long one',
      },
    )
  const { maxPositions: before } = readShape(folder)
  if (maxPositions < before)
    throw new ConfigError(`maxPositions: expected at least the start's ${before}, got ${maxPositions}`)
  return folder
}

/** Test problems that are looked at for their lengths. */
const FITTED = 64

const readShape = (folder: string) => {
  if (isModel(folder)) return loadConfig(folder)
  throw new CheckpointError(`start: expected a whole model in ${folder}, got an adapter`, {
    hint: 'the vocabulary of a whole model can grow; give the folder of the base model',
  })
}

const GROWN = 'grown'
const RESPONSES = 'responses.jsonl'
const LABELS = 'labels.jsonl'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runLogicRubricStart = async (
  config: LogicRubricPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const start = checkLogicRubricStart(config, 'run')!
  const configHash = decidingHash(config)
  const { events = {} } = options
  const info = {
    config,
    recipe: 'logic-rubric-start',
    model: config.start,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen',
  }
  return withRun({ ...options, info, configHash }, async ({ run, from, fork, use }) => {
    const problem = logicProblems(config.problems, `rubric start/${config.seed}`)
    const responses = await startResponses(join(run.dir, RESPONSES), config, problem, () =>
      openPolicy(config.policy, { folder: start, seed: config.seed }),
    )
    const grown = join(run.dir, GROWN)
    if (!existsSync(grown)) growCheckpoint(start, grown, vocabulary(config), config.seed)
    const policy = await use(openPolicy(config.policy, { folder: grown, seed: config.seed }))
    const labelled = { count: config.labels, maxTokens: config.evaluation.maxTokens, seed: config.seed }
    const phase = {
      name: 'supervised',
      policy,
      draw: logicDemonstrations(config, responses, problem),
      evaluate: async (step: number, last: boolean) => {
        if (last && config.labels > 0)
          await writeLabels(join(run.dir, LABELS), policy, labelSource(config), labelled)
        return evaluateLogicRoles(policy, config, step)
      },
      testsStart: false,
      configHash,
      config,
    }
    return runSupervised({ run, from, fork }, phase, events)
  })
}

const vocabulary = ({ maxPositions }: LogicRubricPhase) => ({
  tokens: LOGIC_RUBRIC_VOCABULARY,
  files: logicRubricTokenizer(maxPositions),
  maxPositions,
})

const labelSource = ({ problems, rubric, seed }: LogicRubricPhase): LabelSource<LogicTaskExample> => ({
  task,
  problem: logicProblems(problems, `labels/${seed}`),
  draw: (problem, rng) => logicRubricator.propose(problem, rubric, rng).text,
})
