/** @file `gradus verify math FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import { GradusError } from '../../util/errors.ts'
import { jsonlLines, parseRow } from '../../util/jsonl.ts'
import { EXIT, type Io, printJson } from '../io.ts'

const HELP = `
Rows: {"gold": "...", "pred": "..."}; each may be a bare answer or a whole response (a \\boxed, "answer is", "####" or
prose around mathematics makes it one). Optional in a row: "precision" (decimals that must agree) and "listOrder"
("matters" or "free": whether 1, 2 and 2, 1 differ); other keys are ignored.
Prints one JSON line a row: {"equal": true | false | null}; null is undecided.
A row that cannot be used gives null and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify math answers.jsonl`

/** Adds `math` to `gradus verify`. `done` receives the exit code. */
export const addVerifyMath = (verify: Command, io: Io, done: (code: number) => void): void => {
  verify
    .command('math')
    .description('Compares mathematical answers: numbers, expressions, sets, intervals, matrices, equations.')
    .argument('<file.jsonl>', 'rows to verify')
    .addHelpText('after', HELP)
    .action(async (file: string) => done(await verifyMath(file, io)))
}

/**
 * Verifies each row of a file and prints a JSON line for it.
 * @returns the exit code: failed where a row could not be used
 * @throws DataError for a file that cannot be read
 */
export const verifyMath = async (file: string, io: Io): Promise<number> => {
  const { verifyMathRow } = await import('../../grade/math/index.ts')
  let exitCode: number = EXIT.ok
  for (const { place, text } of jsonlLines(file)) {
    try {
      printJson(io, parseRow(text, place, verifyMathRow))
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      exitCode = EXIT.failed
      printJson(io, { equal: null, reason: error.message })
      io.err.write(`${error.message}\n`)
    }
  }
  return exitCode
}
