/** @file A run of rubricem: cold start if there is one, then training with a judge that evolves and a memory that grows. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BankFile, openBank, type RubricBank } from '../../memory/index.ts'
import { openEmbedder, openPolicy } from '../../policy/index.ts'
import { placeboOf, recordsQuestion, siblingOf } from '../../tasks/records/index.ts'
import { runPhase } from '../common/phase.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { decidingHash, type Session, withRun } from '../common/session.ts'
import { loopSettings, reinforce } from '../common/training.ts'
import { RECORDS_TEST_WORLD } from '../records-cold-start/evaluate.ts'
import { runRecordsColdStart } from '../records-cold-start/run.ts'
import { check } from './check.ts'
import type { RubricemConfig } from './config.ts'
import { evaluation, REUSE_SETS } from './evaluation.ts'
import { rubricem } from './recipe.ts'
import { type RecordsTakeaways, RecordsTask, recordsReflectionJudge, recordsStageJudge } from './records.ts'

const COLD_START = 'cold-start'
/** In the run's folder: the bank, for people and for later use. */
export const BANK_FILE = 'bank.jsonl'

/** Trains, or goes on training, and leaves a run folder with metrics, rubrics, bank, evaluations, checkpoints and a report. */
export const runRubricem = async (config: RubricemConfig, options: RunOptions): Promise<RunResult> => {
  const given = check(config, 'run')
  const session = {
    ...options,
    info: {
      config,
      recipe: config.recipe,
      model: config.model.folder ?? 'cold start of this run',
      seed: config.seed,
      steps: config.steps,
      primarySet: REUSE_SETS.plain,
    },
    configHash: decidingHash(config),
    mayLackCheckpoint: (dir: string) => config.coldStart !== null && existsSync(join(dir, COLD_START)),
  }
  return withRun(session, async open => {
    const coldStart = (phase: RunOptions) =>
      runRecordsColdStart({ ...config.coldStart!, monitors: config.monitors }, phase)
    const folder = given ?? (await runPhase(join(open.run.dir, COLD_START), options, coldStart))
    if (folder === null) return { step: 0, finished: false }
    return learnRecords(config, open, folder, options)
  })
}

const learnRecords = async (
  config: RubricemConfig,
  open: Session,
  folder: string,
  { events = {} }: Pick<RunOptions, 'events'>,
) => {
  const { seed, task: settings, reflection, evaluation: tested } = config
  const lora = config.model.lora ?? undefined
  const policy = await open.use(openPolicy(config.policy, { folder, lora, seed }))
  const task = new RecordsTask(settings, reflection.placebo)
  const bank = await openMemory(config, open)
  const file = bank && new BankFile(join(open.run.dir, BANK_FILE), { everySteps: writeEvery(config) })
  const world = `train/${seed}`
  const { pool } = settings
  const questionAt = (i: number) => recordsQuestion(world, i, settings)
  const pooled = pool === null ? null : Array.from({ length: pool }, (_, i) => questionAt(i))
  const question = pooled ? shuffledPasses(pooled, `records/${seed}`) : questionAt
  const test = Array.from({ length: tested.problems }, (_, i) =>
    recordsQuestion(RECORDS_TEST_WORLD, i, settings),
  )
  const recipe = () =>
    rubricem(config, {
      ...{ question, task, bank, judge: recordsStageJudge(config), reflectionJudge: recordsReflectionJudge },
      evaluate: evaluation(config, {
        ...{ policy, task, test },
        siblingOf: own => siblingOf(own, 0),
        placeboOf: ({ takeaways }, key) => {
          const { advice, lessons } = placeboOf(takeaways, `evaluation/${key}`)
          return {
            rubrics: [...advice],
            takeaways: { ...takeaways, advice: [...advice], lessons: [...lessons] },
          }
        },
      }),
      onBank: step => void (bank && file?.afterStep(bank, step)),
    })
  const loop = loopSettings(config, decidingHash(config))
  const result = await reinforce(open, policy, config.loss, recipe, loop, events)
  // However the last steps fell: the file is the bank that the run ended with.
  if (bank && bank.size > 0) file?.write(bank, result.step)
  return result
}

const openMemory = async (
  { memory }: RubricemConfig,
  { use }: Session,
): Promise<RubricBank<RecordsTakeaways> | null> => {
  if (memory.kind === 'none') return null
  const embedder = await openEmbedder(memory.embedder)
  await use(Promise.resolve({ close: async () => embedder.close?.() }))
  return openBank(memory, embedder, new RecordsTask({ calls: 1 }).takeaways)
}

const writeEvery = ({ memory }: RubricemConfig): number =>
  memory.kind === 'bank' ? memory.writeEverySteps : 0
