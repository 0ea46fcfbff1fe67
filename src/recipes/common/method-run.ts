/** @file The frame of a method's run: its folder, phases before it, the model that it starts from, the policy, and the steps. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { modelPath } from '../../model/model-place.ts'
import { openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { NewRunOptions as NewRun } from '../../runs/run-folder.ts'
import type { Recipe } from '../../train/recipe.ts'
import type { StepsResult } from '../../train/steps.ts'
import { phaseConfig } from '../sft/config.ts'
import { runSftRecipe } from '../sft/run.ts'
import { hasOwnCritic, ownCriticSource } from './critic.ts'
import { withJudgingTime } from './judging.ts'
import type { RunOptions, RunResult } from './recipe.ts'
import { modelName } from './remote.ts'
import { type RunSession, withRun } from './session.ts'
import { reinforce, type TrainingConfig } from './training.ts'

/** What a phase takes over from its run. */
export type PhaseOptions = Pick<RunOptions, 'events' | 'acceptRows'>

/**
 * Runs a phase in a folder of its own, goes on with it, or finds it done. Its checkpoint; null when it was asked to stop.
 * @param isOfUse whether a phase that was killed before its first checkpoint has left something to go on with
 */
export const runPhase = async (
  dir: string,
  { events, acceptRows }: PhaseOptions,
  run: (options: RunOptions) => Promise<RunResult>,
  isOfUse: (dir: string) => boolean = () => false,
): Promise<string | null> => {
  const resume = latestCheckpoint(dir) !== null || isOfUse(dir)
  if (!resume && existsSync(dir)) rmSync(dir, { recursive: true, force: true })
  const { finished, checkpoint } = await run({ dir, resume, events, acceptRows })
  return finished ? checkpoint : null
}

/** A run that is open, with what the frame does for its method. */
export interface MethodRun extends RunSession {
  /** The checkpoint to start from. */
  folder: string
  /** Opens the policy that learns, from `folder` or what another phase made of it. */
  openPolicy(folder?: string): Promise<Policy>
  /** As `reinforce`. @param metrics what judging took since it was last asked */
  train<Rolled>(
    policy: Policy,
    recipeFor: () => Recipe<Rolled> | Promise<Recipe<Rolled>>,
    metrics?: () => MetricGroup,
  ): Promise<StepsResult>
}

/** What the frame asks of a method. */
export interface Method {
  /** The checkpoint to start from, a folder or any other name of a model that is here; null where a cold start makes it. */
  start: string | null
  /** What the run's folder says besides the settings, or in place of them. */
  info: Partial<NewRun>
  /** Whether a run of the folder goes on before its first checkpoint, although it has no cold start. */
  keeps?(dir: string): boolean
  learn(run: MethodRun): Promise<StepsResult>
}

const COLD_START = 'cold-start'

/** Phases that were asked to stop leave their run where it is. */
export const STOPPED: StepsResult = { step: 0, finished: false }

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @throws what opening the folder, the method and its training throw
 */
export const runMethod = async (
  config: TrainingConfig & { recipe: string; coldStart?: object | null },
  options: RunOptions,
  { start, info, keeps, learn }: Method,
): Promise<RunResult> => {
  const { recipe, seed, steps, model, policy, critic, monitors, coldStart = null } = config
  const session = {
    ...options,
    info: { config, recipe, model: modelName(config), seed, steps, ...info },
    mayLackCheckpoint: (dir: string) =>
      (coldStart !== null && existsSync(join(dir, COLD_START))) || keeps?.(dir) === true,
  }
  return withRun(session, async open => {
    const folder = start
      ? modelPath(start)
      : await runPhase(join(open.run.dir, COLD_START), options, phase =>
          runSftRecipe(phaseConfig(coldStart!, monitors), phase),
        )
    if (folder === null) return STOPPED
    const source = {
      ...{ lora: model.lora ?? undefined, seed },
      ...(critic && !hasOwnCritic(config) && { valueHead: true }),
    }
    return learn({
      ...open,
      folder,
      openPolicy: (from = folder) =>
        open.use(openPolicy(policy, { folder: from, ...source }, ownCriticSource(config, from))),
      train: (learning, recipeFor, metrics) => {
        const timed = async () => withJudgingTime(await recipeFor(), metrics)
        return reinforce(open, learning, config, timed, options.events)
      },
    })
  })
}
