/** @file `gradus grade`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseColumns } from '../../util/column-names.ts'
import type { Io } from '../io.ts'
import {
  above0,
  anyNumber,
  callsOption,
  count,
  countOr0,
  judgeRetriesOption,
  judgeTimeoutOption,
  judgeTokensOption,
  nullsOption,
  share,
} from '../option-values.ts'
import { ROW_FILE_HELP } from '../rows-option.ts'
import { addRuleOptions } from '../rule-options.ts'
import { addSolverOptions } from '../solver-options.ts'
import type { GradeCommandOptions } from './grade.ts'

const HELP = `
A response is a row {"response": "...", "id"?, "prompt"?, "reference"?, "metadata"?}; prompt is a question or a list of
messages. Rows of a file with one rubric all get that rubric; with several, a row gets the one with its id, else the one
with its prompt. Other fields of a row go to its metadata, where rules find them (sources, premises, ...).

${ROW_FILE_HELP}
--columns says which column holds what, for example --columns response=answer,prompt=question; NAME= leaves one out.

Criteria with "verifier": {"kind": "rule", "fn": ..., "params": ...} are checked by that rule (--rules lists them), those
with "kind": "formal" by the solver; only the others reach the judge. A key is read from the environment variable that
--api-key-env names. An attempt without an answer (a failure, a refused connection, --timeout seconds) is followed by up to
--retries more; then the verdict is null, with the reason. A server that asks to be left alone (retry-after) is, for at most
a minute, and where it asks for more, that is said. A refusal that every call would meet (401, 402, 403, 404, 405, a
redirection) ends the command before the first answer, or after ten in a row; among good answers it is tried again.

With --json one line a response, in the order of the file: {"id", "score", "parts", "verdicts", "nulls"}; the summary goes
to stderr. A row that cannot be graded gets {"id", "score": null, "error"} and exit code 1; the others are still graded.
--dry-run says what would be graded by what, how many calls the judge would get and what they may cost, and sends nothing.
Ctrl+C or SIGTERM finishes what is under way, for at most 20 s, and prints it; twice quits at once.

With --together the judge sees all responses to a prompt at once and scores each from 0 to 1 relative to the others, by the
rubric, by --criterion, or by what is good in general. Rows belong together that have the same "group", else the same prompt.
Equal responses get one score; a missing or malformed score is null. Scores of two groups are not on one scale.

Examples:
  $ gradus grade --rubric rubric.yaml --responses responses.jsonl
  $ gradus grade --rubric rubric.yaml --responses responses.jsonl --judge http://127.0.0.1:8000/v1 --model judge --json`

const price = (text: string): { inputPerMillion: number; outputPerMillion: number } => {
  const parts = text.split(',')
  const [inputPerMillion, outputPerMillion] = parts.map(anyNumber)
  if (parts.length !== 2 || inputPerMillion < 0 || outputPerMillion < 0)
    throw new InvalidArgumentError('Expected two prices, such as 0.5,1.5.')
  return { inputPerMillion, outputPerMillion }
}

const judgeOptions = (command: Command): Command =>
  command
    .option('--judge <url>', 'OpenAI-compatible endpoint of the judge, or URL#NAME')
    .option('--model <name>', "the judge's model; needed with a --judge that does not name it")
    .option('--api-key-env <name>', 'environment variable that holds the key of the endpoint')
    .addOption(callsOption())
    .option('--cache <dir>', 'folder of verdicts to reuse and add to')
    .addOption(judgeTimeoutOption())
    .addOption(judgeRetriesOption())
    .addOption(judgeTokensOption())
    .addOption(
      new Option(
        '--without-judge <how>',
        'judged criteria where there is no judge: null verdicts, or an error',
      )
        .choices(['null', 'error'])
        .default('null'),
    )

/** Adds `gradus grade` to the program. `done` receives the exit code. */
export const addGradeCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const command = program
    .command('grade')
    .summary('grade responses by a rubric')
    .description(
      'Grades a file of responses by a rubric: rules, formal checks, and a judge for what is left.',
    )
    .option('--rubric <file>', 'rubric, or data set of rubrics (YAML, JSON, JSON Lines)')
    .option('--responses <file>', 'responses: JSON Lines, Parquet or hf://; - is standard input')
    .option(
      '--columns <name=column,...>',
      'columns of the responses that have other names there',
      parseColumns,
    )
  addRuleOptions(addSolverOptions(judgeOptions(command), true))
    .option('--rule <name>', 'how verdicts become a score (gradus score --help lists the rules)', 'signed')
    .addOption(nullsOption())
    .option('--concurrency <n>', 'responses and calls of the judge at a time', count, 64)
    .option('--min-score <mean>', 'fail with exit code 100 below this mean score', anyNumber)
    .option(
      '--max-null-rate <share>',
      'fail with exit code 100 above this share of null verdicts of either sign',
      share,
    )
    .option('--dry-run', 'say what would be sent, and stop')
    .option('--price <in,out>', 'with --dry-run: price of a million tokens, prompt and answer', price)
    .option('--call-seconds <s>', 'with --dry-run: how long a call takes', above0)
    .option(
      '--together',
      'one call for all responses to a prompt: scores from 0 to 1, relative to each other',
    )
    .option('--criterion <text>', 'with --together: what to go by, in place of a rubric')
    .option('--looks <n>', 'with --together: calls a group, each in another order', count)
    .option('--seed <n>', 'with --together: draws the orders in which responses are shown', countOr0)
    .option('--rules', 'list the rules that criteria may name, and exit')
    .option('--json', 'print a JSON line a response')
    .addHelpText('after', HELP)
    .action(async (options: GradeCommandOptions) => {
      if (options.together && !options.rules) {
        const { gradeTogether } = await import('./together.ts')
        return done(await gradeTogether(options, io))
      }
      const { gradeCommand } = await import('./grade.ts')
      done(await gradeCommand(options, io))
    })
}
