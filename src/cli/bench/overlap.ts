/** @file `gradus bench overlap`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { OverlapBenchmark } from '../../bench/overlap.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { count } from '../option-values.ts'

interface BenchOverlapOptions {
  latency?: number
  slots?: number
  steps?: number
  rounds?: number
  threads?: number
  rows?: number
  json?: boolean
}

const HELP = `
Trains the same few steps of a small model with a judge that only takes time: graded after sampling, graded while sampling
goes on, and with the next step sampled ahead, by the same engine or by one of its own. Two engines share the threads, at
least one each, so their stages are measured apart. Every round is compared with the stages measured in it. Run it on an idle
machine; it takes seven minutes.

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
    .option('--steps <n>', 'steps of each kind in a round', count, 2)
    .option('--rounds <n>', 'rounds, in which all kinds take turns; medians are reported', count, 4)
    .option('--threads <n>', 'threads of one engine, shared by two', count, 2)
    .option('--rows <n>', 'rollouts that are decoded together (policy.maxRows)', count, 128)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json, latency, ...options }: BenchOverlapOptions) => {
      const { benchOverlap } = await import('../../bench/overlap.ts')
      const onProgress = (line: string) => io.err.write(`${line}\n`)
      const result = await benchOverlap({ ...options, latencyMs: latency, onProgress })
      if (json) printJson(io, result)
      else io.out.write(`${formatOverlapBenchmark(result)}\n`)
      done(EXIT.ok)
    })
}

/** The result for people, a line a figure. */
export const formatOverlapBenchmark = (result: OverlapBenchmark): string => {
  const seconds = (value: number) => value.toFixed(2)
  const { threads, rolloutS, rewardS, updateS, twoEngines: two } = result
  const [rollout, reward, update] = [rolloutS, rewardS, updateS].map(seconds)
  const own = [two.rolloutS, two.rewardS, two.updateS].map(seconds)
  const shared = `${two.samplerThreads} + ${two.trainerThreads} threads`
  const stages = (which: string, times: readonly string[], note: string): Line[] =>
    ['rollout', 'reward', 'update'].map((stage, i) => [`${stage}, ${which}`, times[i], note])
  const step = (name: string, value: number, ratio: number, formula: string): Line => [
    `step, ${name}`,
    seconds(value),
    `${ratio.toFixed(2)} x ${formula}`,
  ]
  const lines: Line[] = [
    ...stages('one engine', [rollout, reward, update], `alone; ${threads} threads`),
    ...stages('two engines', own, `alone; ${shared}`),
    ['step, graded after sampling', seconds(result.syncS), ''],
    step(
      'graded while sampling',
      result.overlapS,
      result.overlapToFormula,
      `(max(rollout ${rollout}, reward ${reward}) + update ${update})`,
    ),
    step(
      'sampled ahead, one engine',
      result.pipelinedOneEngineS,
      result.pipelinedOneEngineToFormula,
      `max(rollout ${rollout} + update ${update}, reward ${reward})`,
    ),
    step(
      'sampled ahead, two engines',
      result.pipelinedS,
      result.pipelinedToFormula,
      `max(rollout ${own[0]}, reward ${own[1]}, update ${own[2]})`,
    ),
    ['new weights to the sampler', two.weightsS.toFixed(3), 'part of the step above'],
  ]
  return lines
    .map(([name, value, note]) => `${name.padEnd(33)} ${`${value} s`.padStart(9)}  ${note}`.trimEnd())
    .join('\n')
}

/** Name, seconds, and what they are to be compared with. */
type Line = readonly [name: string, seconds: string, note: string]
