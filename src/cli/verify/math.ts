/** @file `gradus verify math FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { verifyRows } from './rows.ts'

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
    .action(async (file: string) => {
      const { verifyMathRow } = await import('../../grade/math/index.ts')
      done(await verifyRows(file, io, verifyMathRow, { equal: null }))
    })
}
