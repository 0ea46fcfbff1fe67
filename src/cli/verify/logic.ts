/** @file `gradus verify logic FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { addSolverOptions, type SolverCommandOptions, solverOptionsOf } from '../solver-options.ts'
import { verifyRows } from './rows.ts'

const HELP = `
Prints one JSON line a row. For FOLIO rows {premises, premises-FOL, conclusion-FOL, ...}: {"label", "reason"}.
For rows {"premises": [...], "steps": [...]}: {"steps": [{"credit", "status"}]}.

Example:
  $ gradus verify logic folio-validation.jsonl`

/** Adds `logic` to `gradus verify`. `done` receives the exit code. */
export const addVerifyLogic = (verify: Command, io: Io, done: (code: number) => void): void => {
  const command = verify
    .command('logic')
    .description('Verifies logic problems or reasoning steps with Z3.')
    .argument('<file.jsonl>', 'rows to verify')
  addSolverOptions(command, true)
    .addHelpText('after', HELP)
    .action(async (file: string, options: SolverCommandOptions) => done(await verifyLogic(file, io, options)))
}

/**
 * Verifies each row of a file with Z3 and prints a JSON line for it. A row that cannot be used gets
 * `{"label":null,"reason":...}` and the exit code becomes 1; the other rows are still verified.
 * @throws DataError for a file that cannot be read; ConfigError for an option out of range; SolverError
 * when Z3 does not start.
 */
export const verifyLogic = async (
  file: string,
  io: Io,
  options: SolverCommandOptions = {},
): Promise<number> => {
  const { LogicSolver } = await import('../../grade/logic/solver.ts')
  const { verifyLogicRow } = await import('../../grade/logic/verify.ts')
  const solver = await LogicSolver.start({ ...solverOptionsOf(options), backend: 'z3' })
  try {
    return await verifyRows(file, io, row => verifyLogicRow(row, solver), { label: null })
  } finally {
    await solver.close()
  }
}
