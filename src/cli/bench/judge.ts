/** @file `gradus bench judge`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchJudgeOptions {
  quick?: boolean
  serverRequests?: number
  json?: boolean
}

/** Time for each figure, for a first look. */
const QUICK_MS = 2_000

const HELP = `
The judge is a script in another process that answers at once, or after 200 ms; every verdict is compared with what the
script holds for true. Run it on an idle machine; it takes about a minute.

Examples:
  $ gradus bench judge
  $ gradus bench judge --quick --json
  $ gradus bench judge --server-requests 100000     # memory of the reward server over many requests`

/** Adds `judge` to `gradus bench`. `done` receives the exit code. */
export const addBenchJudge = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('judge')
    .description('What Gradus adds to a judge: verdicts a second, latency, cache, reward server.')
    .addOption(quickOption())
    .option('--server-requests <n>', 'so many requests to the reward server', count)
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, quick, serverRequests }: BenchJudgeOptions) => {
      const { benchJudge, formatJudgeBenchmark } = await import('../../bench/judge.ts')
      const limits = { durationMs: quick ? QUICK_MS : undefined, serverRequests }
      await runBenchmark(
        io,
        { json, quick, takes: 'about a minute' },
        onProgress => benchJudge({ ...limits, onProgress }),
        formatJudgeBenchmark,
      )
      done(EXIT.ok)
    })
}
