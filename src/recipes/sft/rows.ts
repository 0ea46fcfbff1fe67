/** @file Rows of a file as demonstrations for a model: encoded, those that are too long left out, some kept for evaluation. */

import type { ChatFormat } from '../../model/chat-format.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import {
  DemonstrationEncoder,
  type DemonstrationTokens,
  demonstrationSchema,
} from '../../tasks/research/index.ts'
import { ConfigError, DataError, GradusError } from '../../util/errors.ts'
import { formatInteger, plural } from '../../util/format.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { mean } from '../../util/statistics.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { SftConfig } from './config.ts'
import type { LearntTaskData } from './learnt.ts'

export interface SftRow extends DemonstrationTokens {
  id: string
}

export interface SftRows {
  train: SftRow[]
  test: SftRow[]
  notes: string[]
}

type Settings = Pick<
  SftConfig,
  'data' | 'columns' | 'holdOut' | 'calls' | 'maxTokens' | 'maxObservationTokens'
>

/**
 * The rows of a file for a model.
 * @throws ConfigError for no file and for none left; DataError naming the line of a row that cannot be learnt from
 */
export const readSftRows = (
  { data, columns, holdOut, calls, maxTokens, maxObservationTokens }: Settings,
  format: ChatFormat,
): SftRows => {
  if (data === null)
    throw new ConfigError('data: expected a file of demonstrations, got nothing', {
      hint: 'make one with `gradus trajectories select`',
    })
  const encoder = new DemonstrationEncoder(format, { calls, maxObservationTokens })
  const rows = someJsonlLines(data, 'demonstration', columns).map(({ text, place }, i): SftRow => {
    const value = parseRow(text, place, row => row)
    const row = parseWith(demonstrationSchema, value, place, DataError)
    try {
      return { id: row.id ?? String(i + 1), ...encoder.encode(row) }
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      throw new DataError(`${place}: ${error.message}`, { cause: error })
    }
  })
  const most = Math.min(maxTokens, format.maxPositions)
  const fitting = rows.filter(
    ({ promptTokens, responseTokens }) => promptTokens.length + responseTokens.length <= most,
  )
  if (fitting.length <= holdOut)
    throw new ConfigError(
      `holdOut: expected fewer than the ${plural(fitting.length, 'row')} of at most ${most} tokens in ${data}, got ${holdOut}`,
      { hint: 'lower holdOut, raise maxTokens, or take a model with a longer context' },
    )
  const shuffled = new Rng('sft split').shuffle(fitting)
  const tooLong = rows.length - fitting.length
  return {
    train: shuffled.slice(holdOut),
    test: shuffled.slice(0, holdOut),
    notes:
      tooLong > 0 ? [`${plural(tooLong, 'row')} left out: longer than ${formatInteger(most)} tokens`] : [],
  }
}

const TEST_SET = 'held-out rows'

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

/** Rows in an order of their own in every pass; tested by how likely those are that were held out. */
export const learnRows = (
  { train, test, notes }: SftRows,
  { seed, batch }: Pick<SftConfig, 'seed' | 'batch'>,
): LearntTaskData => {
  const stream = shuffledPasses(train, `sft rows/${seed}`)
  return {
    draw: step =>
      Array.from({ length: batch }, (_, i) => {
        const { promptTokens, responseTokens, learnt } = stream((step - 1) * batch + i)
        return { promptTokens, responseTokens, responseWeights: learnt }
      }),
    primarySet: TEST_SET,
    evaluate: policy => step => evaluateRows(policy, test, step),
    notes,
  }
}
