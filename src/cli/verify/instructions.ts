/** @file `gradus verify instructions FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { verifyRows } from './rows.ts'

const HELP = `
Rows: {"instruction_id", "kwargs", "response"} or {"instruction_id_list", "kwargs": [...], "response"}, "prompt" optional.
Prints one JSON line a row: {"follows": [...], "strict", "loose"}; "follows" is the strict verdict of each instruction.
A row that cannot be used gives nulls and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify instructions responses.jsonl`

/** Adds `instructions` to `gradus verify`. `done` receives the exit code. */
export const addVerifyInstructions = (verify: Command, io: Io, done: (code: number) => void): void => {
  verify
    .command('instructions')
    .description('Verifies responses against instructions that can be checked by rule (IFEval, IFBench).')
    .argument('<file.jsonl>', 'rows to verify')
    .addHelpText('after', HELP)
    .action(async (file: string) => {
      const { verifyInstructionsRow } = await import('../../grade/instructions/index.ts')
      done(await verifyRows(file, io, verifyInstructionsRow, { follows: null, strict: null, loose: null }))
    })
}
