/** @file A checkpoint with a larger vocabulary: tokens are appended, and what is known of the others stays as it is. */

import { CheckpointError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { loadConfig, readCompanionFiles, saveCheckpoint } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { isAdapterFolder } from './lora-files.ts'
import type { NamedTensors } from './safetensors.ts'
import { hasTokenizer, loadTokenizer, type Tokenizer } from './tokenizer.ts'
import { loadValueHead, loadWeights } from './weights.ts'

const EMBEDDING = 'model.embed_tokens.weight'
const HEAD = 'lm_head.weight'

/** Spread of fresh rows as a share of the old ones'. Fresh rows of a head are close to their mean: none is likely at first. */
const SPREAD = { [EMBEDDING]: 1, [HEAD]: 0.1 }

export interface GrownVocabulary {
  /** All tokens by id: the old ones first. */
  tokens: readonly string[]
  /** Tokenizer files of all of them. */
  files: Readonly<Record<string, string>>
  /** Places of the context; absent: as many as before. With rotary positions it may grow without new weights. */
  maxPositions?: number
}

/** Rows are stored in multiples of this. */
const ROWS = 8

/** Columns' means and spreads over the rows that are there, and fresh rows drawn from them. */
const freshRows = (
  { shape: [rows, width], data }: { shape: number[]; data: Float32Array },
  known: number,
  total: number,
  spread: number,
  rng: Rng,
): { shape: number[]; data: Float32Array } => {
  const grown = new Float32Array(total * width)
  grown.set(data.subarray(0, Math.min(rows, total) * width))
  for (let column = 0; column < width; column++) {
    let sum = 0
    let squares = 0
    for (let row = 0; row < known; row++) {
      const value = data[row * width + column]
      sum += value
      squares += value * value
    }
    const mean = sum / known
    const deviation = Math.sqrt(Math.max(0, squares / known - mean * mean))
    for (let row = known; row < total; row++)
      grown[row * width + column] = mean + spread * deviation * rng.normal()
  }
  return { shape: [total, width], data: grown }
}

/**
 * A model for `count` tokens of which it knows the first `known`; rows of the others are fresh, drawn like those that are there.
 * @throws CheckpointError where it would shrink
 */
export const growModel = (
  { config, weights }: { config: ModelConfig; weights: NamedTensors },
  known: number,
  count: number,
  seed: number | string,
): { config: ModelConfig; weights: NamedTensors } => {
  if (known > config.vocabSize || count < known)
    throw new CheckpointError(
      `vocabulary: expected at most ${config.vocabSize} known tokens and no fewer than those in all, got ${known} and ${count}`,
    )
  const vocabSize = Math.max(config.vocabSize, ROWS * Math.ceil(count / ROWS))
  const grown: NamedTensors = new Map(weights)
  for (const name of [EMBEDDING, HEAD] as const) {
    const table = weights.get(name)
    if (!table) continue
    const rng = new Rng(`grown vocabulary/${seed}/${name}`)
    grown.set(name, freshRows(table, known, vocabSize, SPREAD[name], rng))
  }
  return { config: { ...config, vocabSize }, weights: grown }
}

/** Refuses a vocabulary in which an old token would get another id. */
const assertAppended = (folder: string, tokenizer: Tokenizer, tokens: readonly string[]): number => {
  const { vocabSize: size } = tokenizer
  for (let id = 0; id < size; id++) {
    const old = tokenizer.tokenOf(id)
    if (old !== undefined && tokens[id] !== old)
      throw new CheckpointError(
        `${folder}: expected token ${id} to stay ${JSON.stringify(old)}, got ${JSON.stringify(tokens[id]) ?? 'none'}`,
        { hint: 'append new tokens to the old ones; nothing else keeps what the model has learnt' },
      )
  }
  return size
}

/**
 * Writes the model of a folder with a larger vocabulary to another folder.
 * @throws CheckpointError for an adapter, for a model without a tokenizer, where an old token would get another id, and for a
 * context that is shorter than before
 */
export const growCheckpoint = (
  from: string,
  to: string,
  { tokens, files, maxPositions }: GrownVocabulary,
  seed: number | string = 0,
): void => {
  if (isAdapterFolder(from))
    throw new CheckpointError(`${from}: expected a whole model to grow, got an adapter`, {
      hint: 'give the folder of its base model',
    })
  const config = loadConfig(from)
  if (!hasTokenizer(from))
    throw new CheckpointError(`${from}: expected a tokenizer beside the model, found none`, {
      hint: 'without one nobody knows which token an id stands for',
    })
  const known = assertAppended(from, loadTokenizer(from), tokens)
  const positions = maxPositions ?? config.maxPositions
  if (positions < config.maxPositions)
    throw new CheckpointError(
      `${from}: expected a context of at least ${config.maxPositions} places as before, got ${positions}`,
    )
  const grown = growModel({ config, weights: loadWeights(from, config) }, known, tokens.length, seed)
  const kept = [...readCompanionFiles(from)].filter(([name]) => !name.startsWith('tokenizer'))
  saveCheckpoint(to, {
    config: { ...grown.config, maxPositions: positions },
    weights: grown.weights,
    valueHead: loadValueHead(from, config),
    files: new Map([...kept, ...Object.entries(files)]),
  })
}
