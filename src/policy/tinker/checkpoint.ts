/** @file A checkpoint that stays on the server: what the run folder keeps of it. */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { TinkerError } from '../../tinker/index.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'

export const REFERENCE_FILE = 'tinker.json'
/** Beside it: the adapter itself in PEFT's layout, where it was brought here. */
export const ADAPTER_FOLDER = 'adapter'

const referenceSchema = z.object({
  format: z.literal('gradus tinker checkpoint 1'),
  /** Address of the server, without the key. */
  url: z.string(),
  model: z.string(),
  rank: z.int().positive(),
  /** Optimiser steps that the policy has taken. */
  steps: z.int().min(0),
  /** What the server calls weights with the optimiser's state; null where that was not wanted. */
  state: z.string().nullable(),
  /** What it calls weights to sample from; null of a critic, which has none. */
  sampler: z.string().nullable(),
})

export type CheckpointReference = Omit<z.output<typeof referenceSchema>, 'format'>

/** Writes the reference into a checkpoint's folder. */
export const writeReference = (folder: string, reference: CheckpointReference): void => {
  mkdirSync(folder, { recursive: true })
  const content = { format: 'gradus tinker checkpoint 1', ...reference }
  writeFileAtomic(join(folder, REFERENCE_FILE), `${JSON.stringify(content, null, 2)}\n`)
}

/** @throws CheckpointError for a folder without one, for example a checkpoint of this process */
export const readReference = (folder: string): CheckpointReference => {
  const path = join(folder, REFERENCE_FILE)
  if (!existsSync(path))
    throw new CheckpointError(
      `${folder}: expected the reference of a checkpoint on a server (${REFERENCE_FILE}), found none`,
      {
        hint: 'it was saved with policy.kind local; a run goes on with the kind that it was begun with',
      },
    )
  return parseWith(referenceSchema, parseJson(readText(path)), path, CheckpointError)
}

/** No two checkpoints of a server have the same name, not even after a save that was repeated. */
export const freshName = (name: string): string => `gradus-${name}-${randomBytes(4).toString('hex')}`

/**
 * What a folder says of an adapter's state on the server.
 * @throws CheckpointError for one of another model or rank, and for weights without their optimiser
 */
export const savedState = (
  folder: string,
  { model, rank }: Pick<CheckpointReference, 'model' | 'rank'>,
): CheckpointReference & { state: string } => {
  const { state, ...reference } = readReference(folder)
  if (reference.model === model && reference.rank === rank && state !== null) return { ...reference, state }
  throw new CheckpointError(
    `${folder}: expected the state of an adapter of rank ${rank} for ${model}, got ${state === null ? 'weights to sample from' : `one of rank ${reference.rank} for ${reference.model}`}`,
    { hint: 'set policy.model and policy.lora as they were' },
  )
}

/** Why a state could not be loaded: whether the server could not be asked, or has been and does not have it. */
export const lostState = (
  error: unknown,
  { state, url }: Pick<CheckpointReference, 'state' | 'url'>,
): unknown => {
  if (!(error instanceof TinkerError) || !['missing', 'failed', 'refused'].includes(error.kind)) return error
  return new CheckpointError(`${url} does not have the checkpoint ${state} any more (${error.message})`, {
    hint: 'a server that was started anew must be given the storage of the one before; else name an earlier checkpoint, or begin again with another --out',
    cause: error,
  })
}

/** What a folder says of a checkpoint; null for a damaged one. */
export const readableReference = (folder: string): CheckpointReference | null => {
  try {
    return readReference(folder)
  } catch {
    return null
  }
}
