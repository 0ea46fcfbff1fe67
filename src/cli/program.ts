/** @file The command line: which commands there are. Each adds itself; the work behind it is loaded only when it runs. */

import type { Command } from 'commander'
import { addBenchCommand } from './bench/command.ts'
import { addDashboardCommand } from './dashboard/command.ts'
import { addEvalCommand, taskHelp } from './eval/command.ts'
import { addExperimentCommand } from './experiment/command.ts'
import { addGradeCommand, addJudgeCommand, addProfileCommand, addScoreCommand } from './grade/command.ts'
import { addPushCommand } from './hub/command.ts'
import { addInitCommand } from './init/command.ts'
import type { Io } from './io.ts'
import { addPlanCommand } from './plan/command.ts'
import { addRubricCommand } from './rubric/command.ts'
import { newCommand, runCommand } from './run.ts'
import { addCompareCommand, addExportCommand, addReportCommand, addRunsCommand } from './runs/command.ts'
import { addSearchCommand } from './search/command.ts'
import { addServeCommand } from './serve/command.ts'
import { addSweepCommand } from './sweep/command.ts'
import { addSampleCommand, addTrainCommand, recipeHelp } from './train/command.ts'
import { addTrajectoriesCommand } from './trajectories/command.ts'
import { addVerifyCommand } from './verify/command.ts'

const ROOT_HELP = `
Exit codes: 0 fine, 1 error, 2 wrong command line, 100 below a threshold that was asked for, 130 interrupted.
GRADUS_DEBUG=1 prints the stack of an error.

Examples:
  $ gradus train rubric-as-reward
  $ gradus report runs/rubric-as-reward-longer-seed1
  $ gradus compare runs/a runs/b
  $ gradus runs`

/** Commands after `train`, in the order of the help. */
const COMMANDS = [
  addPlanCommand,
  addSweepCommand,
  addEvalCommand,
  addSampleCommand,
  addVerifyCommand,
  addGradeCommand,
  addScoreCommand,
  addProfileCommand,
  addJudgeCommand,
  addRubricCommand,
  addSearchCommand,
  addTrajectoriesCommand,
  addServeCommand,
  addInitCommand,
  addReportCommand,
  addCompareCommand,
  addRunsCommand,
  addExportCommand,
  addPushCommand,
  addDashboardCommand,
  addExperimentCommand,
  addBenchCommand,
] as const

/** Names that the help of a command lists, where it is asked for. */
interface Listed {
  recipes: string
  tasks: string
}

/** Every command with its options. @param listed what helps name */
export const buildProgram = (io: Io, done: (code: number) => void, listed: Listed): Command => {
  const program = newCommand('gradus', io)
    .description('Rubric-based reinforcement learning for language models.')
    .addHelpText('after', ROOT_HELP)
  addTrainCommand(program, io, done, listed.recipes)
  for (const add of COMMANDS) add(program, io, done, listed)
  return program
}

/** Runs a command line of `gradus` (without node and script). Returns the exit code; never throws. */
export const runCli = async (args: readonly string[], streams: Io): Promise<number> => {
  const listed = { recipes: await recipeHelp(args), tasks: await taskHelp(args) }
  return runCommand(args, streams, (io, done) => buildProgram(io, done, listed))
}
