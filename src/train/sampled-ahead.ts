/** @file What a pipelined run has sampled for the next step, beside a checkpoint: a resume grades it and samples nothing anew. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readSafetensors, writeSafetensors } from '../model/safetensors.ts'
import type { Sample } from '../policy/policy.ts'
import { CheckpointError } from '../util/errors.ts'
import type { Drawn } from './rollout.ts'

const FILE = 'sampled-ahead.safetensors'

/** The numbers of all rollouts, one after the other. */
const joined = (parts: readonly ArrayLike<number>[]) => {
  const data = Float32Array.from(parts.flatMap(part => Array.from(part)))
  return { shape: [data.length], data }
}

/** Writes rollouts into a checkpoint's folder. Token ids are exact in float32: no vocabulary has 2^24 words. */
export const saveDrawn = (folder: string, { samples, oldLogprobs }: Drawn): void => {
  const of = (pick: (sample: Sample) => ArrayLike<number>) => joined(samples.map(pick))
  writeSafetensors(
    join(folder, FILE),
    new Map([
      ['prompts', of(({ prompt }) => [prompt])],
      ['indices', of(({ index }) => [index])],
      ['stopped', of(({ finishReason }) => [Number(finishReason === 'stop')])],
      ['lengths', of(({ tokens }) => [tokens.length])],
      ['tokens', of(({ tokens }) => tokens)],
      ['logprobs', of(({ logprobs }) => logprobs)],
      ...(oldLogprobs ? [['oldLogprobs', joined(oldLogprobs)] as const] : []),
    ]),
  )
}

/**
 * The rollouts in a checkpoint's folder; null where nothing was sampled ahead.
 * @throws CheckpointError for a broken file
 */
export const loadDrawn = (folder: string): Drawn | null => {
  const path = join(folder, FILE)
  if (!existsSync(path)) return null
  const tensors = readSafetensors(path)
  const lengths = dataOf(tensors, path, 'lengths')
  const column = (name: string) => dataOf(tensors, path, name, lengths.length)
  const [prompts, indices, stopped] = ['prompts', 'indices', 'stopped'].map(column)
  let end = 0
  const places = Array.from(lengths, length => {
    end += length
    return [end - length, end] as const
  })
  const parts = (name: string) => {
    const data = dataOf(tensors, path, name, end)
    return places.map(place => data.slice(...place))
  }
  const [tokens, logprobs] = ['tokens', 'logprobs'].map(parts)
  const samples = places.map(
    (_, i): Sample => ({
      prompt: prompts[i],
      index: indices[i],
      tokens: Int32Array.from(tokens[i]),
      logprobs: logprobs[i],
      finishReason: stopped[i] === 1 ? 'stop' : 'length',
    }),
  )
  return { samples, oldLogprobs: tensors.has('oldLogprobs') ? parts('oldLogprobs') : null }
}

const dataOf = (
  tensors: ReturnType<typeof readSafetensors>,
  path: string,
  name: string,
  length?: number,
): Float32Array => {
  const data = tensors.get(name)?.data
  if (data && (length === undefined || data.length === length)) return data
  throw new CheckpointError(
    `${path}: ${name}: expected ${length ?? 'some'} numbers, got ${data?.length ?? 'none'}`,
    { hint: 'resume from an earlier checkpoint by pointing checkpoints/latest at it' },
  )
}
