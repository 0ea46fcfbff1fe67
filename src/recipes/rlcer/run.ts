/** @file Runs rlcer: model, questions, verifier and run folder put together, from the start or from a checkpoint. */

import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { StepsResult } from '../../train/steps.ts'
import { besideGreedy } from '../common/evaluation.ts'
import { type MethodRun, runMethod } from '../common/method-run.ts'
import { problemsOf } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { openThoughtAnchors } from './anchored.ts'
import { checkRlcer, modelShape, withRlcerTask } from './check.ts'
import type { RlcerConfig } from './config.ts'
import { rlcerEvaluation } from './evaluate.ts'
import { EVALUATED_SETS } from './evaluate-rubrics.ts'
import { rlcer } from './recipe.ts'
import { describeRlcerRewards } from './rewards.ts'
import { openRubricVerifier, type RlcerRunParts } from './verifiers.ts'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of those that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRlcer = async (
  config: RlcerConfig,
  options: RunOptions,
  parts: RlcerRunParts = {},
): Promise<RunResult> =>
  runMethod(config, options, {
    start: checkRlcer(config, 'run', parts),
    info: { primarySet: EVALUATED_SETS.plain, rewardFormula: describeRlcerRewards(config) },
    learn: run => withRlcerTask(config, run.folder, task => learnTask(config, run, task, parts)),
  })

/** The same for every task. */
const learnTask = async <Problem>(
  config: RlcerConfig,
  run: MethodRun,
  own: TaskWith<Problem, 'thinking' | 'rubricator'>,
  parts: RlcerRunParts,
): Promise<StepsResult> => {
  run.note(own.notes)
  const { verifier, truth, metrics } = await run.use(openRubricVerifier(config, own, parts))
  const policy = await run.openPolicy()
  const { thinking, rubricator } = own
  const task = { ...scored(own), thinking, rubricator }
  const { constrained, format } = config.rubricator
  const criteria = { min: format.minCriteria, max: format.maxCriteria }
  const rubricAutomaton = constrained ? rubricator.automaton?.(criteria) : undefined
  const positions = modelShape(config)?.maxPositions
  const common = { policy, task, positions, rubricAutomaton }
  const problem = problemsOf(task, config.seed)
  return run.train(
    policy,
    async () =>
      rlcer(config, {
        ...{ ...common, verifier, truth, problem },
        anchors: await openThoughtAnchors(config, run.run.dir, { task, policy, problem }),
        evaluate: besideGreedy(config, (tested, alone) =>
          rlcerEvaluation(tested, {
            ...{ ...common, verifier: truth ?? verifier, alone },
            ...(truth && config.verifier.kind === 'learned' && { drifting: verifier }),
          }),
        ),
      }),
    metrics,
  )
}
