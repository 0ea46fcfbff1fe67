/** @file Runs ruscarl: model, task, graders and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openPolicy } from '../../policy/open.ts'
import { PackingWorld, packingTask } from '../../tasks/checklist/index.ts'
import { mainTest } from '../../tasks/task.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import type { StepsResult } from '../../train/steps.ts'
import { packingCriterionNames } from '../checklist/packing.ts'
import { evaluation } from '../common/evaluation.ts'
import { besideGreedy } from '../common/greedy.ts'
import { LESSONS_FILE, openLessonMemory } from '../common/lessons-memory.ts'
import { type PhaseOptions, runPhase } from '../common/phase.ts'
import { problemStream } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { type Session, withRun } from '../common/session.ts'
import { hasDemonstrations, runSft } from '../common/sft.ts'
import { positionsOf } from '../common/starting-model.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { phaseConfig } from '../sft/config.ts'
import { runSftRecipe } from '../sft/run.ts'
import { check } from './check.ts'
import type { RuscarlConfig } from './config.ts'
import { conversationTraining, type JudgeModels, penaltyNames, primarySetOf } from './conversations.ts'
import { ruscarl } from './recipe.ts'
import { runHash } from './run-hash.ts'
import { packingTraining } from './tasks.ts'

/** Parts of a run in place of the configured ones. */
export interface RuscarlRunParts extends JudgeModels {
  /** Where they are settings of another recipe that this one runs: as they were written, and what becomes of such settings. */
  written?: { config: { recipe: string }; asRuscarl(config: object): RuscarlConfig }
}

const FOLDERS = { coldStart: 'cold-start', sft: 'sft' } as const

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param judges in place of those that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRuscarl = async (
  config: RuscarlConfig,
  options: RunOptions,
  judges: RuscarlRunParts = {},
): Promise<RunResult> => {
  const { given, conversations } = check(config, 'run', judges)
  const session = {
    ...options,
    info: { ...runInfo(config, conversations), ...writtenAs(judges.written) },
    configHash: runHash(config),
    hashOf: (other: object) => runHash(judges.written?.asRuscarl(other) ?? (other as RuscarlConfig)),
    mayLackCheckpoint: (dir: string) => hasPhase(config, dir),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runSftRecipe(phaseConfig(config.coldStart!, config.monitors), phase)
    const folder = given ?? (await runPhase(join(open.run.dir, FOLDERS.coldStart), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    return conversations === null
      ? learnTask(config, open, folder, packingTraining(config), options)
      : learnTask(config, open, folder, conversationTraining(config, folder, judges, conversations), options)
  })
}

const writtenAs = (written: RuscarlRunParts['written']) =>
  written && { config: written.config, recipe: written.config.recipe }

/** Whether an earlier phase of a run has begun. */
const hasPhase = (config: RuscarlConfig, dir: string): boolean =>
  (['coldStart', 'sft'] as const).some(
    phase => config[phase] !== null && existsSync(join(dir, FOLDERS[phase])),
  )

const runInfo = (config: RuscarlConfig, conversations: ReturnType<typeof check>['conversations']) => ({
  config,
  recipe: config.recipe,
  model: modelName(config),
  seed: config.seed,
  steps: config.steps,
  rewardFormula:
    'The reward of a response is its score by the rubric: points of the criteria that it meets, penalties among them, over the points to be had.',
  ...(config.task.kind === 'packing'
    ? {
        primarySet: mainTest(packingTask(new PackingWorld(config.world), config))[0],
        criterionNames: packingCriterionNames(new PackingWorld(config.world)),
      }
    : {
        primarySet: primarySetOf(config),
        ...(conversations !== null && {
          ...namesOf(penaltyNames(conversations)),
          rubric: conversations.rubric,
        }),
      }),
})

/** Absent where there are none. */
const namesOf = (criterionNames: Record<string, string>) =>
  Object.keys(criterionNames).length > 0 ? { criterionNames } : {}

/** The phases that are the same for every task: supervised learning where asked for, then the reinforcement. */
const learnTask = async <Problem>(
  config: RuscarlConfig,
  open: Session,
  folder: string,
  task: RubricTask<Problem>,
  options: PhaseOptions,
): Promise<StepsResult> => {
  const { events = {} } = options
  const { run, from, use } = open
  await use(Promise.resolve(task))
  for (const message of from === null ? task.reward.notes : []) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const start = await supervised(config, task, folder, run.dir, options)
  if (start === null) return { step: 0, finished: false }
  const lora = config.model.lora ?? undefined
  const policy = await use(openPolicy(config.policy, { folder: start, lora, seed: config.seed }))
  const { reward } = task
  await task.start?.startAt(policy)
  const memory = await openLessonMemory({
    memory: config.memory,
    task: reward,
    seed: config.seed,
    steps: config.steps,
    path: join(run.dir, LESSONS_FILE),
    use,
  })
  const { curriculum } = config.exploration
  const recipe = async () =>
    ruscarl(config, {
      ...task,
      policy,
      memory,
      ...(memory && { room: positionsOf(start) - config.rollout.maxTokens }),
      problem: await problemStream({ ...config, curriculum }, policy, reward, run.dir),
      task: reward,
      evaluate: besideGreedy(config, (own, alone) =>
        evaluation(own, policy, alone ? withoutOthers(task) : task),
      ),
    })
  const settings = loopSettings(config, runHash(config), monitorsOf(config))
  return reinforce(open, policy, config.loss, recipe, settings, events)
}

/** Without further judges and sets. */
const withoutOthers = <Problem>({ truth, ...task }: RubricTask<Problem>): RubricTask<Problem> => ({
  ...task,
  truth: { ...truth, tests: Object.fromEntries([mainTest(truth)]) },
  heldOut: undefined,
  trainingJudge: undefined,
})

/** Where ratios start from another prompt on purpose, their gap is no mismatch. */
const monitorsOf = ({ monitors, ratio }: RuscarlConfig): MonitorSettings | null =>
  monitors && ratio === 'true-is' ? { ...monitors, samplerMismatch: null } : monitors

/** Runs the SFT phase where there is one; the starting policy as it is where there is none. Null when it was asked to stop. */
const supervised = async <Problem>(
  config: RuscarlConfig,
  task: RubricTask<Problem>,
  folder: string,
  dir: string,
  options: PhaseOptions,
): Promise<string | null> => {
  const { sft } = config
  if (sft === null) return folder
  const configHash = runHash(config)
  const isOwn = (other: unknown) => runHash(other as RuscarlConfig) === configHash
  const phase = { config, sft, recipe: 'ruscarl sft', configHash, task, folder }
  const run = (own: RunOptions) => runSft(phase, own, isOwn)
  return runPhase(join(dir, FOLDERS.sft), options, run, own => hasDemonstrations(own, isOwn))
}
