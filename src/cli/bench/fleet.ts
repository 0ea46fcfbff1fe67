/** @file `gradus bench fleet`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { jsonOption, runBenchmark } from './run.ts'

interface BenchFleetOptions {
  rate: number
  seconds: number
  endpoints: number
  concurrency: number
  seed: string
  json?: boolean
}

const HELP = `
The scheduler is the one that trainings and servers use; the servers and the clock are simulated, so that a minute of them takes
less than a minute. Answers take 0.7 s in the middle, one in a hundred far longer, one in a hundred fails. Of fifty endpoints
five are slow, four answer 429 beyond a quota, two have a limit that the scheduler knows, and from a third of the time to the
half of it two refuse connections, two do so and then take calls without answering, and one takes calls and never answers. Everything is the same for the same seed, but for
the processor's time. Exit code 1 when an answer was mixed up or a call had no end.

Examples:
  $ gradus bench fleet
  $ gradus bench fleet --rate 1000 --seconds 30 --concurrency 26
  $ gradus bench fleet --endpoints 200 --concurrency 64 --json`

/** Adds `fleet` to `gradus bench`. `done` receives the exit code. */
export const addBenchFleet = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('fleet')
    .description(
      'Ten thousand judge calls a second over a simulated fleet in trouble, by the real scheduler.',
    )
    .option('--rate <n>', 'calls a second', count, 10_000)
    .option('--seconds <n>', 'seconds of the clock in which calls come', count, 60)
    .option('--endpoints <n>', 'servers of the fleet', count, 50)
    .option('--concurrency <n>', 'calls that a server takes at a time', count, 256)
    .option('--seed <text>', 'decides what happens when', 'fleet')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, rate, ...options }: BenchFleetOptions) => {
      const { benchFleet, formatFleetBenchmark } = await import('../../bench/fleet/fleet.ts')
      const scenario = { ...options, callsPerSecond: rate }
      const result = await runBenchmark(
        io,
        { json, takes: 'less than a minute' },
        onProgress => benchFleet({ ...scenario, onProgress }),
        formatFleetBenchmark,
      )
      const lost = result.calls - result.answered - result.failed
      done(result.wrong > 0 || lost !== 0 ? EXIT.failed : EXIT.ok)
    })
}
