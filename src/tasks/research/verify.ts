/** @file A row of a file as its stages: what `gradus verify stages` prints. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { problemText } from './problems.ts'
import { parseTrajectory, type StageOptions, type StageSpan } from './stages.ts'

const rowSchema = z.object({ text: z.string() })

export interface VerifiedStages {
  /** UTF-16 units, the end exclusive. */
  stages: StageSpan[]
  toolCalls: number
  valid: boolean
  problems: string[]
}

/** The stages of `{text}`; other keys are ignored. @throws DataError for a row without a text */
export const verifyStagesRow = (
  row: unknown,
  options: Pick<StageOptions, 'maxCalls'> = {},
): VerifiedStages => {
  const { text } = parseWith(rowSchema, row, '', DataError)
  const { stages, toolCalls, valid, problems } = parseTrajectory(text, options)
  return {
    stages: stages.map(({ stage, start, end }) => ({ stage, start, end })),
    toolCalls,
    valid,
    problems: problems.map(problemText),
  }
}
