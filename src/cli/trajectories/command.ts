/** @file `gradus trajectories`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { above0, atLeast0, count, countOr0, namedText, share } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import type { RecordOptions } from './record.ts'
import type { RolesOptions } from './roles.ts'
import type { SelectOptions } from './select.ts'

const RECORD_HELP = `
Rows of the file are {"question" or "prompt", "id"?, "answer" or "reference"?}. The teacher is asked turn by turn: it plans and
calls a tool, is told what the tool said, and so on until it answers. Each attempt is a line of FILE as soon as it is over; the
same command again goes on with those that are missing. Ctrl+C finishes the attempts under way; again it gives them up.

--tools is a list as in a recipe's configuration (kind: index, mcp or http), or a map with it under "tools".
--fleet is a file with several endpoints, their limits and prices ("endpoints": [...]), in place of --teacher and --model.

Exit code 0 when every attempt is recorded, 1 where the teacher failed on some, 130 after Ctrl+C.

Example:
  $ gradus trajectories record questions.jsonl --tools tools.yaml --teacher https://api.example.com/v1 --model m \\
      --api-key-env API_KEY --attempts 4 --out recorded.jsonl`

const SELECT_HELP = `
Of \`roles\`, kept are right answers and rubrics in form; with \`--verify\`, lists that more than half of the passes agree with and that no rule
of --rules denies. --max-rounds, --max-errors and --rename are of research alone.
Rejected of research are attempts without an answer at their end, with a turn before it that makes no call that can be read, without a plan
or its rubric, with a later turn that does not say where things stand (<state_evaluation>), with too many errors of tools in a
row, or with too many rounds. <scratchpad> is renamed to <think>, tools as --rename says.

Rows that are written are {"question", "tools", "messages": [...]}: \`gradus train sft --set data=FILE\` learns what the role
assistant says in them.

Example:
  $ gradus trajectories select recorded.jsonl --out sft.jsonl --per-question 2`

const ROLES_HELP = `
Of each question the teacher writes an answer, and then a rubric for the thinking of that answer, right or wrong; the prompts are those of
RLCER. \`gradus trajectories select\` keeps right answers and rubrics that training's format reward pays. A teacher must leave its
thinking in its text: a server that takes it out (reasoning_content) is told not to by its own settings.

With --verify the teacher is RLCER's verifier: it decides every rubric in form on every response to its question, --attempts times.
\`select\` keeps what most of these passes say of every criterion, and \`gradus train sft\` makes a verifier of it.

Exit code 0 when every attempt is recorded, 1 where the teacher failed on some, 130 after Ctrl+C.

Example:
  $ gradus trajectories roles dapo.jsonl --format dapo --teacher https://api.example.com/v1 --model m --attempts 4 --out recorded.jsonl
  $ gradus trajectories select recorded.jsonl --out two-roles.jsonl --per-question 1
  $ gradus trajectories roles recorded.jsonl --verify --teacher https://api.example.com/v1 --model m --attempts 3 --out verdicts.jsonl
  $ gradus trajectories select verdicts.jsonl --out verifier.jsonl`

/** Options of commands that ask a teacher. */
const withTeacher = (command: Command): Command =>
  command
    .requiredOption('--out <file.jsonl>', 'file to write, or to go on with')
    .option('--teacher <url>', 'an OpenAI-compatible chat endpoint, or URL#NAME')
    .option('--model <name>', 'its model')
    .option('--fleet <file.yaml>', 'several endpoints, in place of --teacher and --model')
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--attempts <n>', 'attempts a question', count, 1)
    .option('--concurrency <n>', 'attempts at a time', count, 8)
    .option('--temperature <t>', 'temperature of the teacher', atLeast0, 0.7)
    .option('--top-p <p>', 'nucleus of the teacher', share)
    .option('--timeout <s>', 'seconds that an attempt to get an answer of the teacher may take', above0, 300)
    .option('--retries <n>', 'further attempts of a call that had no answer', countOr0, 5)
    .option('--seed <n>', 'seed for the teacher; each attempt is given one of its own', countOr0)
    .option('--json', 'print the summary as JSON')

/** Adds `gradus trajectories` to the program. `done` receives the exit code. */
export const addTrajectoriesCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const trajectories = program
    .command('trajectories')
    .summary('record a teacher, and select what to learn from')
    .description(
      'What a teacher does, recorded and selected for supervised learning: research with tools, or both roles of RLCER.',
    )
  withTeacher(
    trajectories
      .command('record')
      .summary('have a teacher research questions with tools')
      .description(
        'Has a chat model research questions with tools, several times each, and records all of it.',
      )
      .argument('<questions.jsonl>', 'questions, one a line')
      .requiredOption('--tools <tools.yaml>', 'the tools'),
  )
    .option('--max-calls <n>', 'calls that an attempt may make', count, 10)
    .option('--max-tokens <n>', 'most tokens of a turn', count, 4096)
    .option('--tool-timeout <s>', 'seconds that a call of a tool may take', above0, 30)
    .option('--plain', 'no plan and no review (ReAct), for a comparison; `select` rejects these')
    .addHelpText('after', RECORD_HELP)
    .action(async (questions: string, options: RecordOptions) => {
      const { recordCommand } = await import('./record.ts')
      await bringFiles(questions)
      done(await recordCommand(questions, options, io))
    })
  withTeacher(
    trajectories
      .command('roles')
      .summary('have a teacher answer questions and write rubrics for its thinking (RLCER)')
      .description(
        'Has a chat model answer questions and write a rubric for the thinking of each answer: a cold start for both roles of RLCER.',
      )
      .argument('<file.jsonl>', 'questions with their right answers; with --verify what `roles` recorded'),
  )
    .option('--format <name>', 'what the rows look like, as task.format of rlcer', 'plain')
    .option('--max-tokens <n>', 'most tokens of a response', count, 16_384)
    .option('--ask-to-think', 'say in the prompt that thinking goes between tags')
    .option('--reasoner-prompt <file>', 'prompt in place of ours, with {question}, as task.prompts.reasoner')
    .option('--rubricator-prompt <file>', 'with {question} and {response}, as task.prompts.rubricator')
    .option('--verify', 'of what `roles` recorded: which criteria each response meets, by every rubric')
    .option('--verifier-prompt <file>', 'with {question}, {response}, {rubrics}, as verifier.judge.prompt')
    .addHelpText('after', ROLES_HELP)
    .action(async (questions: string, options: RolesOptions) => {
      const { rolesCommand } = await import('./roles.ts')
      await bringFiles(questions)
      done(await rolesCommand(questions, options, io))
    })
  addSelect(trajectories, io, done)
}

const addSelect = (trajectories: Command, io: Io, done: (code: number) => void): void => {
  trajectories
    .command('select')
    .summary('reject what is not to be learnt from')
    .description('Parts recorded attempts that are fit to be learnt from from the others.')
    .argument('<file.jsonl>', 'what `gradus trajectories record` or `roles` wrote')
    .requiredOption('--out <sft.jsonl>', 'file to write')
    .option('--max-rounds <n>', 'most rounds', count, 10)
    .option('--max-errors <n>', 'most errors of tools in a row', countOr0, 1)
    .option('--per-question <n>', 'most attempts a question: those with the fewest rounds', count)
    .option('--rules <rubric>', 'of verdicts: a rubric whose rules execute criteria of the same words')
    .option('--rename <old=new>', 'right name of a tool that the teacher calls otherwise', namedText)
    .option('--json', 'print the counts as JSON')
    .addHelpText('after', SELECT_HELP)
    .action(async (file: string, options: SelectOptions) => {
      const { selectCommand } = await import('./select.ts')
      done(await selectCommand(file, options, io))
    })
}
