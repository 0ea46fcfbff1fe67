/** @file `gradus verify stages FILE.jsonl`: one JSON line a row, in the order of the file. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { count } from '../option-values.ts'
import { verifyRows } from './rows.ts'

const HELP = `
Rows: {"text": "..."}, a trajectory with its tags; other keys are ignored.
Prints one JSON line a row: {"stages": [{"stage", "start", "end"}, ...], "toolCalls", "valid", "problems": [...]}.
Stages are 1 plan, 2 research, 3 review, 4 answer; start and end count characters (UTF-16 units), the end exclusive.
What tools said (<tool_output>) belongs to no stage, every other character to exactly one; a stage that tools interrupt
has several spans. "problems" says what is missing or breaks the rules of turns; "valid" is true where there are none.
A row that cannot be used gives nulls and a reason, the other rows are still verified, and the exit code is 1.

Example:
  $ gradus verify stages trajectories.jsonl`

/** Adds `stages` to `gradus verify`. `done` receives the exit code. */
export const addVerifyStages = (verify: Command, io: Io, done: (code: number) => void): void => {
  verify
    .command('stages')
    .description('Parts trajectories of research agents into plan, research, review and answer.')
    .argument('<file.jsonl>', 'rows to verify')
    .option('--max-calls <n>', 'calls that an agent may make (default: 10)', count)
    .addHelpText('after', HELP)
    .action(async (file: string, { maxCalls }: { maxCalls?: number }) => {
      const { verifyStagesRow } = await import('../../tasks/research/verify.ts')
      const verifyRow = (row: unknown) => verifyStagesRow(row, { maxCalls })
      done(
        await verifyRows(file, io, verifyRow, { stages: null, toolCalls: null, valid: null, problems: null }),
      )
    })
}
