/** @file `gradus bench overlap`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchOverlapOptions {
  latency?: number
  slots?: number
  steps?: number
  rounds?: number
  threads?: number
  rows?: number
  quick?: boolean
  json?: boolean
}

const HELP = `
Trains the same few steps of a small model with a judge that only takes time: graded after sampling, graded while sampling
goes on, and with the next step sampled ahead, by the same engine or by one of its own. Two engines share the threads, at
least one each, so their stages are measured apart. Every round is compared with the stages measured in it. At the end stands
whether the claim RUS-9 holds: a step graded while sampling within 15% of max(rollout, reward) + update, by a test over the
rounds. Run it on an idle machine; it takes ten minutes. With --quick it has one round of a quarter of the rollouts, which decides no claim.

Examples:
  $ gradus bench overlap
  $ gradus bench overlap --quick
  $ gradus bench overlap --latency 200 --slots 32 --json`

/** Adds `overlap` to `gradus bench`. `done` receives the exit code. */
export const addBenchOverlap = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('overlap')
    .description("How much of a judge's latency training hides.")
    .option('--latency <ms>', 'milliseconds that the judge takes for a rollout', count, 100)
    .option('--slots <n>', 'rollouts that the judge takes at a time', count, 16)
    .option('--steps <n>', 'steps of each kind in a round', count, 2)
    .option('--rounds <n>', 'rounds, in which all kinds take turns; medians are reported', count)
    .option('--threads <n>', 'threads of one engine, shared by two', count, 2)
    .option('--rows <n>', 'rollouts that are decoded together (policy.maxRows)', count)
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchOverlapOptions, command: Command) => {
      const { latency, ...options } = firstLook(command, given, { rounds: 1, steps: 1 })
      const { benchOverlap, formatOverlapBenchmark } = await import('../../bench/overlap.ts')
      const settings = { ...(given.quick && { prompts: 8, rows: 16 }), ...options, latencyMs: latency }
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'about ten minutes' },
        onProgress => benchOverlap({ ...settings, onProgress }),
        formatOverlapBenchmark,
      )
      done(EXIT.ok)
    })
}
