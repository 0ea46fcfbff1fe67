/** @file `gradus judge`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import type { Io } from '../io.ts'
import {
  atLeast0,
  callsOption,
  count,
  judgeRetriesOption,
  judgeTimeoutOption,
  judgeTokensOption,
  share,
} from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import type { JudgeCheckOptions } from './judge-check.ts'
import type { JudgeWinsOptions } from './wins.ts'

const HELP = `
A label is a row {"prompt"?, "response", "reference"?, "criterion": {"text", "points", "id"?}, "label": true | false};
prompt is a question or a list of messages. Rows with the same response are asked about together.

False accept: the share of criteria that are not met but were called met. False reject: the share that are met but were
called not met. Both by sign of points, over the verdicts that were given, with 95% intervals over responses.

With --json one line: {"all", "positive", "negative", "nullsAcceptable"}; each of the first three holds "rows", "judged",
"agreement", "kappa", "falseAccept", "falseReject", "nullRate", where rates are {"estimate", "low", "high", "level"}.

With --levels likelihood also how well likelihoods rank ("likelihood": "areaUnderCurve", "raw" and "calibrated" reliability,
"calibration"), calibrated on the labels of the other responses; --min-agreement is then of these calibrated verdicts.

With --preferences: the judge judges both answers of each pair that people chose from on the dashboard (page Pairs), and its
points order them. Told are the share that it orders as people do, ties counting half (95%, Wilson), and how many points make an
answer e times as likely to be chosen. JSON: {"pairs", "decided", "nullRate", "agreement", "areaUnderCurve", "scale", "calibrated"}.

Examples:
  $ gradus judge check --labels labels.jsonl --judge http://127.0.0.1:8000/v1 --model judge --min-agreement 0.9
  $ gradus judge check --preferences runs/mine --rubric rubric.yaml --judge http://127.0.0.1:8000/v1 --model judge`

const WINS_HELP = `
A row is {"id"?, "prompt", "response"}; rows with the same id, or the same prompt without one, are about the same question. Of
a response what stands before </think> is shown, without names; without </think> all of it. Ties are shared.

Shares of the wins have 95% intervals over questions. "By place" tells whether the order decided: it should be even.

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
  judge
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
    .addOption(
      new Option(
        '--levels <scale>',
        'scale of the verdicts; likelihood: of the word Yes, which needs log-probs',
      )
        .choices(['yes-no', 'likelihood', 'levels'])
        .default('yes-no'),
    )
    .option('--cache <dir>', 'folder of verdicts to reuse and add to')
    .addOption(judgeTimeoutOption())
    .addOption(judgeRetriesOption())
    .addOption(judgeTokensOption())
    .option('--concurrency <n>', 'responses and calls of the judge at a time', count, 64)
    .option('--threads <n>', 'threads of a judge in this process', count, 2)
    .option('--min-agreement <share>', 'fail with exit code 100 below this agreement', share)
    .option('--json', 'print the result as one JSON line')
    .addHelpText('after', HELP)
    .action(async (options: JudgeCheckOptions) => {
      const { judgeCheck } = await import('./judge-check.ts')
      await bringFiles(options.labels, options.rubric)
      done(await judgeCheck(options, io))
    })
  judge
    .command('wins')
    .description('Asks judges whose thinking is the best: every order shown, ties shared (RiT Fig. 6).')
    .argument('<responses...>', 'files of responses to the same questions, two or more')
    .requiredOption('--judge <url...>', 'OpenAI-compatible endpoints of judges, each URL#NAME or URL')
    .option('--model <name>', "the judges' model, where the address does not name it")
    .option('--api-key-env <name>', 'environment variable that holds the key of the endpoints')
    .option('--match-lengths <share>', 'only thinking whose lengths in words differ by this much', atLeast0)
    .option('--cache <dir>', 'folder of verdicts to reuse and add to')
    .addOption(judgeTimeoutOption())
    .addOption(judgeRetriesOption())
    .addOption(judgeTokensOption())
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
