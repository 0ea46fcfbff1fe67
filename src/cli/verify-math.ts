/** @file `gradus verify math FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import { EXIT, type Io, printJson } from './io.ts'

const HELP = `
Rows: {"gold": "...", "pred": "..."}; pred and gold may be bare answers or whole responses (a \\boxed, "answer is",
"####" or prose around mathematics makes it one). Optional in a row: "precision" (decimals that must agree) and
"listOrder" ("matters" or "free"); other keys are ignored.
Prints {"equal": true | false | null} a row; null is undecided. A row that cannot be used gives
{"equal": null, "reason": "..."} and exit code 1.

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
 * Prints a line a row. Rows that cannot be used do not stop the others.
 * @returns exit code: failed where a row could not be used
 * @throws DataError for a file that cannot be read or is not JSON Lines
 */
export const verifyMath = async (file: string, io: Io): Promise<number> => {
  const { readJsonl } = await import('../util/jsonl.ts')
  const { verifyMathRow } = await import('../grade/math/verify-row.ts')
  const { GradusError } = await import('../util/errors.ts')
  let exitCode: number = EXIT.ok
  for (const [index, row] of readJsonl(file).entries()) {
    try {
      printJson(io, verifyMathRow(row, `row ${index + 1}`))
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      exitCode = EXIT.failed
      printJson(io, { equal: null, reason: error.message })
      io.err.write(`${file}: ${error.message}\n`)
    }
  }
  return exitCode
}
