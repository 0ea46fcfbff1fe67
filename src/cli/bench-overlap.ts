/** @file `gradus bench overlap`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, InvalidArgumentError } from 'commander'
import type { OverlapBenchmark } from '../train/bench-overlap.ts'
import { EXIT, type Io, printJson } from './io.ts'

interface BenchOverlapOptions {
  latency?: number
  slots?: number
  steps?: number
  threads?: number
  json?: boolean
}

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || value <= 0)
    throw new InvalidArgumentError('Expected a whole number above 0.')
  return value
}

const HELP = `
Trains the same few steps of a small model three times, with a judge that only takes time: graded after sampling, graded
while sampling goes on, and with the next step sampled ahead. Run it on an idle machine; it takes about a minute.

Examples:
  $ gradus bench overlap
  $ gradus bench overlap --latency 200 --slots 32 --json`

/** Adds `overlap` to `gradus bench`. `done` receives the exit code. */
export const addBenchOverlap = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('overlap')
    .description("How much of a judge's latency training hides.")
    .option('--latency <ms>', 'milliseconds that the judge takes for a rollout', count, 100)
    .option('--slots <n>', 'rollouts that the judge takes at a time', count, 16)
    .option('--steps <n>', 'steps of each kind', count, 6)
    .option('--threads <n>', 'threads of the engine', count, 2)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json, latency, ...options }: BenchOverlapOptions) => {
      const { benchOverlap } = await import('../train/bench-overlap.ts')
      const onProgress = (line: string) => io.err.write(`${line}\n`)
      const result = await benchOverlap({ ...options, latencyMs: latency, ...(!json && { onProgress }) })
      if (json) printJson(io, result)
      else io.out.write(`${formatOverlapBenchmark(result)}\n`)
      done(EXIT.ok)
    })
}

/** The result for people, a line a figure. */
export const formatOverlapBenchmark = (result: OverlapBenchmark): string => {
  const seconds = (value: number) => `${value.toFixed(2)} s`
  const lines = [
    ['rollout', seconds(result.rolloutS), ''],
    ['reward', seconds(result.rewardS), ''],
    ['update', seconds(result.updateS), ''],
    ['step, graded after sampling', seconds(result.syncS), ''],
    [
      'step, graded while sampling',
      seconds(result.overlapS),
      `${result.overlapToFormula.toFixed(2)} x (max(rollout, reward) + update)`,
    ],
    [
      'step, sampled ahead',
      seconds(result.pipelinedS),
      `${result.pipelinedToFormula.toFixed(2)} x max(rollout + update, reward)`,
    ],
  ]
  return lines
    .map(([name, value, note]) => `${name.padEnd(29)} ${value.padStart(8)}  ${note}`.trimEnd())
    .join('\n')
}
