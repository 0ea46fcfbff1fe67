/** @file `gradus verify`: the kinds of checks that need no model. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { addVerifyLogic } from './logic.ts'
import { addVerifyRows } from './rows.ts'

/** Adds `gradus verify` to the program. `done` receives the exit code. */
export const addVerifyCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const verify = program
    .command('verify')
    .summary('check answers, instructions, reasoning or stages by rule')
    .description(
      'Checks responses without a model: logic by a solver, mathematics, instructions, stages of research.',
    )
  addVerifyLogic(verify, io, done)
  addVerifyRows(verify, io, done)
}
