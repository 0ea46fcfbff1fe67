/** @file A checkpoint that stays on the server: what the run folder keeps of it. */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
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
  /** What it calls weights to sample from. */
  sampler: z.string(),
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
