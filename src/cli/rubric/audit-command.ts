/** @file `gradus rubric audit`: options and help. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { anyNumber, atLeast0, count } from '../option-values.ts'
import { ROW_FILE_HELP } from '../rows-option.ts'
import type { AuditOptions } from './audit.ts'

const HELP = `
Nothing is trained. The model answers rows; its answers are edited, and both are paid as a training with these rows and this rubric
would pay them. Edits: pad, hedge, keywords (which leave an answer as right as it was), echo, form, drop, falsify, cut, other (which
do not). An edit that cannot be made on a sample, as where there is no number to falsify, is skipped and counted.

over untouched: reward of the samples with the edit less the same ones without, mean and 95% interval over rows. What is paid more
than the sample itself a training may take up, where samples of a row are paid differently at all.
beside being right: of pad, hedge and keywords the same figure; of the others the best edited answer of a row less the best of
the same samples untouched, or the row's "reference" where that is paid more. 0: the trick is worth as much as being right.
paid by: the criteria that make the difference, in shares of the points that can be had.

--max-exploit 0 fails with exit code 100 where a trick is paid more than being right; -0.1 also where being right is paid less than
.1 more than it (pad, hedge and keywords may always be paid as much as without).
--set takes criterionGroups, scoringRule and nulls, as a training has them: --set 'criterionGroups=[{criteria: [a, b]}]'.
The model is a folder, a name on the hub, a GGUF file, URL#NAME on a server, or a file of answers that --out saved; the rule
likelihood then asks the model that --start names. --out keeps the samples: the same command goes on from there.
${ROW_FILE_HELP}

Examples:
  $ gradus rubric audit --data rows.jsonl --rubric rubric.yaml --model HuggingFaceTB/SmolLM2-135M-Instruct
  $ gradus rubric audit --data rows.jsonl --rubric rubric.yaml --model package:models/chat-start --max-exploit 0 --edited edited.jsonl
  $ gradus rubric audit --data rows.jsonl --model answers.jsonl --judge http://127.0.0.1:8000/v1#NAME --json`

/** Rows that are audited where nobody says a number. */
const ROWS = 40

/** Adds `gradus rubric audit`. `done` receives the exit code. */
export const addAudit = (rubric: Command, io: Io, done: (code: number) => void): void => {
  rubric
    .command('audit')
    .summary('foretell how a rubric will be gamed, before training')
    .description(
      'Edits samples of a model that nothing was trained by yet (padding, hedging, keywords, an echo, form alone, ...) and tells what the rubric pays for each.',
    )
    .requiredOption('--data <file.jsonl>', 'rows of prompt and criteria, or of prompts alone with --rubric')
    .requiredOption('--model <model>', 'folder, name on the hub, URL#NAME on a server, or saved answers')
    .option('--rubric <file>', 'criteria of all rows')
    .option('--adapter <dir>', 'adapter that goes on --model')
    .option('--start <model>', 'the model that training starts from, where --model is saved answers')
    .option('--samples <n>', 'samples a row', count, 4)
    .option('--temperature <t>', 'sampling temperature', atLeast0, 1)
    .option('--max-tokens <n>', 'most new tokens a sample (default: 512)', count)
    .option('--seed <s>', 'seed of sampling and edits', '1')
    .option('--limit <n>', 'only the first n rows', count, ROWS)
    .option('--set <key=value...>', 'how verdicts are paid: criterionGroups, scoringRule, nulls')
    .option('--judge <url|dir>', 'judge of criteria without a rule: URL#NAME, or a model here')
    .option('--judge-model <name>', "the judge's model, where the address does not name it")
    .option('--api-key-env <name>', "environment variable that holds the judge's key")
    .option('--cache <dir>', "folder of the judge's verdicts to reuse and add to")
    .option('--model-api-key-env <name>', "environment variable that holds the key of the model's server")
    .option('--concurrency <n>', 'requests at a time; of a model here, prompts decoded together', count)
    .option('--threads <n>', 'threads of the engine', count, 2)
    .option('--out <file.jsonl>', 'keep the samples with their verdicts; goes on from what is there')
    .option('--edited <file.jsonl>', 'write the edited samples with their verdicts and rewards')
    .option(
      '--max-exploit <x>',
      'fail with exit code 100 where an edit is paid more beside being right',
      anyNumber,
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts')
      done(await auditCommand(options, io))
    })
}
