/** @file `gradus grade`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { RULE_TEXTS, type RuleText, WRAPPER_TEXTS } from '../../rubric/rule-names.ts'
import { parseColumns } from '../../util/column-names.ts'
import type { Io } from '../io.ts'
import {
  above0,
  addCallOptions,
  addScaleOptions,
  anyNumber,
  atLeast0,
  callsOption,
  count,
  countOr0,
  nullsOption,
  share,
} from '../option-values.ts'
import { bringFiles, ROW_FILE_HELP } from '../rows-option.ts'
import { addRuleOptions, addSolverOptions } from '../rule-options.ts'
import type { GradeCommandOptions } from './grade.ts'
import type { JudgeCheckOptions } from './judge-check.ts'
import type { ProfileCommandOptions } from './profile.ts'
import type { ScoreCommandOptions } from './score.ts'
import type { JudgeWinsOptions } from './wins.ts'

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
  addCallOptions(
    addScaleOptions(
      command
        .option('--judge <url>', 'OpenAI-compatible endpoint of the judge, or URL#NAME')
        .option('--model <name>', "the judge's model; needed with a --judge that does not name it")
        .option('--api-key-env <name>', 'environment variable that holds the key of the endpoint')
        .addOption(callsOption()),
    ),
  ).addOption(
    new Option('--without-judge <how>', 'judged criteria where there is no judge: null verdicts, or an error')
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

const ruleLine = ([name, { formula, source, aliases }]: [string, RuleText]) => {
  const also = aliases.length > 0 ? `; also ${aliases.join(', ')}` : ''
  return `  ${name.padEnd(12)} ${formula}\n${' '.repeat(15)}(${source}${also})`
}

const SCORE_HELP = `
Rules. p: points; c: credit, 1 for a criterion that is met; g: what is good about it, c, or 1 - c for a penalty (p < 0).
${Object.entries(RULE_TEXTS).map(ruleLine).join('\n')}

Around a rule, as veto(signed) or saturation(mean); alone, around all-weights:
${Object.entries(WRAPPER_TEXTS).map(ruleLine).join('\n')}

A row has criteria and verdicts about them in the same order, or is a tree whose leaves have a verdict or a score:
  {"criteria": [{"points": 5}, {"points": -2}], "verdicts": [true, null]}
  {"id": "root", "sub_tasks": [{"weight": 2, "sub_tasks": [], "score": 1}, {"weight": 1, "sub_tasks": [], "score": null}]}
A verdict is true, false, null, a credit in [0, 1] (a level 0, 1, 2 where the rule reads levels), or {"met", "credit",
"level"}. Criteria may have "id", "category" (the dimensions of saturation) and "critical" (for veto).

Prints one JSON line a row: {"score": number or null, "parts": credit by criterion, "nulls": failed verdicts by sign of
points}. A score is null where there is nothing to divide by. A row that cannot be used gets {"score": null, "error":
...}, the message with file and line on stderr, and exit code 1; the other rows are still scored.

Examples:
  $ gradus score graded.jsonl --rule signed
  $ gradus score graded.jsonl --rule "veto(bounded)" --nulls as-false --summary`

/** Adds `gradus score` to the program. `done` receives the exit code. */
export const addScoreCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('score')
    .summary('score verdicts by a rule')
    .description('Turns verdicts about criteria into scores, by a rule that you name.')
    .argument('<file.jsonl>', 'rows of criteria and verdicts, or graded trees; a .json file is one row')
    .requiredOption('-r, --rule <name>', 'scoring rule (list below)')
    .addOption(nullsOption())
    .option('--undefined <number>', 'score where there is nothing to divide by, instead of null', anyNumber)
    .option('--scale <number>', 'factor of rule weighted', anyNumber, 1)
    .option('--veto-below <share>', 'a critical criterion fails below this', share, 0.5)
    .option('--saturation <c>', 'how fast returns diminish in rule saturation', above0, 3)
    .option('--summary', 'print mean, spread and null rates of the whole file on stderr')
    .option('--json', 'the summary as JSON too (rows always are)')
    .addHelpText('after', SCORE_HELP)
    .action(async (file: string, options: ScoreCommandOptions) => {
      const { scoreCommand } = await import('./score.ts')
      await bringFiles(file)
      done(scoreCommand(file, options, io))
    })
}

const PROFILE_HELP = `
A source is the output of "gradus grade --json", a file of rows as "gradus score" takes them, or the folder of a run. Of a
run its last evaluation on the primary test set counts, where that kept the criteria of each problem, else its rollouts.

Items are matched by id. Where they have rubrics of their own, criteria are put together by --by category or --by tag;
a group's metric is the mean of what is good about its criteria: credit of a reward, 1 - credit of a penalty.

Examples:
  $ gradus profile graded.jsonl --svg profile.svg
  $ gradus profile after.jsonl --against before.jsonl
  $ gradus profile runs/b --against runs/a --json
  $ gradus profile graded.jsonl --rubric healthbench.jsonl --by category`

const steps = (text: string): readonly [number, number] => {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? []
  if (first === undefined || Number(last) < Number(first))
    throw new InvalidArgumentError('Expected steps such as 10-20.')
  return [Number(first), Number(last)]
}

/** Adds `gradus profile` to the program. `done` receives the exit code. */
export const addProfileCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('profile')
    .summary('how far each criterion is met')
    .description(
      'Satisfaction of each criterion with intervals, over a run or a graded file, or of two compared.',
    )
    .argument('<run|file>', 'run folder, or file of verdicts')
    .option('--against <run|file>', 'the model to compare with, on the same items')
    .option('--rubric <file>', 'rubric file: titles, points, categories, tags')
    .addOption(
      new Option('--by <what>', 'what is profiled')
        .choices(['criterion', 'category', 'tag'])
        .default('criterion'),
    )
    .addOption(new Option('--from <what>', 'of a run: which of its files').choices(['rollouts', 'eval']))
    .option('--set <name>', 'of a run: the test set')
    .option('--steps <a-b>', 'of a run: only rollouts of these steps', steps)
    .option('--svg <file>', 'write the picture there (.svg, or .html)')
    .option('--json', 'print the profile as JSON')
    .addHelpText('after', PROFILE_HELP)
    .action(async (source: string, options: ProfileCommandOptions) => {
      const { profileCommand } = await import('./profile.ts')
      await bringFiles(options.rubric)
      done(await profileCommand(source, options, io))
    })
}

const CHECK_HELP = `
A label is a row {"prompt"?, "response", "reference"?, "criterion": {"text", "points", "id"?}, "label": true | false};
prompt is a question or a list of messages. Rows with the same response are asked about together.

False accept: the share of criteria that are not met but were called met. False reject: the share that are met but were
called not met. Both by sign of points, over the verdicts that were given, with 95% intervals over responses.

With --json one line: {"all", "positive", "negative", "nullsAcceptable", "seconds", "verdictsPerSecond"}; each of the first three holds "rows", "judged",
"agreement", "kappa", "falseAccept", "falseReject", "nullRate", where rates are {"estimate", "low", "high", "level"}.

With --levels likelihood also how well likelihoods rank ("likelihood": "areaUnderCurve", "raw" and "calibrated" reliability,
"calibration"), calibrated on the labels of the other responses; --min-agreement is then of these calibrated verdicts.

With --preferences: the judge judges both answers of each pair that people chose from on the dashboard (page Pairs), and its
points order them. Reported are the share that it orders as people do, ties counting half (95%, Wilson), and how many points make
an answer e times as likely to be chosen. JSON: {"pairs", "decided", "nullRate", "agreement", "areaUnderCurve", "scale",
"calibrated"}.

Examples:
  $ gradus judge check --labels labels.jsonl --judge http://127.0.0.1:8000/v1 --model judge --min-agreement 0.9
  $ gradus judge check --preferences runs/mine --rubric rubric.yaml --judge http://127.0.0.1:8000/v1 --model judge`

const DEMONSTRATIONS_HELP = `
Keep labels of other responses for judge check: those that were learnt say nothing about the judge.

Example:
  $ gradus judge demonstrations labels.jsonl > verdicts.jsonl
  $ gradus train sft --set data=verdicts.jsonl --set model.folder=HuggingFaceTB/SmolLM2-135M-Instruct
  $ gradus judge check --labels others.jsonl --levels likelihood --judge runs/sft-seed1/checkpoints/step-000200`

const WINS_HELP = `
A row is {"id"?, "prompt", "response"}; rows with the same id, or the same prompt without one, are about the same question. Of
a response what stands before </think> is shown, without names; without </think> all of it. Ties are shared.

Shares of the wins have 95% intervals over questions. "By place" shows whether the order decided: it should be even.

Exit codes: 1 where a judge gave no usable answer, 100 below --min-wins.

Example:
  $ gradus judge wins orm.jsonl rit.jsonl --match-lengths 0.1 \\
      --judge http://127.0.0.1:8000/v1#judge-a http://127.0.0.1:8001/v1#judge-b`

/** Adds `gradus judge` to the program. `done` receives the exit code. */
export const addJudgeCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const judge = program
    .command('judge')
    .summary('measure a judge')
    .description('Measures judges before they are trusted with a reward.')
  const check = judge
    .command('check')
    .description(
      'Measures a judge against labels (agreement, false accepts, false rejects, missing verdicts), or what people prefer.',
    )
    .option('--labels <file.jsonl>', 'labelled verdicts')
    .option('--preferences <run or file>', 'in place of labels: pairs that people chose from')
    .option('--rubric <file>', 'with --preferences: the rubric that the judge judges both answers by')
    .requiredOption(
      '--judge <model>',
      'OpenAI-compatible endpoint of the judge, or URL#NAME; or a model that judges in this process: folder, name, GGUF',
    )
    .option('--model <name>', "the judge's model, where the address does not name it")
    .option('--api-key-env <name>', 'environment variable that holds the key of the endpoint')
    .addOption(callsOption())
  addCallOptions(addScaleOptions(check))
    .option('--concurrency <n>', 'responses and calls of the judge at a time', count, 64)
    .option('--threads <n>', 'threads of a judge in this process', count, 2)
    .option('--min-agreement <share>', 'fail with exit code 100 below this agreement', share)
    .option('--svg <file>', 'of likelihoods: write a picture of their reliability there (.svg, or .html)')
    .option('--json', 'print the result as one JSON line')
    .addHelpText('after', CHECK_HELP)
    .action(async (options: JudgeCheckOptions) => {
      const { judgeCheck } = await import('./judge-check.ts')
      await bringFiles(options.labels, options.rubric)
      done(await judgeCheck(options, io))
    })
  judge
    .command('demonstrations')
    .description(
      'Prints labelled verdicts as rows for sft: what a judge by likelihood is asked, and the right word.',
    )
    .argument('<labels.jsonl>', 'labelled verdicts, as for judge check')
    .addHelpText('after', DEMONSTRATIONS_HELP)
    .action(async (labels: string) => {
      const { judgeDemonstrations } = await import('./judge-check.ts')
      await bringFiles(labels)
      done(judgeDemonstrations(labels, io))
    })
  const wins = judge
    .command('wins')
    .description('Asks judges whose thinking is the best: every order shown, ties shared (RiT Fig. 6).')
    .argument('<responses...>', 'files of responses to the same questions, two or more')
    .requiredOption('--judge <url...>', 'OpenAI-compatible endpoints of judges, each URL#NAME or URL')
    .option('--model <name>', "the judges' model, where the address does not name it")
    .option('--api-key-env <name>', 'environment variable that holds the key of the endpoints')
    .option('--match-lengths <share>', 'only thinking whose lengths in words differ by this much', atLeast0)
  addCallOptions(wins)
    .option('--concurrency <n>', 'calls of a judge at a time', count, 64)
    .option('--min-wins <share>', 'fail with exit code 100 where the last file wins less often', share)
    .option('--json', 'print the result as one JSON line')
    .addHelpText('after', WINS_HELP)
    .action(async (files: string[], options: JudgeWinsOptions) => {
      const { judgeWins } = await import('./wins.ts')
      await bringFiles(...files)
      done(await judgeWins(files, options, io))
    })
}
