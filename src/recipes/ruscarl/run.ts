/** @file Runs ruscarl: model, task, graders and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mainTest } from '../../tasks/task.ts'
import type { StepsResult } from '../../train/steps.ts'
import { besideGreedy, evaluation } from '../common/evaluation.ts'
import { type MethodRun, type PhaseOptions, runMethod, runPhase, STOPPED } from '../common/method-run.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { problemStream } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { withHeldOutJudge } from '../options/held-out-judge.ts'
import { openHints } from '../options/lesson-memory.ts'
import { packingCriterionNames } from '../sft/miniatures.ts'
import { checkRuscarl, type RuscarlRunParts } from './check.ts'
import type { RuscarlConfig } from './config.ts'
import { conversationSet, conversationTraining, penaltyNames } from './conversations.ts'
import { ruscarl } from './recipe.ts'
import { hasDemonstrations, runSft } from './sft.ts'
import { packingTraining, training } from './tasks.ts'

const SFT = 'sft'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of the configured ones: judges, or a task of one's own
 * @throws ConfigError for settings that do not go together; what training throws
 * @example
 * const { readMetrics } = await import('gradus/runs')
 * const settings = { ...ruscarl.presets.quick.config, steps: 1, evaluation: { problems: 2 } }
 * await runRuscarl(ruscarl.schema.parse(settings), { dir: 'runs/packing' })
 * readMetrics('runs/packing').map(({ step }) => step) // [ 1 ]
 */
export const runRuscarl = async (
  config: RuscarlConfig,
  options: RunOptions,
  parts: RuscarlRunParts = {},
): Promise<RunResult> => {
  const { given, conversations } = checkRuscarl(config, 'run', parts)
  const { sft } = config
  const { written, task, method = ruscarlMethod(config) } = parts
  return runMethod(config, options, {
    start: given,
    info: {
      ...infoOf(config, conversations),
      rewardFormula: method.rewardFormula,
      ...(task && { primarySet: mainTest(task)[0], criterionNames: {} }),
      ...(written && { config: written, recipe: written.recipe }),
    },
    keeps: dir => sft !== null && existsSync(join(dir, SFT)),
    learn(run) {
      if (task) return learnTask(config, method, run, training(config, task), options)
      const { task: own } = config
      if (own.kind === 'packing')
        return learnTask(config, method, run, packingTraining({ ...config, task: own }), options)
      const rows = conversationTraining({ ...config, task: own }, run.folder, parts, conversations!)
      return learnTask(config, method, run, rows, options)
    },
  })
}

type LearningMethod = NonNullable<RuscarlRunParts['method']>

const ruscarlMethod = (config: RuscarlConfig): LearningMethod => ({
  rewardFormula:
    'The reward of a response is its score by the rubric: points of the criteria that it meets, penalties among them, over the points to be had.',
  recipe: async parts => ruscarl(config, parts),
})

const infoOf = (config: RuscarlConfig, conversations: ReturnType<typeof checkRuscarl>['conversations']) => {
  const { task } = config
  if (task.kind === 'packing')
    return {
      primarySet: mainTest(MINIATURES.packing.open(task))[0],
      criterionNames: packingCriterionNames(task.world),
    }
  const primarySet = conversationSet(config)
  if (conversations === null) return { primarySet }
  const criterionNames = penaltyNames(conversations)
  return {
    ...{ primarySet, rubric: conversations.rubric },
    ...(Object.keys(criterionNames).length > 0 && { criterionNames }),
  }
}

/** The phases that are the same for every task: supervised learning where asked for, then the reinforcement. */
const learnTask = async <Problem>(
  config: RuscarlConfig,
  method: LearningMethod,
  run: MethodRun,
  task: RubricTask<Problem>,
  options: PhaseOptions,
): Promise<StepsResult> => {
  await run.use(Promise.resolve(task))
  const { reward } = task
  run.note(reward.notes)
  const { sft } = config
  // Supervised learning where there is a phase of it, which may be asked to stop; how far the reinforcement goes is none of its settings.
  const own = { ...config, steps: sft?.steps ?? 0 }
  const start = sft
    ? await runPhase(
        join(run.run.dir, SFT),
        options,
        phase => runSft({ config: own, sft, recipe: 'ruscarl sft', task, folder: run.folder }, phase),
        dir => hasDemonstrations(dir, own),
      )
    : run.folder
  if (start === null) return STOPPED
  const policy = await run.openPolicy(start)
  await task.start?.startAt(policy)
  const hints = await openHints(config, reward, run, start)
  const { curriculum } = config.exploration
  return run.train(
    policy,
    async () => {
      const recipe = await method.recipe({
        ...{ policy, hints, task: reward },
        problem: await problemStream({ ...config, curriculum }, policy, reward, run.run.dir),
        evaluate: besideGreedy(config, (own, alone) => evaluation(own, policy, task, alone)),
      })
      return withHeldOutJudge(recipe, task.heldOut, config.seed)
    },
    task.metrics,
  )
}
