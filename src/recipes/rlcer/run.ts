/** @file Runs rlcer: model, questions, verifier and run folder put together, from the start or from a checkpoint. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openPolicy } from '../../policy/open.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import type { StepsResult } from '../../train/steps.ts'
import { criticLoop, withCriticLoss } from '../common/critic.ts'
import { besideGreedy } from '../common/greedy.ts'
import { judgeIdentity } from '../common/judge-identity.ts'
import { runPhase } from '../common/phase.ts'
import { problemsOf } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { phaseConfig } from '../sft/config.ts'
import { runSftRecipe } from '../sft/run.ts'
import { check, modelShape } from './check.ts'
import type { RlcerConfig } from './config.ts'
import { evaluation } from './evaluate.ts'
import { EVALUATED_SETS } from './evaluation-parts.ts'
import { rlcer } from './recipe.ts'
import { rewardFormula } from './reward-words.ts'
import { withTask } from './tasks.ts'
import { openVerifier, type RlcerRunParts } from './verifiers.ts'

const COLD_START = 'cold-start'

/** What must stay the same between stop and resume: of a language model as verifier who it is, not where it runs. */
const runHash = (config: RlcerConfig): string => {
  const { verifier } = config
  // Runs from before the loss was kept without a critic's term go on.
  const loss = { ...config.loss, value: LOSS_PRESETS['gradus:rlcer'].value }
  if (verifier.kind !== 'judge') return decidingHash({ ...config, loss })
  return decidingHash({ ...config, loss, verifier: { ...verifier, judge: judgeIdentity(verifier.judge) } })
}

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of those that the configuration's endpoints serve
 * @throws ConfigError for settings that do not go together; what training throws
 */
export const runRlcer = async (
  config: RlcerConfig,
  options: RunOptions,
  parts: RlcerRunParts = {},
): Promise<RunResult> => {
  const given = check(config, 'run', parts)
  const session = {
    ...options,
    info: runInfo(config),
    configHash: runHash(config),
    hashOf: (other: object) => runHash(other as RlcerConfig),
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(join(dir, COLD_START)),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runSftRecipe(phaseConfig(config.coldStart!, config.monitors), phase)
    const folder = given ?? (await runPhase(join(open.run.dir, COLD_START), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    return withTask(config, folder, task => learnTask(config, open, folder, task, options, parts))
  })
}

const runInfo = (config: RlcerConfig) => ({
  config,
  recipe: config.recipe,
  model: modelName(config),
  seed: config.seed,
  steps: config.steps,
  primarySet: EVALUATED_SETS.plain,
  rewardFormula: rewardFormula(config),
})

/** The same for every task. */
const learnTask = async <Problem>(
  config: RlcerConfig,
  open: Session,
  folder: string,
  own: TaskWith<Problem, 'thinking' | 'rubricator'>,
  { events = {} }: Pick<RunOptions, 'events'>,
  parts: RlcerRunParts,
): Promise<StepsResult> => {
  const { run, from, use } = open
  for (const message of from === null ? own.notes : []) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const { verifier, truth, figures } = await use(openVerifier(config, own, parts))
  const { seed, critic } = config
  const lora = config.model.lora ?? undefined
  const policy = await use(openPolicy(config.policy, { folder, lora, seed, valueHead: critic !== null }))
  const { thinking, rubricator } = own
  const task = { ...scored(own), thinking, rubricator }
  const { constrained, format } = config.rubricator
  const criteria = { min: format.minCriteria, max: format.maxCriteria }
  const rubricAutomaton = constrained ? rubricator.automaton?.(criteria) : undefined
  const positions = modelShape(config)?.maxPositions
  const recipe = () =>
    rlcer(config, {
      ...{
        policy,
        problem: problemsOf(task, seed),
        task,
        verifier,
        truth,
        positions,
        rubricAutomaton,
        figures,
      },
      evaluate: besideGreedy(config, own =>
        evaluation(own, {
          ...{ policy, task, verifier: truth ?? verifier, positions, rubricAutomaton },
          ...(truth && config.verifier.kind === 'learned' && { drifting: verifier }),
        }),
      ),
    })
  const settings = {
    ...loopSettings(config, runHash(config), monitorsOf(config)),
    ...criticLoop(critic),
  }
  return reinforce(open, policy, withCriticLoss(config.loss, critic), recipe, settings, events)
}

/** Where ratios start from another prompt on purpose, their gap is no mismatch. */
const monitorsOf = ({ monitors, ratio }: RlcerConfig): MonitorSettings | null =>
  monitors && ratio === 'true-is' ? { ...monitors, samplerMismatch: null } : monitors
