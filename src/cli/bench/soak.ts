/** @file `gradus bench soak`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchSoakOptions {
  requests: number
  inWork: number
  seed: string
  quick?: boolean
  json?: boolean
}

const HELP = `
Small and large, good and hostile requests on all routes, judged ones with a judge that fails often, clients that go away,
bodies that come slowly; each with the statuses that it may get. In the end the server is stopped in the middle of a burst.
Exit code 1 when a request got no answer, a wrong one or a 500, when /healthz failed, or when memory grew by a fifth.

Examples:
  $ gradus bench soak --requests 5000
  $ gradus bench soak --json > soak.json`

/** For a first look. */
const QUICK = { requests: 5_000 }

/** Adds `soak` to `gradus bench`. `done` receives the exit code. */
export const addBenchSoak = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('soak')
    .description('Very many mixed requests to a reward server: answers, memory, health, drain.')
    .option('--requests <n>', 'requests at least', count, 200_000)
    .option('--in-work <n>', 'requests under way at once', count, 32)
    .option('--seed <text>', 'decides which requests come in which order', 'soak')
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchSoakOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { benchSoak, formatSoak } = await import('../../bench/soak/soak.ts')
      let failed = false
      const measure = async (onProgress?: (line: string) => void) => {
        const result = await benchSoak({ ...options, onProgress })
        failed = result.failures.length > 0
        return result
      }
      await runBenchmark(io, { json, quick: given.quick, takes: 'about six minutes' }, measure, formatSoak)
      done(failed ? EXIT.failed : EXIT.ok)
    })
}
