/** @file The command line: commands, options, help. Each command's own file is loaded only when it runs. */

import { Command, CommanderError, Option } from 'commander'
import { packageVersion } from '../util/package.ts'
import { addBenchJudge } from './bench-judge.ts'
import { addBenchOverlap } from './bench-overlap.ts'
import type { EvalOptions } from './eval.ts'
import { addExperimentCommand } from './experiment-command.ts'
import { addGradeCommand } from './grade-command.ts'
import { addInitCommand } from './init-command.ts'
import { describeError, EXIT, exitCodeOf, type Io } from './io.ts'
import { addJudgeCommand } from './judge-command.ts'
import { atLeast0, count, countOr0, share } from './option-values.ts'
import { addProfileCommand } from './profile-command.ts'
import { addRubricCommand } from './rubric-command.ts'
import type { SampleOptions } from './sample.ts'
import { addScoreCommand } from './score-command.ts'
import { addServeCommand } from './serve-command.ts'
import { addSolverOptions, type SolverCommandOptions } from './solver-options.ts'
import type { TrainOptions } from './train.ts'
import { addVerifyInstructions } from './verify-instructions.ts'
import { addVerifyMath } from './verify-math.ts'

const tokenIds = (text: string): number[] => text.split(',').map(countOr0)

const threads = () => new Option('--threads <n>', 'threads of the engine').argParser(count).default(2)

/** Recipes and presets as they are; loaded only where the help of `train` is asked for. */
const recipeHelp = async (args: readonly string[]): Promise<string> => {
  const asked = args.includes('train') && args.some(arg => ['-h', '--help', 'help'].includes(arg))
  if (!asked) return ''
  const { RECIPES } = await import('../recipes/index.ts')
  const width = Math.max(...Object.keys(RECIPES).map(name => name.length))
  const describe = (name: string, presets: object) => {
    const [first, ...others] = Object.keys(presets)
    return `  ${name.padEnd(width)}  ${[`${first} (default)`, ...others].join(', ')}`
  }
  const lines = Object.values(RECIPES).map(({ name, presets }) => describe(name, presets))
  return `\nRecipes and their presets:\n${lines.join('\n')}\n`
}

const TRAIN_HELP = `
Settings come from, each over the one before: defaults, preset, YAML file, --set.
A YAML file names its recipe ("recipe: rubric-as-reward"); its other keys are the recipe's settings.

Examples:
  $ gradus train rubric-as-reward
  $ gradus train rubric-as-reward --preset full --out runs/full
  $ gradus train rubric-as-reward --preset paper --dry-run
  $ gradus train logic.yaml --set seed=2 --set rollout.samples=16
  $ gradus train rubric-as-reward --resume

Ctrl+C finishes the step, saves and prints the command that goes on; twice quits at once.`

const EVAL_HELP = `
The file has ProntoQA rows: {id, context, question, options, answer}.
Exit code 100 when a figure is below what --min-accuracy or --min-valid-proofs asked for.

Examples:
  $ gradus eval --task logic --model runs/a/checkpoints/step-000060 --data dev.jsonl
  $ gradus eval --task logic --model models/logic-start --data dev.jsonl --json --min-accuracy 0.95`

const SAMPLE_HELP = `
Examples:
  $ gradus sample --model models/logic-start --prompt "Every wumpus is a zumpus. ..." --max-tokens 96
  $ gradus sample --model stories260K --prompt-tokens 1 --temperature 0 --max-tokens 64 --json`

const VERIFY_HELP = `
Prints one JSON line a row. For FOLIO rows {premises, premises-FOL, conclusion-FOL, ...}: {"label", "reason"}.
For rows {"premises": [...], "steps": [...]}: {"steps": [{"credit", "status"}]}.

Example:
  $ gradus verify logic folio-validation.jsonl`

const ROOT_HELP = `
Exit codes: 0 fine, 1 error, 2 wrong command line, 100 below a threshold that was asked for, 130 interrupted.
GRADUS_DEBUG=1 prints the stack of an error.

Examples:
  $ gradus train rubric-as-reward
  $ gradus report runs/rubric-as-reward-quick-seed1
  $ gradus compare runs/a runs/b`

type SetExit = (code: number) => void

const addTrain = (program: Command, io: Io, done: SetExit, recipes: string) =>
  program
    .command('train')
    .summary('train a model by a recipe')
    .description(
      'Trains a model by a recipe, or by a YAML file that names one; leaves a run folder with a report.',
    )
    .argument('<recipe|file.yaml>', 'name of a recipe, or path of a YAML file')
    .option('-p, --preset <name>', 'named settings of the recipe')
    .option('-s, --set <key=value...>', 'change one setting: dotted key, YAML value; may be repeated')
    .option('-o, --out <dir>', 'folder of the run')
    .option('--resume', 'go on from the latest checkpoint')
    .option('--dry-run', 'print the plan and a memory estimate, run nothing')
    .option('--json', 'print the result as JSON, no progress')
    .option('-q, --quiet', 'no progress')
    .addHelpText('after', `${recipes}${TRAIN_HELP}`)
    .action(async (target: string, options: TrainOptions) => {
      const { trainCommand } = await import('./train.ts')
      done(await trainCommand(target, options, io))
    })

const addEval = (program: Command, io: Io, done: SetExit) => {
  const command = program
    .command('eval')
    .summary('evaluate a checkpoint on a file of problems')
    .description(
      'Evaluates a checkpoint: answers, proofs, the five criteria, and shallow baselines beside them.',
    )
    .addOption(new Option('--task <name>', 'kind of problems').choices(['logic']).makeOptionMandatory())
    .requiredOption('--model <dir>', 'checkpoint folder')
    .requiredOption('--data <file.jsonl>', 'problems')
    .option('--samples <n>', 'samples a problem; needs --temperature', count, 1)
    .option('--temperature <t>', 'sampling temperature; 0 is greedy', atLeast0, 0)
    .option('--max-tokens <n>', 'most new tokens a response', count)
    .option('--seed <s>', 'seed of sampling', '1')
    .option('--limit <n>', 'only the first n problems', count)
    .addOption(threads())
    .option('--judge <url>', 'OpenAI-compatible endpoint that judges C4 and C5 as well')
    .option('--judge-model <name>', "the judge's model")
    .option('--api-key-env <name>', "environment variable that holds the endpoint's key")
    .option('--cache <dir>', "folder of the judge's verdicts to reuse and add to")
  addSolverOptions(command, false)
    .option('--min-accuracy <share>', 'fail with exit code 100 below this accuracy', share)
    .option('--min-valid-proofs <share>', 'fail with exit code 100 below this share of valid proofs', share)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', EVAL_HELP)
    .action(async (options: EvalOptions) => {
      const { evalCommand } = await import('./eval.ts')
      done(await evalCommand(options, io))
    })
}

const addSample = (program: Command, io: Io, done: SetExit) =>
  program
    .command('sample')
    .summary('continue a prompt')
    .description(
      'Continues one prompt, given as text or as token ids; prints the new text or, with --json, tokens too.',
    )
    .requiredOption('--model <dir>', 'checkpoint folder')
    .option('--prompt <text>', 'prompt as text; needs a tokenizer in the folder')
    .option('--prompt-tokens <ids>', 'prompt as token ids: 1,2,3', tokenIds)
    .option('--max-tokens <n>', 'most new tokens', count, 128)
    .option('--temperature <t>', 'sampling temperature; 0 is greedy', atLeast0, 1)
    .option('--top-k <k>', 'only the k likeliest tokens; 0: all', countOr0, 0)
    .option('--top-p <p>', 'only the likeliest tokens that together reach this probability', share, 1)
    .option('--seed <s>', 'seed of sampling', '1')
    .addOption(threads())
    .option('--json', 'print {tokens, logprobs, text, finishReason}')
    .addHelpText('after', SAMPLE_HELP)
    .action(async (options: SampleOptions) => {
      const { sampleCommand } = await import('./sample.ts')
      done(await sampleCommand(options, io))
    })

const addVerify = (program: Command, io: Io, done: SetExit) => {
  const verify = program
    .command('verify')
    .summary('check answers, instructions or reasoning by rule')
    .description('Checks responses without a model: logic by a solver, mathematics, instructions.')
  const logic = verify
    .command('logic')
    .description('Verifies logic problems or reasoning steps with Z3.')
    .argument('<file.jsonl>', 'rows to verify')
  addSolverOptions(logic, true)
    .addHelpText('after', VERIFY_HELP)
    .action(async (file: string, options: SolverCommandOptions) => {
      const { verifyLogic } = await import('./verify.ts')
      done(await verifyLogic(file, options))
    })
  addVerifyMath(verify, io, done)
  addVerifyInstructions(verify, io, done)
}

const addRuns = (program: Command, io: Io, done: SetExit) => {
  program
    .command('report')
    .summary("write a run's report")
    .description('Writes the HTML report of a run, finished or not, and prints its path.')
    .argument('<run>', 'run folder')
    .option('--json', 'print {report} as JSON')
    .action(async (run: string, options: { json?: boolean }) => {
      const { reportCommand } = await import('./report.ts')
      done(reportCommand(run, options, io))
    })
  program
    .command('compare')
    .summary('compare two runs')
    .description('Compares two runs: evaluations with paired intervals, metrics, and settings that differ.')
    .argument('<run-a>', 'run folder')
    .argument('<run-b>', 'run folder')
    .option('--json', 'print the comparison as JSON')
    .action(async (a: string, b: string, options: { json?: boolean }) => {
      const { compareCommand } = await import('./compare.ts')
      done(compareCommand(a, b, options, io))
    })
}

const addBench = (program: Command, io: Io, done: SetExit) => {
  const bench = program
    .command('bench')
    .summary('measure this machine')
    .description('Measures what Gradus makes of this machine.')
  bench
    .command('engine')
    .description(
      'Training and decoding on the standard workload, beside the matrix product of the same runtime.',
    )
    .option('--threads <n>', 'threads of the engine; all cores by default', count)
    .option('--rounds <n>', 'times everything is measured; medians are reported', count)
    .option('--json', 'print the result as JSON')
    .action(async ({ json, ...options }: { threads?: number; rounds?: number; json?: boolean }) => {
      const { benchEngine, formatBenchmark } = await import('./bench.ts')
      const onProgress = json ? undefined : (line: string) => io.err.write(`${line}\n`)
      const result = await benchEngine({ ...options, onProgress })
      io.out.write(`${json ? JSON.stringify(result) : formatBenchmark(result)}\n`)
      done(EXIT.ok)
    })
  addBenchJudge(bench, io, done)
  addBenchOverlap(bench, io, done)
}

const buildProgram = (io: Io, done: SetExit, recipes: string): Command => {
  const program = new Command('gradus')
    .description('Rubric-based reinforcement learning for language models.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('(--help shows how)')
    .configureOutput({ writeOut: text => io.out.write(text), writeErr: text => io.err.write(text) })
    .exitOverride()
    .addHelpText('after', ROOT_HELP)
  addTrain(program, io, done, recipes)
  addEval(program, io, done)
  addSample(program, io, done)
  addVerify(program, io, done)
  addGradeCommand(program, io, done)
  addScoreCommand(program, io, done)
  addProfileCommand(program, io, done)
  addJudgeCommand(program, io, done)
  addRubricCommand(program, io, done)
  addServeCommand(program, io, done)
  addInitCommand(program, io, done)
  addRuns(program, io, done)
  addExperimentCommand(program, io, done)
  addBench(program, io, done)
  return program
}

/** Runs a command line (without node and script). Returns the exit code; never throws. */
export const runCli = async (args: readonly string[], io: Io): Promise<number> => {
  let exitCode: number = EXIT.ok
  const setExit = (code: number) => {
    exitCode = code
  }
  const program = buildProgram(io, setExit, await recipeHelp(args))
  if (args.length === 0) {
    io.err.write(program.helpInformation())
    return EXIT.usage
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has printed its message by now; its code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    io.err.write(`gradus: ${describeError(error)}\n`)
    return exitCodeOf(error)
  }
}
