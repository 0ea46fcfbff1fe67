/** @file Labelled verdicts to learn from: rows of a file, or of a run's rollouts, split by prompt. */

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Columns } from '../../util/column-names.ts'
import { DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import type { VerifierQuestion } from './reading.ts'

/** A response with one criterion and whether it is met. */
export interface LabelledRow extends VerifierQuestion {
  met: boolean
}

const labelSchema = z.looseObject({
  criterion: z.string().min(1),
  prompt: z.string().default(''),
  response: z.string(),
  met: z.boolean(),
})

/** What the logic task's rollouts say that a verifier can learn. */
const rolloutSchema = z.looseObject({
  problemId: z.string(),
  prompt: z.string(),
  response: z.string(),
  correct: z.boolean(),
  /** Absent where nothing is known of the steps. */
  valid: z.boolean().optional(),
})

const ROLLOUT_CRITERIA = {
  correct: 'The final answer is right.',
  valid: 'Every step of the reasoning follows from the premises.',
} as const

const rowsOf = (row: unknown): LabelledRow[] => {
  const isRollout = typeof row === 'object' && row !== null && 'problemId' in row
  if (!isRollout) return [parseWith(labelSchema, row, '', DataError)]
  const { prompt, response, ...truth } = parseWith(rolloutSchema, row, '', DataError)
  return (['correct', 'valid'] as const).flatMap(name => {
    const met = truth[name]
    return met === undefined ? [] : [{ criterion: ROLLOUT_CRITERIA[name], prompt, response, met }]
  })
}

/** Where a prompt lies in [0, 1), by its hash: a new row never moves an old one to the other side. */
const place = (prompt: string): number =>
  createHash('sha256').update(prompt).digest().readUInt32BE(0) / 2 ** 32

export interface LabelledData {
  train: LabelledRow[]
  heldOut: LabelledRow[]
}

/**
 * Reads labelled rows and splits them so that no prompt (without one: no response) is on both sides.
 * @throws DataError naming file and line; also when one side lacks a label.
 */
export const readLabels = (file: string, heldOutShare: number, columns?: Columns): LabelledData => {
  const rows = readJsonl(file, rowsOf, columns).flat()
  const isHeldOut = ({ prompt, response }: LabelledRow) => place(prompt || response) < heldOutShare
  const data = { train: rows.filter(row => !isHeldOut(row)), heldOut: rows.filter(isHeldOut) }
  for (const [side, own] of Object.entries(data)) {
    const met = own.filter(row => row.met).length
    if (met === 0 || met === own.length)
      throw new DataError(
        `${file}: expected rows of both labels among the ${side === 'train' ? 'training' : 'held-out'} rows, got ${met} met of ${own.length}`,
        { hint: 'give more rows, or change data.heldOut' },
      )
  }
  return data
}
