/** @file `gradus score`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { RULE_TEXTS, type RuleText, WRAPPER_TEXTS } from '../../rubric/rule-names.ts'
import type { Io } from '../io.ts'
import { above0, anyNumber, nullsOption, share } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import type { ScoreCommandOptions } from './score.ts'

const line = ([name, { formula, source, aliases }]: [string, RuleText]) => {
  const also = aliases.length > 0 ? `; also ${aliases.join(', ')}` : ''
  return `  ${name.padEnd(12)} ${formula}\n${' '.repeat(15)}(${source}${also})`
}

const HELP = `
Rules. p: points; c: credit, 1 for a criterion that is met; g: what is good about it, c, or 1 - c for a penalty (p < 0).
${Object.entries(RULE_TEXTS).map(line).join('\n')}

Around a rule, as veto(signed) or saturation(mean); alone, around all-weights:
${Object.entries(WRAPPER_TEXTS).map(line).join('\n')}

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
    .addHelpText('after', HELP)
    .action(async (file: string, options: ScoreCommandOptions) => {
      const { scoreCommand } = await import('./score.ts')
      await bringFiles(file)
      done(scoreCommand(file, options, io))
    })
}
