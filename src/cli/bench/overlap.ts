/** @file `gradus bench overlap`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, Option } from 'commander'
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
  recipe: 'ruscarl' | 'rlcer' | 'rubricem'
  quick?: boolean
  json?: boolean
}

const HELP = `
Trains the same few steps of a small model with a judge that only takes time: graded after sampling, graded while sampling
goes on, and with the next step sampled ahead, by the same engine or by one of its own. Two engines share the threads, at
least one each, so their stages are measured apart. Every round is compared with the stages measured in it. At the end stands
whether the claim RUS-9 holds: a step graded while sampling within 15% of max(rollout, reward) + update, by a test over the
rounds. Run it on an idle machine; it takes ten minutes. With --quick it has one round of a quarter of the rollouts, which decides no claim.

With --recipe rlcer: how long a step of 16 questions x 8 reasoners x 8 rubricators takes to verify, the whole step beside a plain
one with as many rollouts, and a step whose verifier is a language model of that latency, asked anew and from the cache.

With --recipe rubricem: steps of research agents (16 questions x 8 attempts, and their reflections) while a judge of that latency
scores the step before and the trainer learns from it, against each of the three alone; and rollouts of several turns beside one
turn of as many tokens.

Examples:
  $ gradus bench overlap
  $ gradus bench overlap --quick
  $ gradus bench overlap --latency 200 --slots 32 --json
  $ gradus bench overlap --recipe rlcer
  $ gradus bench overlap --recipe rubricem --json`

/** Adds `overlap` to `gradus bench`. `done` receives the exit code. */
export const addBenchOverlap = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
    .command('overlap')
    .description("How much of a judge's latency training hides.")
    .addOption(
      new Option('--recipe <name>', 'whose steps are measured')
        .choices(['ruscarl', 'rlcer', 'rubricem'])
        .default('ruscarl'),
    )
    .option('--latency <ms>', 'milliseconds that the judge takes for a rollout', count, 100)
    .option('--slots <n>', 'rollouts that the judge takes at a time', count, 16)
    .option('--steps <n>', 'steps of each kind in a round', count, 2)
    .option('--rounds <n>', 'rounds, in which all kinds take turns; medians are reported', count)
    .option('--threads <n>', 'threads of one engine, shared by two', count, 2)
    .option('--rows <n>', 'rollouts that are decoded together (policy.maxRows)', count)
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ recipe, json, ...given }: BenchOverlapOptions, command: Command) => {
      const options = firstLook(command, given, { rounds: 1, steps: 1 })
      await MEASURES[recipe](io, options, { json, quick: given.quick })
      done(EXIT.ok)
    })
}

type Measured = Omit<BenchOverlapOptions, 'recipe' | 'json' | 'quick'>
type Way = Pick<BenchOverlapOptions, 'json' | 'quick'>

const measureJudged = async (io: Io, { latency, ...options }: Measured, way: Way): Promise<void> => {
  const { benchOverlap, formatOverlapBenchmark } = await import('../../bench/overlap.ts')
  const settings = { ...(way.quick && { prompts: 8, rows: 16 }), ...options, latencyMs: latency }
  await runBenchmark(
    io,
    { ...way, takes: 'about ten minutes' },
    onProgress => benchOverlap({ ...settings, onProgress }),
    formatOverlapBenchmark,
  )
}

/** Of the measurements that decide no claim. */
const ROUNDS = 4

const measureRlcer = async (
  io: Io,
  { latency, rows: _rows, ...options }: Measured,
  way: Way,
): Promise<void> => {
  const { benchRlcer, formatRlcerBenchmark } = await import('../../bench/rlcer.ts')
  // Four steps: the first is not counted.
  const steps = Math.max(2, 2 * (options.steps ?? 2))
  const few = way.quick && { questions: 4, samples: 4 }
  const settings = { rounds: ROUNDS, ...few, ...options, latencyMs: latency, steps }
  await runBenchmark(
    io,
    { ...way, takes: 'some minutes' },
    onProgress => benchRlcer({ ...settings, onProgress }),
    formatRlcerBenchmark,
  )
}

const measureRubricem = async (io: Io, { latency, ...options }: Measured, way: Way): Promise<void> => {
  const { benchRubricem, formatRubricemBenchmark } = await import('../../bench/rubricem.ts')
  const few = way.quick && { questions: 4, samples: 4 }
  const settings = { rounds: ROUNDS, ...few, ...options, latencyMs: latency }
  await runBenchmark(
    io,
    { ...way, takes: 'some minutes' },
    onProgress => benchRubricem({ ...settings, onProgress }),
    formatRubricemBenchmark,
  )
}

const MEASURES = { ruscarl: measureJudged, rlcer: measureRlcer, rubricem: measureRubricem }
