/** @file Runs rit: model, task, rubric, judges and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatModel } from '../../chat/chat-model.ts'
import { openPolicy } from '../../policy/open.ts'
import { readEvals } from '../../runs/readers.ts'
import type { StepsResult } from '../../train/steps.ts'
import { criticLoop, withCriticLoss } from '../common/critic.ts'
import { besideGreedy } from '../common/greedy.ts'
import { judgeIdentity } from '../common/judge-identity.ts'
import { memoryForHash } from '../common/lessons-config.ts'
import { LESSONS_FILE, openLessonMemory } from '../common/lessons-memory.ts'
import { type PhaseOptions, runPhase } from '../common/phase.ts'
import { problemsOf } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { positionsOf } from '../common/starting-model.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { phaseConfig } from '../sft/config.ts'
import { runSftRecipe } from '../sft/run.ts'
import { check } from './check.ts'
import type { RitConfig } from './config.ts'
import { evaluation } from './evaluation.ts'
import { rit } from './recipe.ts'
import { rewardFormula } from './reward-words.ts'
import { RUBRIC_FILE, thinkingRubrics } from './rubric.ts'
import type { RitTask } from './task.ts'
import { openTask, testNameOf } from './tasks.ts'

const COLD_START = 'cold-start'

/** What must stay the same between stop and resume: of a judge who it is, not where it runs. */
const runHash = (config: RitConfig): string =>
  decidingHash({ ...memoryForHash(config), judge: config.judge && judgeIdentity(config.judge) })

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param judgeModel in place of the judge that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRit = async (
  config: RitConfig,
  options: RunOptions,
  judgeModel?: ChatModel,
): Promise<RunResult> => {
  const given = check(config, 'run')
  const session = {
    ...options,
    info: {
      config,
      recipe: config.recipe,
      model: modelName(config),
      seed: config.seed,
      steps: config.steps,
      primarySet: testNameOf(config),
      rewardFormula: rewardFormula(config),
    },
    configHash: runHash(config),
    hashOf: (other: object) => runHash(other as RitConfig),
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(join(dir, COLD_START)),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runSftRecipe(phaseConfig(config.coldStart!, config.monitors), phase)
    const folder = given ?? (await runPhase(join(open.run.dir, COLD_START), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    return openTask(config, folder, kit => learnTask(config, open, folder, kit, options), judgeModel)
  })
}

const learnTask = async <Problem>(
  config: RitConfig,
  open: Session,
  folder: string,
  kit: RitTask<Problem>,
  { events = {} }: PhaseOptions,
): Promise<StepsResult> => {
  const { run, from, use } = open
  const { task } = kit
  await use(Promise.resolve(kit))
  for (const message of from === null ? task.notes : []) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const { critic, seed, model } = config
  const lora = model.lora ?? undefined
  const policy = await use(openPolicy(config.policy, { folder, lora, seed, valueHead: critic !== null }))
  const memory = await openLessonMemory({
    memory: config.memory,
    task,
    seed,
    steps: config.steps,
    path: join(run.dir, LESSONS_FILE),
    use,
  })
  const recipe = async () => {
    const known = existsSync(join(run.dir, RUBRIC_FILE))
    const rubrics = await thinkingRubrics(config, kit, policy, run.dir)
    if (!known) {
      run.appendEvent({ level: 'info', message: rubrics.note })
      events.onMessage?.(rubrics.note)
    }
    const rubricOf = rubrics.of
    const earlier = () => (existsSync(join(run.dir, 'evals.jsonl')) ? readEvals(run.dir) : [])
    return rit(config, {
      policy,
      problem: problemsOf(task, seed),
      kit,
      rubricOf,
      memory,
      ...(memory && { room: positionsOf(folder) - config.rollout.maxTokens }),
      evaluate: besideGreedy(config, own => evaluation(own, { policy, kit, rubricOf, earlier })),
    })
  }
  const settings = { ...loopSettings(config, runHash(config)), ...criticLoop(critic) }
  return reinforce(open, policy, withCriticLoss(config.loss, critic), recipe, settings, events)
}
