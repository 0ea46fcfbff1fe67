/** @file `gradus bench engine`: options; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
import { EXIT, type Io } from '../io.ts'
import { count } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchEngineOptions {
  provider?: 'cpu' | 'webgpu'
  shape?: 'standard' | '30m' | '130m'
  model?: string
  threads?: number
  engines?: number
  rounds?: number
  recompute?: boolean
  arena?: boolean
  microBatchTokens?: number
  quick?: boolean
  json?: boolean
}

/** For a first look. */
const QUICK = { rounds: 1 }

/** Adds `engine` to `gradus bench`. `done` receives the exit code. */
export const addBenchEngine = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('engine')
    .description(
      'Training and decoding on the standard workload, beside the matrix product of the same runtime.',
    )
    .addOption(new Option('--provider <name>', 'what computes; cpu by default').choices(['cpu', 'webgpu']))
    .addOption(
      new Option('--shape <name>', 'size of the model in weights; standard has 3.3 million').choices([
        'standard',
        '30m',
        '130m',
      ]),
    )
    .option('--model <folder>', 'a model whose shape is measured in place of these')
    .option('--threads <n>', 'threads of the engine; all cores by default', count)
    .option(
      '--engines <n>',
      'engines that share the work and the threads, as `policy.engines` (default: 2 for a small model on two threads or more)',
      count,
    )
    .option('--rounds <n>', 'times everything is measured; medians are reported', count)
    .option('--recompute', 'train as `policy.recompute` does: less memory, more time')
    .option('--no-arena', 'memory is given back as `policy.arena: false` does')
    .option(
      '--micro-batch-tokens <n>',
      'as `policy.microBatchTokens` (default: 2048): fewer take less memory',
      count,
    )
    .addOption(quickOption())
    .addOption(jsonOption())
    .action(async ({ json, ...given }: BenchEngineOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { benchEngine, formatEngineBenchmark } = await import('../../bench/engine.ts')
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'about two minutes, longer with a larger model' },
        onProgress => benchEngine({ ...options, onProgress }),
        formatEngineBenchmark,
      )
      done(EXIT.ok)
    })
}
