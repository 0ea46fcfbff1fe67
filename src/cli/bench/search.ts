/** @file `gradus bench search`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchSearchOptions {
  passages?: number
  queries?: number
  quick?: boolean
  json?: boolean
}

const HELP = `
Passages of 30 to 60 made-up words with frequencies like those of English; queries of 4 to 12 words of a passage. A million
passages take about a gigabyte of memory and half a gigabyte in the folder of temporary files.

Examples:
  $ gradus bench search
  $ gradus bench search --passages 20000 --json`

/** For a first look. */
const QUICK = { passages: 50_000 }

/** Adds `search` to `gradus bench`. `done` receives the exit code. */
export const addBenchSearch = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('search')
    .description('A local search index: time to build and to ask it, memory, bytes.')
    .option('--passages <n>', 'passages of the index (default: 1000000)', count)
    .option('--queries <n>', 'queries that are asked (default: 300)', count)
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchSearchOptions, command: Command) => {
      const { passages, queries } = firstLook(command, given, QUICK)
      const { benchSearch, formatSearchBenchmark } = await import('../../bench/search.ts')
      const limits = { ...(passages && { passages }), ...(queries && { queries }) }
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'about two minutes' },
        onProgress => benchSearch({ ...limits, onProgress }),
        formatSearchBenchmark,
      )
      done(EXIT.ok)
    })
}
