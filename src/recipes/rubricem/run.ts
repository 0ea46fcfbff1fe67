/** @file A run of rubricem: a task in a world, a judge that evolves and a memory that grows, in the frame of every method. */

import { join } from 'node:path'
import { BankFile } from '../../memory/index.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { RecipeState } from '../../train/recipe.ts'
import type { StepsResult } from '../../train/steps.ts'
import { besideGreedy } from '../common/evaluation.ts'
import { type MethodRun, runMethod } from '../common/method-run.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { openRunBank } from '../options/lesson-memory.ts'
import { openStageAnchors } from './anchored.ts'
import { describeRubricemRewards } from './attempts.ts'
import { checkRubricem } from './check.ts'
import type { RubricemConfig } from './config.ts'
import { REUSE_SETS, rubricemEvaluation } from './evaluation.ts'
import { rubricem } from './recipe.ts'
import { type RubricemRunParts, withRubricemTask } from './tasks.ts'

/** In the run's folder: the bank, for people and for later use. */
const BANK_FILE = 'bank.jsonl'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, rubrics, bank, evaluations, checkpoints and a report.
 * @param parts in place of what the configuration names
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRubricem = async (
  config: RubricemConfig,
  options: RunOptions,
  parts: RubricemRunParts = {},
): Promise<RunResult> =>
  runMethod(config, options, {
    start: checkRubricem(config, 'run', parts),
    info: { primarySet: REUSE_SETS.plain, rewardFormula: describeRubricemRewards(config) },
    learn: run =>
      withRubricemTask(config, run, parts, (task, metrics) =>
        learn(config, run, task, parts.policy, metrics),
      ),
  })

/** The same for every task. */
const learn = async <Problem>(
  config: RubricemConfig,
  run: MethodRun,
  task: TaskWith<Problem, 'world' | 'stages'>,
  given: RubricemRunParts['policy'],
  metrics?: () => MetricGroup,
): Promise<StepsResult> => {
  run.note(task.notes)
  const policy = await (given ? run.use(given(run.folder)) : run.openPolicy())
  const { memory } = config
  const bank = memory.kind === 'bank' ? await openRunBank(memory, run, task.stages.takeaways) : null
  const everySteps = memory.kind === 'bank' ? memory.writeEverySteps : 0
  const file = new BankFile(join(run.run.dir, BANK_FILE), { everySteps })
  let done = run.from?.step ?? 0
  const recipe = async () => {
    const own = rubricem(config, {
      ...{ task, bank, anchors: await openStageAnchors(config, run.run.dir, { task, policy }) },
      evaluate: besideGreedy(config, (own, alone) => rubricemEvaluation(own, { task, policy, bank }, alone)),
      onBank: step => {
        done = step
        if (bank) file.afterStep(bank, step)
      },
    })
    return bank ? { ...own, state: withBankFile(own.state!, () => file.write(bank, done)) } : own
  }
  return run.train(policy, recipe, metrics)
}

/** The bank's file is written with every checkpoint, and after one was restored, so that the two never tell of different steps. */
const withBankFile = ({ save, load }: RecipeState, write: () => void): RecipeState => ({
  save: () => {
    write()
    return save()
  },
  load: value => {
    load(value)
    write()
  },
})
