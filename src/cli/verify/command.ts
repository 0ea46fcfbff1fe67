/** @file `gradus verify`: the kinds of checks that need no model. */

import type { Command } from 'commander'
import { GradusError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { someJsonlLines } from '../../util/jsonl.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { count } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import { addSolverOptions, type SolverCommandOptions, solverOptionsOf } from '../rule-options.ts'

/**
 * Verifies each row and prints what comes of it.
 * @param unusable printed with the reason for a row that cannot be used
 * @returns the exit code: failed where a row could not be used
 * @throws DataError for a file that cannot be read, or has no row
 */
const verifyRows = async (
  file: string,
  io: Io,
  verify: (row: unknown) => object | Promise<object>,
  unusable: Record<string, null>,
): Promise<number> => {
  await bringFiles(file)
  let exitCode: number = EXIT.ok
  for (const { place, text } of someJsonlLines(file)) {
    try {
      printJson(io, await verify(parseJson(text)))
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      exitCode = EXIT.failed
      const reason = `${place}: ${error.message}`
      printJson(io, { ...unusable, reason })
      io.err.write(`gradus: ${reason}\n`)
    }
  }
  return exitCode
}

const MATH = `
Rows: {"gold": "...", "pred": "..."}; each may be a bare answer or a whole response (a \\boxed, "answer is", "####" or
prose around mathematics makes it one). Optional in a row: "precision" (decimals that must agree) and "listOrder"
("matters" or "free": whether 1, 2 and 2, 1 differ); other keys are ignored.
Prints one JSON line a row: {"equal": true | false | null}; null is undecided.
A row that cannot be used gives null and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify math answers.jsonl`

const INSTRUCTIONS = `
Rows: {"instruction_id", "kwargs", "response"} or {"instruction_id_list", "kwargs": [...], "response"}, "prompt" optional.
Prints one JSON line a row: {"follows": [...], "strict", "loose"}; "follows" is the strict verdict of each instruction.
A row that cannot be used gives nulls and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify instructions responses.jsonl`

const STAGES = `
Rows: {"text": "..."}, a trajectory with its tags; other keys are ignored.
Prints one JSON line a row: {"stages": [{"stage", "start", "end"}, ...], "toolCalls", "valid", "problems": [...]}.
Stages are 1 plan, 2 research, 3 review, 4 answer; start and end count characters (UTF-16 units), the end exclusive.
What tools said (<tool_output>) belongs to no stage, every other character to exactly one; a stage that tools interrupt
has several spans. "problems" says what is missing or breaks the rules of turns; "valid" is true where there are none.
A row that cannot be used gives nulls and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify stages trajectories.jsonl`

const ROWS = '<file.jsonl>'

/** Adds `math`, `instructions` and `stages` to `gradus verify`. `done` receives the exit code. */
const addVerifyRows = (verify: Command, io: Io, done: (code: number) => void): void => {
  verify
    .command('math')
    .description('Compares mathematical answers: numbers, expressions, sets, intervals, matrices, equations.')
    .argument(ROWS, 'rows to verify')
    .addHelpText('after', MATH)
    .action(async (file: string) => {
      const { verifyMathRow } = await import('../../grade/math/index.ts')
      done(await verifyRows(file, io, verifyMathRow, { equal: null }))
    })
  verify
    .command('instructions')
    .description('Verifies responses against instructions that can be checked by rule (IFEval, IFBench).')
    .argument(ROWS, 'rows to verify')
    .addHelpText('after', INSTRUCTIONS)
    .action(async (file: string) => {
      const { verifyInstructionsRow } = await import('../../grade/instructions/index.ts')
      done(await verifyRows(file, io, verifyInstructionsRow, { follows: null, strict: null, loose: null }))
    })
  verify
    .command('stages')
    .description('Parts trajectories of research agents into plan, research, review and answer.')
    .argument(ROWS, 'rows to verify')
    .option('--max-calls <n>', 'calls that an agent may make (default: 10)', count)
    .addHelpText('after', STAGES)
    .action(async (file: string, { maxCalls }: { maxCalls?: number }) => {
      const { verifyStagesRow } = await import('../../tasks/research/stages.ts')
      const unusable = { stages: null, toolCalls: null, valid: null, problems: null }
      done(await verifyRows(file, io, row => verifyStagesRow(row, { maxCalls }), unusable))
    })
}

const HELP = `
Prints one JSON line a row. For FOLIO rows {premises, premises-FOL, conclusion-FOL, ...}: {"label", "reason"}.
For rows {"premises": [...], "steps": [...]}: {"steps": [{"credit", "status"}]}.

Example:
  $ gradus verify logic folio-validation.jsonl`

/** Adds `logic` to `gradus verify`. `done` receives the exit code. */
const addVerifyLogic = (verify: Command, io: Io, done: (code: number) => void): void => {
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
