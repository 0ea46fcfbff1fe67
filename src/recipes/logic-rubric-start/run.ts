/** @file The start of both roles on the logic task: a reasoner's vocabulary grows, and it learns to write rubrics beside its own proofs. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { growCheckpoint } from '../../model/grow.ts'
import { openPolicy } from '../../policy/open.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  LOGIC_RUBRIC_VOCABULARY,
  logicRubricator,
  logicRubricTokenizer,
  logicThinkingTask,
} from '../../tasks/logic/thinking/index.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { type LabelSource, writeLabels } from '../reasoning/labels.ts'
import { checkLogicRubricStart } from './check.ts'
import type { LogicRubricPhase } from './config.ts'
import { logicDemonstrations } from './demonstrations.ts'
import { evaluateLogicRoles } from './evaluate.ts'
import { logicProblems } from './problems.ts'
import { startResponses } from './responses.ts'

const task = logicThinkingTask()

const GROWN = 'grown'
const RESPONSES = 'responses.jsonl'
const LABELS = 'labels.jsonl'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runLogicRubricStart = async (
  config: LogicRubricPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const start = checkLogicRubricStart(config, 'run')!
  const { events = {} } = options
  const info = {
    config,
    recipe: 'logic-rubric-start',
    model: config.start,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen',
  }
  return withRun({ ...options, info }, async ({ use, ...session }) => {
    const problem = logicProblems(config.problems, `rubric start/${config.seed}`)
    const responses = await startResponses(join(session.run.dir, RESPONSES), config, problem, () =>
      openPolicy(config.policy, { folder: start, seed: config.seed }),
    )
    const grown = join(session.run.dir, GROWN)
    if (!existsSync(grown)) growCheckpoint(start, grown, vocabulary(config), config.seed)
    const policy = await use(openPolicy(config.policy, { folder: grown, seed: config.seed }))
    const labelled = { count: config.labels, maxTokens: config.evaluation.maxTokens, seed: config.seed }
    const phase = {
      name: 'supervised',
      policy,
      draw: logicDemonstrations(config, responses, problem),
      evaluate: async (step: number, last: boolean) => {
        if (last && config.labels > 0)
          await writeLabels(join(session.run.dir, LABELS), policy, labelSource(config), labelled)
        return evaluateLogicRoles(policy, config, step)
      },
      testsStart: false,
      config,
    }
    return runSupervised(session, phase, events)
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
