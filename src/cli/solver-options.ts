/** @file Options of the commands that ask the logic solver. */

import type { Command } from 'commander'
import type { SolverOptions } from '../grade/logic/solver.ts'
import { count } from './option-values.ts'

export interface SolverCommandOptions {
  solverTimeoutMs?: number
  solverLabelTimeoutMs?: number
  uniqueNames?: boolean
}

/** @param labels whether the command has labels decided, besides steps */
export const addSolverOptions = (command: Command, labels: boolean): Command => {
  command
    .option('--solver-timeout-ms <ms>', "Z3's time for each check of a step (default: 200)", count)
    .option('--unique-names', 'take different names for different things')
  return labels
    ? command.option('--solver-label-timeout-ms <ms>', "Z3's time for a label (default: 3000)", count)
    : command
}

/** As `LogicSolver.start` takes them, which refuses what is out of range. */
export const solverOptionsOf = (options: SolverCommandOptions): SolverOptions => ({
  timeoutMs: options.solverTimeoutMs,
  labelTimeoutMs: options.solverLabelTimeoutMs,
  uniqueNames: options.uniqueNames,
})
