/** @file `gradus rubric`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import type { Io } from '../io.ts'
import { addScaleOptions, anyNumber, atLeast0, count, countOr0, share } from '../option-values.ts'
import { bringFiles, ROW_FILE_HELP } from '../rows-option.ts'
import type { AuditOptions } from './audit.ts'
import type { AuthorCommandOptions } from './author.ts'
import type { GenerateCommandOptions } from './generate.ts'
import type { LintCommandOptions } from './lint.ts'
import type { PerturbCommandOptions } from './perturb.ts'
import type { RefineCommandOptions } from './refine.ts'

const HELP = `
Nothing is trained. The model answers rows; its answers are edited, and both are paid as a training with these rows and this rubric
would pay them. Edits: pad, hedge, keywords (which leave an answer as right as it was), echo, form, drop, falsify, cut, other (which
do not). An edit that cannot be made on a sample, as where there is no number to falsify, is skipped and counted.

vs. unedited: reward of the samples with the edit less the same ones without, mean and 95% interval over rows. What is paid more
than the sample itself a training may take up, where samples of a row are paid differently at all.
vs. right answer: of pad, hedge and keywords the same metric; of the others the best edited answer of a row less the best of
the same samples unedited, or the row's "reference" where that is paid more. 0: the trick is worth as much as being right.
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
const addAudit = (rubric: Command, io: Io, done: (code: number) => void): void => {
  const audit = rubric
    .command('audit')
    .summary('predict how a rubric will be gamed, before training')
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
  addScaleOptions(audit)
    .option('--model-api-key-env <name>', "environment variable that holds the key of the model's server")
    .option('--concurrency <n>', 'requests at a time; of a model here, prompts decoded together', count)
    .option('--threads <n>', 'threads of the engine', count, 2)
    .option('--out <file.jsonl>', 'keep the samples with their verdicts; goes on from what is there')
    .option('--edited <file.jsonl>', 'write the edited samples with their verdicts and rewards')
    .option(
      '--max-exploit <x>',
      'fail with exit code 100 where an edit is paid more than this above a right answer',
      anyNumber,
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (options: AuditOptions) => {
      const { auditCommand } = await import('./audit.ts')
      done(await auditCommand(options, io))
    })
}

const LINT_HELP = `
Rules, from the rubric alone (E error, W warning, i info):
  E zero-points, absurd-points, no-positive-points   points that no score can be made of
  W absurd-points, swamping-points, empty-rubric     points out of proportion, or that decide alone
  E contradictory                                    one asks for what another denies or penalises
  W duplicate, near-duplicate  i mirrored            one thing counts twice
  E commands-judge  W addresses-judge, long          texts for the judge, or too long for it
  W compound, vague  E/W wrong-sign                  wording that cannot be decided, or contradicts the points
  E/W about-answer                                   a rubric of thinking ("about: thinking") that asks for the answer
With --verdicts, what chance would not do (95% bounds, exact or permutation tests corrected for all criteria):
  W saturated, never-met, non-discriminating         says nothing about a response
  W anti-correlated, uncorrelated                    does not go with the outcome
  W low-agreement, judge-fails  i no-verdicts        the judge cannot decide it

Verdicts are rows {"verdicts": {id: true|false|null, ...} or as "gradus grade --json" prints them, "id"?, "rubric"?,
"group"?, "outcome"?, "repeats"?}. Several files hold judgements of the same responses by the same judge: they are
compared. --outcomes names rows {"id", "outcome": true|false|number, "group"?} to join by id. Rows of one group are
responses to the same prompt. Verdicts on criteria that FILE does not have (those of single rows of a training) are left aside,
and so are rows of FILE that are a prompt alone.

Exit code 0 without errors, 1 with errors, 100 with more warnings than --max-warnings allows (--strict: none).

Examples:
  $ gradus rubric lint rubric.yaml
  $ gradus rubric lint rubric.yaml --verdicts graded.jsonl again.jsonl --outcomes answers.jsonl --strict`

const PERTURB_HELP = `
Variants (RuscaRL, Table 14): original, inverse (points in reverse order), negated (signs inverted), ambiguous (vague
criteria with a coin flip as verdict added), contradictory (denials of criteria added), removed (half of them deleted).
Same file, variant and seed, same result. What changed is said on stderr. Evaluate with the original rubric.

Example:
  $ gradus rubric perturb rubric.yaml --variant inverse --seed 1 --out inverse.yaml`

const GENERATE_HELP = `
Rows of --data are {"question" or "prompt", "reference" or "answer", "id"?}. Each gets 5 to 15 criteria worth 1 to 10 or
-10 to -1. An answer of the model that breaks a rule is sent back once; a row without a usable rubric is named on stderr,
the others are written, and the exit code is 1.

Examples:
  $ gradus rubric generate --question "What is 6 x 7?" --reference 42 --judge http://127.0.0.1:8000/v1 --model m
  $ gradus rubric generate --data questions.jsonl --out rubrics.jsonl --judge https://api.example.com/v1 --model m --api-key-env API_KEY`

const REFINE_HELP = `
Each round asks the model what is missing, redundant or ambiguous, and for a revised list; it stops when a round finds
nothing. Without FILE the model proposes the first rubric. Traces are rows {"text" or "response"}, or one string a line of
JSON.

With --preferences no model is asked: people chose between pairs of answers on the dashboard (page Pairs), and points are fitted
to what they chose, around the present ones. Each criterion keeps its sign. Intervals are 95%.

Examples:
  $ gradus rubric refine rubric.yaml --preferences runs/mine --out refined.yaml
  $ gradus rubric refine rubric.yaml --task "Solve the equation." --positives good.jsonl --negatives bad.jsonl \\
      --judge http://127.0.0.1:8000/v1 --model m --out refined.yaml`

const AUTHOR_HELP = `
FILE of --task is {task, dimensions?, positives?, negatives?, queries?, id?} as YAML or JSON, or one such object a line. Traces
are texts, or {"thinking", "text" or "response", "query"?}; of a whole response what stands before </think> is taken.

With --judge a model writes a first rubric and then revises it: rounds name what is missing, redundant or ambiguous, until one
finds nothing. With --bank a rubric file of candidates is tried on the traces by their own rules, and those that tell good from
bad best are taken, with points by how well they do.

--per-query writes a rubric for each question: those in "queries", and those that traces name. Exit code 1 where one could not be
written, or its revision not be read; the others are written.

Examples:
  $ gradus rubric author --task task.yaml --judge http://127.0.0.1:8000/v1 --model m --out rubric.yaml
  $ gradus rubric author --task task.yaml --positives good.jsonl --negatives bad.jsonl --bank bank.yaml --out rubric.yaml`

type Done = (code: number) => void

const addLint = (rubric: Command, io: Io, done: Done) =>
  rubric
    .command('lint')
    .summary('find what is wrong with a rubric')
    .description(
      'Finds what is wrong with rubrics: from their text and points, and from the verdicts of a run.',
    )
    .argument('<file>', 'rubric, or data set of rubrics (YAML, JSON, JSON Lines)')
    .option('--format <name>', 'format of the file; detected where not given')
    .option('--verdicts <file.jsonl...>', 'verdicts of a run; further files: the same responses judged again')
    .option('--outcomes <file.jsonl>', 'outcomes of the responses, by id')
    .option('--off <rule...>', 'rules not to report')
    .option('--similarity <share>', 'content in common from which criteria are near-duplicates', share, 0.7)
    .option('--thinking', 'the rubrics are of thinking, also those that do not say "about: thinking"')
    .option('--max-warnings <n>', 'fail with exit code 100 above this many warnings', countOr0)
    .option('--strict', 'the same as --max-warnings 0')
    .option('--json', 'print {rubrics, criteria, counts, leftAside, findings} as JSON')
    .addHelpText('after', LINT_HELP)
    .action(async (file: string, options: LintCommandOptions) => {
      const { lintCommand } = await import('./lint.ts')
      await bringFiles(file, options.outcomes, ...(options.verdicts ?? []))
      done(lintCommand(file, options, io))
    })

const addPerturb = (rubric: Command, io: Io, done: Done) =>
  rubric
    .command('perturb')
    .summary('spoil a rubric on purpose')
    .description('Writes a spoilt copy of a rubric, to see how a method bears bad rubrics.')
    .argument('<file>', 'rubric, or data set of rubrics')
    .requiredOption('--variant <name>', 'what to do to it (list below)')
    .option('--seed <s>', 'seed of what is random', '0')
    .addOption(
      new Option('--vague <how>', 'verdicts of vague criteria: by coin, or as judged as the rest')
        .choices(['coin', 'judged'])
        .default('coin'),
    )
    .option('--format <name>', 'format to write; that of the file where not given')
    .option('-o, --out <file>', 'file to write; standard output where not given')
    .addHelpText('after', PERTURB_HELP)
    .action(async (file: string, options: PerturbCommandOptions) => {
      const { perturbCommand } = await import('./perturb.ts')
      await bringFiles(file)
      done(perturbCommand(file, options, io))
    })

const withModel = (command: Command): Command =>
  withAsking(
    command
      .requiredOption('--judge <url>', 'OpenAI-compatible endpoint of the model, or URL#NAME')
      .option('--model <name>', 'model that writes, where the address does not name it'),
  )

const withAsking = (command: Command): Command =>
  command
    .option('--api-key-env <name>', 'environment variable that holds the key of the endpoint')
    .option('--temperature <t>', 'sampling temperature', anyNumber, 0.7)
    .option('--max-tokens <n>', 'most new tokens an answer', count, 4096)
    .option('--seed <n>', 'seed of sampling, where the server takes one', countOr0)
    .option('-o, --out <file>', 'file to write; standard output where not given')

const addGenerate = (rubric: Command, io: Io, done: Done) =>
  withModel(
    rubric
      .command('generate')
      .summary('write rubrics from reference answers')
      .description('Writes a rubric for a question from its reference answer, by a language model.'),
  )
    .option('--question <text>', 'the question')
    .option('--reference <text>', 'its reference answer')
    .option('--data <file.jsonl>', 'questions with reference answers, in place of the two above')
    .option('--concurrency <n>', 'questions at a time', count, 8)
    .addHelpText('after', GENERATE_HELP)
    .action(async (options: GenerateCommandOptions) => {
      const { generateCommand } = await import('./generate.ts')
      await bringFiles(options.data)
      done(await generateCommand(options, io))
    })

const addRefine = (rubric: Command, io: Io, done: Done) =>
  withAsking(
    rubric
      .command('refine')
      .summary('revise a rubric: in rounds, or its points by what people prefer')
      .description(
        'Revises a rubric from good and bad traces: what is missing, redundant, ambiguous. Or its points from preferences.',
      )
      .argument('[file]', 'rubric to start from; proposed where not given'),
  )
    .option('--preferences <run or file>', 'pairs that people chose from, in place of all below')
    .option('--judge <url>', 'OpenAI-compatible endpoint of the model, or URL#NAME')
    .option('--model <name>', 'model that writes, where the address does not name it')
    .option('--task <text>', 'what the traces were written for')
    .option('--dimensions <text>', 'what matters about them')
    .option('--positives <file.jsonl>', 'traces that should score high')
    .option('--negatives <file.jsonl>', 'traces that should score low')
    .option('--subject <words>', 'what the criteria are about', 'the reasoning')
    .option('--rounds <n>', 'most rounds', count, 3)
    .addHelpText('after', REFINE_HELP)
    .action(async (file: string | undefined, options: RefineCommandOptions) => {
      const { refineCommand } = await import('./refine.ts')
      if (options.preferences !== undefined) await bringFiles(file)
      await bringFiles(file, options.positives, options.negatives)
      done(await refineCommand(file, options, io))
    })

const addAuthor = (rubric: Command, io: Io, done: Done) =>
  withAsking(
    rubric
      .command('author')
      .summary('write rubrics of thinking from traces')
      .description('Writes rubrics from a task and good and bad traces: by a model, or from a bank of rules.')
      .requiredOption('--task <file>', 'the task, with its traces (YAML, JSON, JSON Lines)')
      .option('--positives <file.jsonl>', 'further traces that should score high')
      .option('--negatives <file.jsonl>', 'further traces that should score low')
      .option('--judge <url>', 'OpenAI-compatible endpoint of the model that writes, or URL#NAME')
      .option('--model <name>', 'model that writes')
      .option('--bank <file>', 'rubric file of candidates with rules, in place of a model'),
  )
    .addOption(
      new Option('--about <what>', 'what is judged by the rubric')
        .choices(['thinking', 'response'])
        .default('thinking'),
    )
    .option('--per-query', 'a rubric for each question')
    .option('--traces <n>', 'traces of each kind that the model is shown', count, 3)
    .option('--rounds <n>', 'most rounds', countOr0, 3)
    .option('--min-criteria <n>', 'fewest criteria; from a bank how many are proposed first', count, 4)
    .option('--max-criteria <n>', 'most criteria', count, 8)
    .option('--concurrency <n>', 'rubrics at a time', count, 8)
    .option('--json', 'print {rubrics, failed} as JSON, with what each round named')
    .addHelpText('after', AUTHOR_HELP)
    .action(async (options: AuthorCommandOptions) => {
      const { authorCommand } = await import('./author.ts')
      await bringFiles(options.positives, options.negatives)
      done(await authorCommand(options, io))
    })

/** Adds `gradus rubric` to the program. `done` receives the exit code. */
export const addRubricCommand = (program: Command, io: Io, done: Done): void => {
  const rubric = program
    .command('rubric')
    .summary('check, audit, write, revise and spoil rubrics')
    .description(
      'Cares for rubrics: finds their faults and how they can be gamed, writes and revises them, spoils them on purpose.',
    )
  addLint(rubric, io, done)
  addAudit(rubric, io, done)
  addGenerate(rubric, io, done)
  addRefine(rubric, io, done)
  addAuthor(rubric, io, done)
  addPerturb(rubric, io, done)
}
