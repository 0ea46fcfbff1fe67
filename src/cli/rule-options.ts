/** @file Options of the commands that check responses by rules. */

import type { Command } from 'commander'
import type { SolverOptions } from '../grade/logic/solver.ts'
import type { RuleSettings } from '../grade/rules/settings.ts'
import { count } from './option-values.ts'

export interface RuleCommandOptions {
  ruleBudgetMs?: number
  maxResponseChars?: number
}

export const addRuleOptions = (command: Command): Command =>
  command
    .option(
      '--rule-budget-ms <ms>',
      'what all rules may take on one response; what is not checked by then has no verdict (default: 2000)',
      count,
    )
    .option(
      '--max-response-chars <n>',
      'longer responses are not checked by rules and solver: no verdict (default: 1000000)',
      count,
    )

/** As `RuleGrader` takes them, which refuses what is out of range. */
export const ruleSettingsOf = ({
  ruleBudgetMs: budgetMs,
  maxResponseChars,
}: RuleCommandOptions): Partial<RuleSettings> => ({ budgetMs, maxResponseChars })

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
