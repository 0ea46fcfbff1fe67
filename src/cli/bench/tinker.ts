/** @file `gradus bench tinker`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchTinkerOptions {
  steps?: number
  prompts?: number
  samples?: number
  maxTokens?: number
  quick?: boolean
  json?: boolean
}

const HELP = `
The service is \`gradus serve tinker\` with one thread and a model of 0.8 million weights, in another process: with any larger
model the client's part is smaller. Processor time is compared rather than the clock's, because other work on the machine would
make a step longer and the client's part of it smaller; that other work still makes processors slower. Samples end where the model
ends them.

Examples:
  $ gradus bench tinker
  $ gradus bench tinker --prompts 64 --max-tokens 128 --json`

/** For a first look. */
const QUICK = { steps: 2, prompts: 8 }

/** Adds `tinker` to `gradus bench`. `done` receives the exit code. */
export const addBenchTinker = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('tinker')
    .description('What the client of a training service adds to a step.')
    .option('--steps <n>', 'steps that are measured (default: 5)', count)
    .option('--prompts <n>', 'groups of a step (default: 16)', count)
    .option('--samples <n>', 'samples of a group (default: 8)', count)
    .option('--max-tokens <n>', 'tokens of a sample (default: 64)', count)
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchTinkerOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { benchTinker, formatTinkerBenchmark } = await import('../../bench/tinker.ts')
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'about a minute' },
        onProgress => benchTinker({ ...options, onProgress }),
        formatTinkerBenchmark,
      )
      done(EXIT.ok)
    })
}
