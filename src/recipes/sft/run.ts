/** @file Runs sft: supervised learning on conversations of a file, what the assistant says in them and nothing else. */

import { chatFormatOf } from '../../model/chat-format.ts'
import { isRemote, openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { ConfigError } from '../../util/errors.ts'
import { mean } from '../../util/statistics.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import { comesLater, modelComesLater, type Purpose } from '../common/purpose.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { checkRemote, modelName, remoteWords } from '../common/remote.ts'
import { withRun } from '../common/session.ts'
import { wholeModel } from '../common/starting-model.ts'
import { runSupervised } from '../common/supervised.ts'
import type { SftRecipeConfig } from './config.ts'
import { readSftRows, type SftRow, type SftRows } from './rows.ts'

const TEST_SET = 'held-out rows'

/**
 * Model and rows; null for what comes later, in a plan.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkSft = (
  config: SftRecipeConfig,
  purpose: Purpose,
): { folder: string; rows: SftRows } | null => {
  const { model, data, policy } = config
  checkRemote(config, purpose, null, [
    isRemote(policy) &&
      policy.sampler !== null && [
        'policy.sampler',
        'null where a model learns from demonstrations: nothing is sampled',
        'set it to null',
      ],
  ])
  if (isRemote(policy)) {
    const folder = remoteWords(policy, purpose)
    if (folder === null || (data !== null && comesLater(data, purpose))) return null
    return { folder, rows: readSftRows(config, chatFormatOf(folder, 'recipe "sft"')) }
  }
  if (model.folder === null)
    throw new ConfigError('model.folder: expected a chat model to start from, got nothing', {
      hint: 'name the folder of a checkpoint with tokenizer.json and a chat template',
    })
  if (data !== null && comesLater(data, purpose)) return null
  if (modelComesLater(model.folder, purpose)) return null
  const folder = wholeModel(model.folder, 'model.folder')
  return { folder, rows: readSftRows(config, chatFormatOf(folder, 'recipe "sft"')) }
}

/** How likely the model finds what is learnt: the geometric mean over a row's learnt tokens, the mean of that over rows. */
const evaluateRows = async (policy: Policy, rows: readonly SftRow[], step: number): Promise<EvalRow[]> => {
  if (rows.length === 0) return []
  const items = rows.map(({ promptTokens, responseTokens: tokens }) => ({ promptTokens, tokens }))
  const scores = await policy.score(items)
  const likelihoods = rows.map(({ learnt }, i) =>
    Math.exp(mean([...scores[i].logprobs].filter((_, t) => learnt[t] > 0))),
  )
  return [
    {
      ...{ step, set: TEST_SET, n: rows.length, primary: 'likelihood' },
      scores: { likelihood: { value: mean(likelihoods) } },
      scoreNames: { likelihood: 'likelihood of a token' },
      items: rows.map(({ id }, i) => ({ id, scores: { likelihood: likelihoods[i] } })),
    },
  ]
}

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runSftRecipe = async (config: SftRecipeConfig, options: RunOptions): Promise<RunResult> => {
  // In a run nothing comes later.
  const { folder, rows } = checkSft(config, 'run')!
  const { events = {} } = options
  const { seed, batch, model, steps } = config
  const info = { config, recipe: config.recipe, model: modelName(config), seed, steps, primarySet: TEST_SET }
  return withRun({ ...options, info }, async ({ use, ...session }) => {
    session.note(rows.notes)
    const policy = await use(openPolicy(config.policy, { folder, lora: model.lora ?? undefined, seed }))
    const stream = shuffledPasses(rows.train, `sft rows/${seed}`)
    const phase = {
      name: 'supervised',
      policy,
      draw: (step: number) =>
        Array.from({ length: batch }, (_, i) => {
          const { promptTokens, responseTokens, learnt } = stream((step - 1) * batch + i)
          return { promptTokens, responseTokens, responseWeights: learnt }
        }),
      evaluate: (step: number) => evaluateRows(policy, rows.test, step),
      config,
    }
    return runSupervised(session, phase, events)
  })
}
