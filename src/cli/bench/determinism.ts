/** @file `gradus bench determinism`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchDeterminismOptions {
  runs: number
  threads: number
  only?: string
  quick?: boolean
  json?: boolean
}

const HELP = `
Every operation of the tensor runtime with its gradient, at four sizes around those where the runtime divides the work; the
kernels of the optimiser, the choice of tokens, a short training, and sampling while another engine learns. Another process
keeps a core busy meanwhile, so that threads are held up in the middle of what they do. It takes a quarter of an hour on two
idle cores. The exit code is 1 where a run gives other bits than the first, or numbers that are not those of one thread and
of plain float64 arithmetic but for rounding. Other bits than those of one thread are marked and are no failure.

Examples:
  $ gradus bench determinism
  $ gradus bench determinism --only matmul --runs 200
  $ gradus bench determinism --threads 4 --json > ops.json`

/** For a first look. */
const QUICK = { runs: 3 }

/** Adds `determinism` to `gradus bench`. `done` receives the exit code. */
export const addBenchDeterminism = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('determinism')
    .description('Whether everything that computes numbers gives the same bits in every run.')
    .option('--runs <n>', 'runs of every operation at every size', count, 50)
    .option('--threads <n>', 'threads inside one operation', count, 2)
    .option('--only <name>', 'one operation: matmul, or one of its cases: "matmul/one column"')
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, ...given }: BenchDeterminismOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { benchDeterminism, formatDeterminismBenchmark } = await import('../../bench/determinism.ts')
      const result = await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'a quarter of an hour' },
        onProgress => benchDeterminism({ ...options, onProgress }),
        formatDeterminismBenchmark,
      )
      done(result.wrong.length > 0 ? EXIT.failed : EXIT.ok)
    })
}
