/** @file `gradus eval`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import { DIALECTS } from '../../policy/served/dialect-names.ts'
import { GENERATED_TEST_SETS } from '../../tasks/logic/testset-names.ts'
import type { Io } from '../io.ts'
import {
  addScaleOptions,
  atLeast0,
  count,
  MODEL_HELP,
  namedShares,
  sampleBitsOption,
  share,
} from '../option-values.ts'
import { addSolverOptions } from '../rule-options.ts'
import type { EvalOptions } from './options.ts'

/** The tasks of the table, where the help is asked for; loading them takes a while. */
export const taskHelp = async (args: readonly string[]): Promise<string> => {
  const asked = args.includes('eval') && args.some(arg => ['-h', '--help', 'help'].includes(arg))
  if (!asked) return ''
  const { MEASURED_KINDS } = await import('../../measure/kinds.ts')
  const lines = Object.entries(MEASURED_KINDS).map(([name, { about, scores, reads }]) => {
    const counted = scores ? ` Scores: ${Object.keys(scores).join(', ')}.` : ''
    return `  ${name}${reads ? ' (--data)' : ''}: ${about}${counted}`
  })
  return `\nTasks:\n${lines.join('\n')}\n`
}

const HELP = `
Without --task the file has rows as trainings read them, {"prompt": "...", "criteria": [...]}, or prompts alone with --rubric; the
benchmarks' files are those that their authors published. Each metric has a 95% interval over prompts; with --against, the
difference to another model on the same prompts has one too, with p and the prompts won, lost and tied. With --samples 8 it is the
mean over eight answers to each prompt (avg@8), ± the standard deviation between the means of the eight repeats.
${MODEL_HELP}
Or it is on a server (vLLM, SGLang, gradus serve chat, any with chat completions): http://127.0.0.1:8000/v1#NAME, or the address
alone where it has one model; or a file of answers that --out saved (.jsonl) stands in its place.
--judge and --held-out-judge: URL#NAME, or a model of this machine; the second one's score is reported apart.
--out keeps every answer as soon as it is there: after an interruption the same command goes on from them.
--set changes a task's settings, which are those of a training's section task; a task with problems of its own has 500 without
--limit.
Scores by name, for --min-score and --no-worse: those of the list above, else accuracy where answers are right or wrong, else
score; also each criterion or instruction, length (words), tokens, cutOff, heldOutScore. --no-worse fails unless the lower end of
the interval of model less against is at least -MARGIN; of penalties and cutOff, of which more is worse, unless the upper end is
at most MARGIN.
Exit code 100 when any of them fails.

Logic: the files have ProntoQA or ProofWriter rows {id, context, question, options, answer}, or FOLIO rows {premises,
premises-FOL, conclusion, conclusion-FOL, label}; which, is told from a file's first row, or by --format for all of them.
Of several files the metrics are given for each of them as well. Rows that cannot be read are named on stderr.
--generated takes problems of seeds that training refuses, the same at every call, and those of a run's evaluation.
--shuffle puts each row's sentences in another order; a sentence such as "They are red." stays behind the one before it.
A model on a server is asked in words, by its own chat template. With --tokenizer, a folder with its config.json, tokenizer and
template, it is sent the very tokens that a checkpoint here would get; that needs a server that gives token ids back, and it is
the only way to evaluate the small models of this project on a server, by any task. Results name server and model.

Examples:
  $ gradus eval --data rows.jsonl --rubric rubric.yaml --model runs/a/checkpoints/step-000060 --against models/base --html a.html
  $ gradus eval --task ifeval --data prompts.jsonl --model HuggingFaceTB/SmolLM2-135M-Instruct --out base.jsonl
  $ gradus eval --task ifeval --data prompts.jsonl --model HuggingFaceTB/SmolLM2-135M-Instruct \\
      --adapter runs/mine/checkpoints/step-000060 --against base.jsonl --no-worse promptStrict=0.02
  $ gradus eval --data rows.jsonl --model models/trained --samples 4 --temperature 0.7 --judge http://127.0.0.1:8000/v1#NAME
  $ gradus eval --task arithmetic --model package:models/arithmetic-start --set operations.max=5 --limit 200
  $ gradus eval --task questions --set format=dapo --data dapo.jsonl --model runs/a/checkpoints/step-000060 --against OWNER/NAME
  $ gradus eval --task openenv --set url=http://127.0.0.1:8000 action.field=guess --model runs/a/checkpoints/step-000060
  $ gradus eval --task logic --model runs/a/checkpoints/step-000060 --data dev.jsonl
  $ gradus eval --task logic --model models/logic-start --data dev.jsonl --json --min-score correctAndProved=0.5
  $ gradus eval --task logic --model models/logic-full --generated shortcut-free --limit 2000
  $ gradus eval --task logic --model http://127.0.0.1:8000/v1#Qwen/Qwen3-8B --data dev.jsonl --limit 100 --json`

/** No negation, which the library takes every `--no-...` for. */
const noWorseOption = (): Option => {
  const about = 'fail with exit code 100 where a score may be worse than that of --against by more than this'
  const option = new Option('--no-worse <name=margin...>', about).argParser(namedShares)
  option.negate = false
  return option
}

/** What is measured. */
const addProblems = (command: Command): Command =>
  command
    .option(
      '--task <name>',
      'what is measured, by a name of the list below the options; rows of prompt and criteria without',
    )
    .requiredOption('--model <model>', 'folder, name on the hub, URL#NAME on a server, or saved answers')
    .option('--against <model>', 'another model, to be compared with on the same problems')
    .option('--adapter <dir>', 'adapter that goes on --model: a folder, package:..., or a name on the hub')
    .option('--data <file.jsonl...>', 'problems; of logic several files may be named')
    .option('--rubric <file>', 'criteria of all rows')
    .option('--set <key=value...>', 'change one setting of the task: dotted key, YAML value; may be repeated')
    .option(
      '--out <file.jsonl>',
      'keep the answers of --model with their verdicts; goes on from what is there',
    )
    .option('--against-out <file.jsonl>', 'the same for --against')
    .option('--html <file>', 'write a page with the answers, those of two models side by side')
    .addOption(
      new Option('--generated <set>', 'generated problems in place of a file').choices(GENERATED_TEST_SETS),
    )
    .option('--hops <n>', 'rules that proofs of generated problems apply (default: 5)', count)

/** How it is answered. */
const addAnswering = (command: Command): Command =>
  command
    .option('--samples <n>', 'samples a problem; needs --temperature', count, 1)
    .option('--temperature <t>', 'sampling temperature; 0 is greedy', atLeast0, 0)
    .option('--max-tokens <n>', 'most new tokens of a response', count)
    .option('--seed <s>', 'seed of sampling', '1')
    .option('--format <name>', 'how the files write their problems; of logic prontoqa, proofwriter or folio')
    .addOption(
      new Option('--formulas <how>', 'whether chat prompts show formulas beside the sentences').choices([
        'hidden',
        'shown',
      ]),
    )
    .option('--shuffle <seed>', "put each row's sentences in another order, the same for the same seed")
    .option('--limit <n>', 'only the first n problems of each file; of generated ones 500 without', count)
    .option('--threads <n>', 'threads of the engine', count, 2)
    .addOption(sampleBitsOption('a weight of --model'))
    .option('--tokenizer <dir>', 'folder with tokenizer, template and config.json of a model on a server')
    .addOption(new Option('--dialect <name>', 'API dialect of the server; detected').choices(DIALECTS))
    .option('--model-api-key-env <name>', "environment variable that holds the key of the model's server")
    .option('--against-api-key-env <name>', 'the same for --against')
    .option(
      '--concurrency <n>',
      'requests at a time (default: 32); of a model here, prompts that are decoded together (default: what memory holds, 128 at most)',
      count,
    )

/** Who judges, and what is too little. */
const addJudging = (command: Command): Command => {
  addScaleOptions(command)
    .option(
      '--judge <url|dir>',
      'judge of criteria without a rule: URL#NAME, or a model here; of logic a server, for C4 and C5',
    )
    .option('--judge-model <name>', "the judge's model, where the address does not name it")
    .option('--api-key-env <name>', "environment variable that holds the judge's key")
    .option('--cache <dir>', "folder of the judge's verdicts to reuse and add to")
    .option(
      '--held-out-judge <url|dir>',
      'a second judge, which training never saw; reported beside the score',
    )
    .option('--held-out-api-key-env <name>', "environment variable that holds the second judge's key")
  return addSolverOptions(command, false)
    .option('--min-accuracy <share>', 'fail with exit code 100 below this accuracy', share)
    .option('--min-valid-proofs <share>', 'fail with exit code 100 below this share of valid proofs', share)
    .option('--min-score <name=share...>', 'the same for any score by its name; may be repeated', namedShares)
    .addOption(noWorseOption())
}

/** Adds `gradus eval` to the program. `done` receives the exit code; `tasks` is part of the help. */
export const addEvalCommand = (
  program: Command,
  io: Io,
  done: (code: number) => void,
  { tasks }: { tasks: string },
): void => {
  const command = program
    .command('eval')
    .summary('measure a model on a file of problems, alone or against another')
    .description(
      'Measures a model on rows with criteria, a public benchmark, or any task that trainings train on, alone or against another model on the same problems.',
    )
  addJudging(addAnswering(addProblems(command)))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', `${tasks}${HELP}`)
    .action(async (options: EvalOptions) => {
      const { measuredCommand } = await import('./measured.ts')
      done(await measuredCommand(options, io))
    })
}
