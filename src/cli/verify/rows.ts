/** @file A file of rows verified one by one: a JSON line each, in the order of the file. */

import { GradusError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { someJsonlLines } from '../../util/jsonl.ts'
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
  verify: (row: unknown) => object | Promise<object>,
  unusable: Record<string, null>,
): Promise<number> => {
  await bringFiles(file)
  let exitCode: number = EXIT.ok
  for (const { place, text } of someJsonlLines(file)) {
    try {
      printJson(io, await verify(parseJson(text)))
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      exitCode = EXIT.failed
      const reason = `${place}: ${error.message}`
      printJson(io, { ...unusable, reason })
      io.err.write(`gradus: ${reason}\n`)
    }
  }
  return exitCode
}
