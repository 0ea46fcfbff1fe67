/** @file `gradus eval`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import { DIALECTS } from '../../policy/served/dialect-names.ts'
import { GENERATED_TEST_SETS } from '../../tasks/logic/testset-names.ts'
import type { Io } from '../io.ts'
import { atLeast0, count, namedShares, share } from '../option-values.ts'
import { addSolverOptions } from '../solver-options.ts'
import type { EvalOptions } from './eval.ts'

const HELP = `
The files have ProntoQA or ProofWriter rows {id, context, question, options, answer}, or FOLIO rows {premises, premises-FOL,
conclusion, conclusion-FOL, label}; which, is told from a file's first row, or by --format for all of them.
Of several files the figures are given for each of them as well. Rows that cannot be read are named on stderr.
--generated takes problems of seeds that training refuses, the same at every call, and those of a run's evaluation.
--shuffle puts each row's sentences in another order; a sentence such as "They are red." stays behind the one before it.
--model is a checkpoint folder, or a model on a server (vLLM, SGLang, gradus serve chat, any with chat completions):
http://127.0.0.1:8000/v1#NAME, or the address alone where the server has one model. Such a model is asked in words, by its own
chat template. With --tokenizer, a folder with its config.json, tokenizer and template, it is sent the very tokens that a
checkpoint here would get; that needs a server that gives token ids back, and it is the only way to evaluate the small models of
this project on a server. Results name server and model.
Scores by name: correctAndProved (the primary one), accuracy, correctAndValid, validProofs.
Exit code 100 when one is below what --min-score, --min-accuracy or --min-valid-proofs asked for.

Examples:
  $ gradus eval --task logic --model runs/a/checkpoints/step-000060 --data dev.jsonl
  $ gradus eval --task logic --model models/logic-start --data dev.jsonl --json --min-score correctAndProved=0.5
  $ gradus eval --task logic --model models/logic-full --data dev.jsonl --shuffle 1
  $ gradus eval --task logic --model models/logic-full --generated shortcut-free --limit 2000
  $ gradus eval --task logic --model http://127.0.0.1:8000/v1#Qwen/Qwen3-8B --data dev.jsonl --limit 100 --json`

/** Adds `gradus eval` to the program. `done` receives the exit code. */
export const addEvalCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const command = program
    .command('eval')
    .summary('evaluate a model on a file of problems')
    .description(
      'Evaluates a checkpoint or a model on a server: answers, proofs, the five criteria, and shallow baselines beside them.',
    )
    .addOption(new Option('--task <name>', 'kind of problems').choices(['logic']).makeOptionMandatory())
    .requiredOption('--model <dir|url>', 'checkpoint folder, or URL#NAME of a model on a server')
    .option('--data <file.jsonl...>', 'problems; several files may be named')
    .addOption(
      new Option('--generated <set>', 'generated problems in place of a file').choices(GENERATED_TEST_SETS),
    )
    .option('--hops <n>', 'rules that proofs of generated problems apply (default: 5)', count)
    .option('--samples <n>', 'samples a problem; needs --temperature', count, 1)
    .option('--temperature <t>', 'sampling temperature; 0 is greedy', atLeast0, 0)
    .option('--max-tokens <n>', 'most new tokens a response', count)
    .option('--seed <s>', 'seed of sampling', '1')
    .addOption(
      new Option('--format <name>', 'how the files write their problems').choices([
        'prontoqa',
        'proofwriter',
        'folio',
      ]),
    )
    .addOption(
      new Option('--formulas <how>', 'whether chat prompts show formulas beside the sentences').choices([
        'hidden',
        'shown',
      ]),
    )
    .option('--shuffle <seed>', "put each row's sentences in another order, the same for the same seed")
    .option('--limit <n>', 'only the first n problems of each file; of generated ones 500 without', count)
    .option('--threads <n>', 'threads of the engine', count, 2)
    .option('--tokenizer <dir>', 'folder with tokenizer, template and config.json of a model on a server')
    .addOption(new Option('--dialect <name>', 'how the server is asked; told by itself').choices(DIALECTS))
    .option('--model-api-key-env <name>', "environment variable that holds the key of the model's server")
    .option('--concurrency <n>', 'requests at a time of a model on a server (default: 32)', count)
    .option('--judge <url>', 'OpenAI-compatible endpoint that judges C4 and C5 as well, or URL#NAME')
    .option('--judge-model <name>', "the judge's model, where the address does not name it")
    .option('--api-key-env <name>', "environment variable that holds the judge's key")
    .option('--cache <dir>', "folder of the judge's verdicts to reuse and add to")
  addSolverOptions(command, false)
    .option('--min-accuracy <share>', 'fail with exit code 100 below this accuracy', share)
    .option('--min-valid-proofs <share>', 'fail with exit code 100 below this share of valid proofs', share)
    .option('--min-score <name=share...>', 'the same for any score by its name; may be repeated', namedShares)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (options: EvalOptions) => {
      const { evalCommand } = await import('./eval.ts')
      done(await evalCommand(options, io))
    })
}
