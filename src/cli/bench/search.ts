/** @file `gradus bench search`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { jsonOption, runBenchmark } from './run.ts'

interface BenchSearchOptions {
  passages?: number
  queries?: number
  json?: boolean
}

const HELP = `
Passages of 30 to 60 made-up words with frequencies like those of English; queries of 4 to 12 words of a passage. A million
passages take about a gigabyte of memory and half a gigabyte in the folder of temporary files.

Examples:
  $ gradus bench search
  $ gradus bench search --passages 20000 --json`

/** Adds `search` to `gradus bench`. `done` receives the exit code. */
export const addBenchSearch = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('search')
    .description('A local search index: time to build and to ask it, memory, bytes.')
    .option('--passages <n>', 'passages of the index (default: 1000000)', count)
    .option('--queries <n>', 'queries that are asked (default: 300)', count)
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, passages, queries }: BenchSearchOptions) => {
      const { benchSearch, formatSearchBenchmark } = await import('../../bench/search.ts')
      const limits = { ...(passages && { passages }), ...(queries && { queries }) }
      await runBenchmark(
        io,
        json,
        onProgress => benchSearch({ ...limits, onProgress }),
        formatSearchBenchmark,
      )
      done(EXIT.ok)
    })
}
