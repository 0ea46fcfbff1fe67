/** @file `gradus bench memory`: options; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { jsonOption, runBenchmark } from './run.ts'

interface BenchMemoryOptions {
  items: number
  dims: number
  top: number
  queries: number
  json?: boolean
}

/** Adds `memory` to `gradus bench`. `done` receives the exit code. */
export const addBenchMemory = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('memory')
    .description('How fast a bank of lessons finds the questions most like another one.')
    .option('--items <n>', 'items of the bank', count, 100_000)
    .option('--dims <n>', 'dimensions of their vectors', count, 256)
    .option('--top <n>', 'items that a query finds', count, 2)
    .option('--queries <n>', 'queries, one after the other', count, 200)
    .addOption(jsonOption())
    .action(async ({ json, ...options }: BenchMemoryOptions) => {
      const { benchMemory, formatMemoryBenchmark } = await import('../../bench/memory.ts')
      await runBenchmark(
        io,
        { json, takes: 'a few seconds' },
        onProgress => benchMemory({ ...options, onProgress }),
        formatMemoryBenchmark,
      )
      done(EXIT.ok)
    })
}
