/** @file A file of rows verified one by one: a JSON line each, in the order of the file. */

import { GradusError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { bringFiles } from '../rows-option.ts'

/**
 * Verifies each row and prints what comes of it.
 * @param unusable printed with the reason for a row that cannot be used
 * @returns the exit code: failed where a row could not be used
 * @throws DataError for a file that cannot be read, or has no row
 */
export const verifyRows = async (
  file: string,
  io: Io,
  verify: (row: unknown) => object,
  unusable: Record<string, null>,
): Promise<number> => {
  await bringFiles(file)
  let exitCode: number = EXIT.ok
  for (const { place, text } of someJsonlLines(file)) {
    try {
      printJson(io, parseRow(text, place, verify))
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      exitCode = EXIT.failed
      printJson(io, { ...unusable, reason: error.message })
      io.err.write(`gradus: ${error.message}\n`)
    }
  }
  return exitCode
}
