/** @file Verifying a row of instructions: what `gradus verify instructions` does with each line. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { checkInstructions, type InstructionKwargs, type InstructionVerdicts } from './check.ts'

const kwargs = z.record(z.string(), z.unknown()).nullish()

/** Rows carry more than we read: ids, sources, expectations. */
const oneSchema = z.looseObject({
  instruction_id: z.string().nullish(),
  test_instruction_id: z.string().nullish(),
  kwargs,
  response: z.string(),
  prompt: z.string().nullish(),
})

const severalSchema = z.looseObject({
  instruction_id_list: z.array(z.string()).min(1),
  kwargs: z.array(kwargs).nullish(),
  response: z.string(),
  prompt: z.string().nullish(),
})

interface Row {
  ids: string[]
  kwargs: InstructionKwargs[]
  response: string
  prompt?: string
}

/**
 * Verifies a row `{instruction_id, kwargs, response, prompt?}` or `{instruction_id_list, kwargs: [...], response, prompt?}`.
 * Where `instruction_id` is null, `test_instruction_id` is read: test cases of the public checkers name those
 * instructions so that no public data uses.
 * @throws DataError for a row that is neither, an unknown instruction, or arguments that do not fit.
 */
export const verifyInstructionsRow = (row: unknown): InstructionVerdicts => {
  const { ids, kwargs, response, prompt } = parseInstructionsRow(row)
  return checkInstructions(ids, kwargs, response, { prompt })
}

const parseInstructionsRow = (row: unknown): Row => {
  if (typeof row === 'object' && row !== null && 'instruction_id_list' in row) {
    const several = parseWith(severalSchema, row, '', DataError)
    const ids = several.instruction_id_list
    return {
      ids,
      kwargs: several.kwargs ?? ids.map(() => null),
      response: several.response,
      prompt: several.prompt ?? undefined,
    }
  }
  const one = parseWith(oneSchema, row, '', DataError)
  const id = one.instruction_id ?? one.test_instruction_id
  if (id == null)
    throw new DataError('instruction_id: expected the id of an instruction, got nothing', {
      hint: 'give instruction_id, or instruction_id_list with a list of kwargs',
    })
  return { ids: [id], kwargs: [one.kwargs], response: one.response, prompt: one.prompt ?? undefined }
}
