/** @file A run of rubricem: cold start if there is one, then training with a judge that evolves and a memory that grows. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BankFile, type Json, openBank, type RubricBank } from '../../memory/index.ts'
import { openEmbedder, openPolicy } from '../../policy/index.ts'
import type { RecipeState } from '../../train/recipe.ts'
import { besideGreedy } from '../common/greedy.ts'
import { runPhase } from '../common/phase.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { modelName } from '../common/remote.ts'
import { type Session, withRun } from '../common/session.ts'
import { reinforce } from '../common/training.ts'
import { runRecordsColdStart } from '../records-cold-start/run.ts'
import { check } from './check.ts'
import type { RubricemConfig } from './config.ts'
import { evaluation, REUSE_SETS } from './evaluation.ts'
import type { RubricemKit } from './kit.ts'
import { rubricem } from './recipe.ts'
import { recordsKit } from './records-kit.ts'
import { openResearchKit, type RubricemRunParts } from './research-kit.ts'
import type { ResearchTask } from './research-task.ts'
import { rewardFormula } from './reward-words.ts'

const COLD_START = 'cold-start'
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
): Promise<RunResult> => {
  const given = check(config, 'run', parts)
  const session = {
    ...options,
    info: {
      config,
      recipe: config.recipe,
      model: modelName(config),
      seed: config.seed,
      steps: config.steps,
      primarySet: REUSE_SETS.plain,
      rewardFormula: rewardFormula(config),
    },
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(join(dir, COLD_START)),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runRecordsColdStart({ ...config.coldStart!, monitors: config.monitors }, phase)
    const folder = given ?? (await runPhase(join(open.run.dir, COLD_START), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    if (config.task.kind === 'records') return learn(config, open, folder, recordsKit(config), options, parts)
    const kit = await open.use(openResearchKit(config, folder, parts))
    return learn(config, open, folder, kit, options, parts)
  })
}

/** The same for every task. */
const learn = async <Question, Takeaways extends Json>(
  config: RubricemConfig,
  open: Session,
  folder: string,
  kit: RubricemKit<Question, Takeaways>,
  { events = {} }: Pick<RunOptions, 'events'>,
  parts: RubricemRunParts,
) => {
  const { run, from, use } = open
  for (const message of from === null ? kit.notes : []) {
    run.appendEvent({ level: 'info', message })
    events.onMessage?.(message)
  }
  const { seed, model } = config
  const lora = model.lora ?? undefined
  const policy = await use(parts.policy?.(folder) ?? openPolicy(config.policy, { folder, lora, seed }))
  const bank = await openMemory(config, kit.task, open)
  const file = new BankFile(join(run.dir, BANK_FILE), { everySteps: writeEvery(config) })
  let done = from?.step ?? 0
  const recipe = () => {
    const own = rubricem(config, {
      ...kit,
      bank,
      evaluate: besideGreedy(config, own => evaluation(own, { ...kit, policy, bank })),
      onBank: step => {
        done = step
        if (bank) file.afterStep(bank, step)
      },
    })
    return bank ? { ...own, state: withBankFile(own.state!, () => file.write(bank, done)) } : own
  }
  return reinforce(open, policy, config, recipe, events)
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

const openMemory = async <Question, Takeaways extends Json>(
  { memory }: RubricemConfig,
  { takeaways }: ResearchTask<Question, Takeaways>,
  { use }: Session,
): Promise<RubricBank<Takeaways> | null> => {
  if (memory.kind === 'none') return null
  const embedder = await openEmbedder(memory.embedder)
  await use(Promise.resolve({ close: async () => embedder.close?.() }))
  return openBank(memory, embedder, takeaways)
}

const writeEvery = ({ memory }: RubricemConfig): number =>
  memory.kind === 'bank' ? memory.writeEverySteps : 0
