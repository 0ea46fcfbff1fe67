/** @file Runs rit: model, task, rubric, judges and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatModel } from '../../chat/chat-model.ts'
import { readEvals } from '../../runs/readers.ts'
import type { StepsResult } from '../../train/steps.ts'
import { MADE_ONCE } from '../common/deciding.ts'
import { besideGreedy } from '../common/evaluation.ts'
import { type MethodRun, runMethod } from '../common/method-run.ts'
import { problemsOf } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { openHints } from '../options/lesson-memory.ts'
import { checkRit } from './check.ts'
import type { RitConfig } from './config.ts'
import { ritEvaluation } from './evaluation.ts'
import { rit } from './recipe.ts'
import { describeRitRewards } from './rewards.ts'
import { thinkingRubrics } from './rubric.ts'
import { openTask, type RitTask, testNameOf } from './tasks.ts'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param judgeModel in place of the judge that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRit = async (
  config: RitConfig,
  options: RunOptions,
  judgeModel?: ChatModel,
): Promise<RunResult> =>
  runMethod(config, options, {
    start: checkRit(config, 'run'),
    info: { primarySet: testNameOf(config), rewardFormula: describeRitRewards(config) },
    learn: run => openTask(config, run.folder, ritTask => learnTask(config, run, ritTask), judgeModel),
  })

const learnTask = async <Problem>(
  config: RitConfig,
  run: MethodRun,
  ritTask: RitTask<Problem>,
): Promise<StepsResult> => {
  const { task } = ritTask
  const { dir } = run.run
  await run.use(Promise.resolve(ritTask))
  run.note(task.notes)
  const policy = await run.openPolicy()
  const hints = await openHints(config, task, run, run.folder)
  return run.train(
    policy,
    async () => {
      const known = existsSync(join(dir, MADE_ONCE.thinkingRubric))
      const { of: rubricOf, note } = await thinkingRubrics(config, ritTask, policy, dir)
      if (!known) run.note([note])
      const earlier = () => (existsSync(join(dir, 'evals.jsonl')) ? readEvals(dir) : [])
      return rit(config, {
        ...{ policy, ritTask, rubricOf, hints },
        problem: problemsOf(task, config.seed),
        evaluate: besideGreedy(config, own => ritEvaluation(own, { policy, ritTask, rubricOf }, earlier)),
      })
    },
    ritTask.metrics,
  )
}
