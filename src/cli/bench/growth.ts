/** @file `gradus bench growth`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchGrowthOptions {
  threads?: number
  rounds?: number
  largest?: number
  quick?: boolean
  json?: boolean
}

const HELP = `
Batches of 1 to 256, contexts of 64 to 2,048 tokens, models of 0.3 to 100 million weights: each grows alone, from the standard size of
\`gradus bench engine\`, which is measured before and after every other one. "x proportional": seconds an operation over those of the
standard size; 1 means that time grows as arithmetic does. Run it on an idle machine; it takes a quarter of an hour.

Examples:
  $ gradus bench growth
  $ gradus bench growth --largest 10 --json`

/** For a first look. */
const QUICK = { rounds: 1, largest: 1 }

/** Adds `growth` to \`gradus bench\`. `done` receives the exit code. */
export const addBenchGrowth = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('growth')
    .description('How time grows with batch, context and model.')
    .option('--threads <n>', 'all cores by default', count)
    .option('--rounds <n>', 'times everything is measured; medians are reported (default: 2)', count)
    .option('--largest <m>', 'largest model, in millions of weights (default: 100)', count)
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchGrowthOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { benchGrowth, formatGrowthBenchmark } = await import('../../bench/growth.ts')
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'a quarter of an hour' },
        onProgress => benchGrowth({ ...options, onProgress }),
        formatGrowthBenchmark,
      )
      done(EXIT.ok)
    })
}
