/** @file `gradus verify logic FILE.jsonl`: one JSON line a row, in the order of the file. */

import { LogicSolver } from '../grade/logic/solver.ts'
import { verifyLogicRow } from '../grade/logic/verify.ts'
import { GradusError } from '../util/errors.ts'
import { readJsonl } from '../util/jsonl.ts'
import { type SolverCommandOptions, solverOptionsOf } from './solver-options.ts'

/**
 * Verifies each row of a file with Z3 and prints a JSON line for it. A row that cannot be used gets
 * `{"label":null,"reason":...}` and the exit code becomes 1; the other rows are still verified.
 * @throws DataError for a file that cannot be read or is not JSON Lines; ConfigError for an option out of range; SolverError
 * when Z3 does not start.
 */
export const verifyLogic = async (file: string, options: SolverCommandOptions = {}): Promise<number> => {
  const rows = readJsonl(file)
  const solver = await LogicSolver.start({ ...solverOptionsOf(options), backend: 'z3' })
  let exitCode = 0
  try {
    for (const [index, row] of rows.entries()) {
      try {
        console.log(JSON.stringify(await verifyLogicRow(row, solver)))
      } catch (error) {
        if (!(error instanceof GradusError)) throw error
        exitCode = 1
        console.log(JSON.stringify({ label: null, reason: error.message }))
        console.error(`${file}: row ${index + 1}: ${error.message}`)
      }
    }
  } finally {
    await solver.close()
  }
  return exitCode
}
