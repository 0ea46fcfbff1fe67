/** @file `gradus bench`: the benchmarks there are, with their options and help; the work is in the modules that they load when they run. */

import { type Command, Option } from 'commander'
import type { DeterminismBenchmark, DeterminismOptions } from '../../bench/determinism.ts'
import type { BenchOptions, EngineBenchmark } from '../../bench/engine.ts'
import type { FleetBenchmark, FleetBenchmarkOptions } from '../../bench/fleet/fleet.ts'
import type { GrowthBenchmark, GrowthOptions } from '../../bench/growth.ts'
import type { GrpoBenchmark, GrpoBenchOptions } from '../../bench/grpo.ts'
import type { JudgeBenchmark, JudgeBenchmarkOptions } from '../../bench/judge.ts'
import type { MemoryBenchmark, MemoryBenchmarkOptions } from '../../bench/memory.ts'
import type { OverlapBenchmark, OverlapOptions } from '../../bench/overlap.ts'
import type { SoakOptions, SoakResult } from '../../bench/soak/soak.ts'
import type { TinkerBenchmark, TinkerBenchmarkOptions } from '../../bench/tinker.ts'
import { writeOutput } from '../../util/output-file.ts'
import type { Io } from '../io.ts'
import { count, countOr0, sampleBitsOption } from '../option-values.ts'
import { addBenchmark } from './run.ts'

/** How engines are run, in benchmarks as in settings of a policy. */
const enginesOption = () =>
  new Option(
    '--engines <n>',
    'engines that share the work and the threads, as `policy.engines` (default: 2 for a small model on two threads or more)',
  ).argParser(count)
const recomputeOption = () =>
  new Option('--recompute', 'train as `policy.recompute` does: less memory, more time')
const microBatchOption = () =>
  new Option(
    '--micro-batch-tokens <n>',
    'as `policy.microBatchTokens` (default: 2048): fewer take less memory',
  ).argParser(count)

type Add = (bench: Command, io: Io, done: (code: number) => void) => void

type EngineOptions = Omit<BenchOptions, 'loraRank'> & { lora?: number }

const addEngine: Add = (bench, io, done) =>
  addBenchmark<EngineOptions, EngineBenchmark>(io, done, {
    command: bench
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
      .option(
        '--model <name>',
        'a model whose shape is measured in place of these: a folder, a name, a GGUF file',
      )
      .option('--lora <rank>', 'train an adapter of that rank in place of all weights', countOr0)
      .option('--threads <n>', 'threads of the engine; all cores by default', count)
      .addOption(enginesOption())
      .option('--rounds <n>', 'times everything is measured; medians are reported', count)
      .addOption(recomputeOption())
      .option('--no-arena', 'memory is given back as `policy.arena: false` does')
      .addOption(microBatchOption()),
    takes: 'about two minutes, longer with a larger model',
    quick: { rounds: 1 },
    load: async () => {
      const { benchEngine, formatEngineBenchmark } = await import('../../bench/engine.ts')
      return {
        measure: ({ lora: loraRank, ...options }) => benchEngine({ ...options, loraRank }),
        format: formatEngineBenchmark,
      }
    },
  })

const GROWTH_HELP = `
Batches of 1 to 256, contexts of 64 to 2,048 tokens, models of 0.3 to 100 million weights: each grows alone, from the standard size of
\`gradus bench engine\`, which is measured before and after every other one. "x proportional": seconds an operation over those of the
standard size; 1 means that time grows as arithmetic does. Run it on an idle machine; it takes a quarter of an hour. With --model
batches of 1 to 64 and contexts up to the model's, against its own 16 x 256 tokens; of 135 million weights it takes an hour.

Examples:
  $ gradus bench growth
  $ gradus bench growth --largest 10 --json`

const addGrowth: Add = (bench, io, done) =>
  addBenchmark<GrowthOptions, GrowthBenchmark>(io, done, {
    command: bench
      .command('growth')
      .description('How time grows with batch, context and model.')
      .option('--threads <n>', 'all cores by default', count)
      .option('--rounds <n>', 'times everything is measured; medians are reported (default: 2)', count)
      .option('--largest <m>', 'largest model, in millions of weights (default: 100)', count)
      .option(
        '--model <name>',
        'a model whose shape is measured in place of these: a folder, a name, a GGUF file',
      ),
    help: GROWTH_HELP,
    takes: 'a quarter of an hour',
    quick: { rounds: 1, largest: 1 },
    load: async () => {
      const { benchGrowth, formatGrowthBenchmark } = await import('../../bench/growth.ts')
      return { measure: benchGrowth, format: formatGrowthBenchmark }
    },
  })

const GRPO_HELP = `
The model is models/logic-start, the prompts are generated problems of five hops, the reward is 1 for the right answer. A chat model of
your own answers generated instructions, the reward is 1 where the first is followed, and an adapter is trained. The loss is TRL's
default: clipped, mean over tokens, no KL term, one pass over the batch.

Side by side with TRL, on an idle machine; the header of the script says how to set it up:
  gradus bench grpo --write-prompts prompts.jsonl --json
  venv/bin/python scripts/peers/trl_grpo.py --prompts prompts.jsonl --model models/logic-start

Examples:
  $ gradus bench grpo
  $ gradus bench grpo --prompts 8 --samples 4 --json
  $ gradus bench grpo --model HuggingFaceTB/SmolLM2-135M-Instruct`

type GrpoOptions = Omit<GrpoBenchOptions, 'loraRank'> & { lora?: number; writePrompts?: string }

const addGrpo: Add = (bench, io, done) =>
  addBenchmark<GrpoOptions, GrpoBenchmark>(io, done, {
    command: bench
      .command('grpo')
      .description('A whole step of GRPO, by its parts.')
      .option('--model <name>', 'a chat model in place of the shipped one: a folder, a name, a GGUF file')
      .option(
        '--lora <rank>',
        'rank of the adapter that is trained with --model; 0: all weights (default: 32)',
        countOr0,
      )
      .option('--prompts <n>', 'groups of a step (default: 32; with --model 8)', count)
      .option('--samples <n>', 'samples of a group (default: 8)', count)
      .option('--max-tokens <n>', 'tokens of a sample (default: 96)', count)
      .option('--steps <n>', 'steps that are measured in a round (default: 5; with --model 2)', count)
      .option('--rounds <n>', 'rounds; medians are reported (default: 3; with --model 2)', count)
      .option('--threads <n>', 'all cores by default', count)
      .addOption(enginesOption())
      .option(
        '--drop-zero',
        'leave samples with advantage 0 out of the update, as recipes do by default and TRL does not',
      )
      .addOption(recomputeOption())
      .addOption(microBatchOption())
      .addOption(sampleBitsOption())
      .option('--write-prompts <file>', 'also write 320 prompts of the workload as JSON Lines, for peers'),
    help: GRPO_HELP,
    takes: 'about two minutes, longer with --model',
    quick: { prompts: 8, steps: 1, rounds: 1 },
    load: async () => {
      const { grpoPrompts, grpoWork } = await import('../../bench/grpo-work.ts')
      const { benchGrpo, formatGrpoBenchmark } = await import('../../bench/grpo.ts')
      return {
        async measure({ lora: loraRank, writePrompts, ...options }) {
          if (writePrompts !== undefined) {
            const prompts = grpoPrompts(await grpoWork(options.model), 320)
            writeOutput(writePrompts, prompts.map(prompt => `${JSON.stringify(prompt)}\n`).join(''))
          }
          return benchGrpo({ ...options, loraRank })
        },
        format: formatGrpoBenchmark,
      }
    },
  })

const FLEET_HELP = `
The scheduler is the one that trainings and servers use; the servers and the clock are simulated, so that a minute of them takes
less than a minute. Answers take 0.7 s in the middle, one in a hundred far longer, one in a hundred fails. Of fifty endpoints
five are slow, four answer 429 beyond a quota, two have a limit that the scheduler knows, and from a third of the time to the
half of it two refuse connections, two do so and then take calls without answering, and one takes calls and never answers. Everything is the same for the same seed, but for
the processor's time. Exit code 1 when an answer was mixed up or a call had no end.

Examples:
  $ gradus bench fleet
  $ gradus bench fleet --rate 1000 --seconds 30 --concurrency 26
  $ gradus bench fleet --endpoints 200 --concurrency 64 --json`

type FleetOptions = Omit<FleetBenchmarkOptions, 'callsPerSecond'> & { rate: number }

const addFleet: Add = (bench, io, done) =>
  addBenchmark<FleetOptions, FleetBenchmark>(io, done, {
    command: bench
      .command('fleet')
      .description(
        'Ten thousand judge calls a second over a simulated fleet whose servers fail, by the real scheduler.',
      )
      .option('--rate <n>', 'calls a second', count, 10_000)
      .option('--seconds <n>', 'seconds of the clock in which calls come', count, 60)
      .option('--endpoints <n>', 'servers of the fleet', count, 50)
      .option('--concurrency <n>', 'calls that a server takes at a time', count, 256)
      .option('--seed <text>', 'decides what happens when', 'fleet'),
    help: FLEET_HELP,
    takes: 'less than a minute',
    load: async () => {
      const { benchFleet, formatFleetBenchmark } = await import('../../bench/fleet/fleet.ts')
      return {
        measure: ({ rate: callsPerSecond, ...scenario }) => benchFleet({ ...scenario, callsPerSecond }),
        format: formatFleetBenchmark,
        hasFailed: ({ calls, answered, failed, wrong }) => wrong > 0 || calls !== answered + failed,
      }
    },
  })

const JUDGE_HELP = `
The judge is a script in another process that answers at once, or after 200 ms; every verdict is compared with what the
script holds for true. Run it on an idle machine; it takes about a minute.

Examples:
  $ gradus bench judge
  $ gradus bench judge --quick --json
  $ gradus bench judge --server-requests 100000     # memory of the reward server over many requests`

const addJudge: Add = (bench, io, done) =>
  addBenchmark<JudgeBenchmarkOptions, JudgeBenchmark>(io, done, {
    command: bench
      .command('judge')
      .description('What Gradus adds to a judge: verdicts a second, latency, cache, reward server.')
      .option('--server-requests <n>', 'so many requests to the reward server', count),
    help: JUDGE_HELP,
    takes: 'about a minute',
    quick: { durationMs: 2_000 },
    load: async () => {
      const { benchJudge, formatJudgeBenchmark } = await import('../../bench/judge.ts')
      return { measure: benchJudge, format: formatJudgeBenchmark }
    },
  })

const addMemory: Add = (bench, io, done) =>
  addBenchmark<MemoryBenchmarkOptions, MemoryBenchmark>(io, done, {
    command: bench
      .command('memory')
      .description('How fast a bank of lessons finds the questions most like another one.')
      .option('--items <n>', 'items of the bank', count, 100_000)
      .option('--dims <n>', 'dimensions of their vectors', count, 256)
      .option('--top <n>', 'items that a query finds', count, 2)
      .option('--queries <n>', 'queries, one after the other', count, 200),
    takes: 'a few seconds',
    load: async () => {
      const { benchMemory, formatMemoryBenchmark } = await import('../../bench/memory.ts')
      return { measure: benchMemory, format: formatMemoryBenchmark }
    },
  })

const OVERLAP_HELP = `
Trains the same few steps of a small model with a judge that only takes time: graded after sampling, graded while sampling
goes on, and with the next step sampled ahead, by the same engine or by one of its own. Two engines share the threads, at
least one each, so their stages are measured apart. Every round is compared with the stages measured in it. At the end stands
whether the claim RUS-9 holds: a step graded while sampling within 15% of max(rollout, reward) + update, by a test over the
rounds. Run it on an idle machine; it takes ten minutes. With --quick it has one round of a quarter of the rollouts, which decides no claim.

Examples:
  $ gradus bench overlap
  $ gradus bench overlap --quick
  $ gradus bench overlap --latency 200 --slots 32 --json`

type OverlapBenchOptions = Omit<OverlapOptions, 'latencyMs'> & { latency: number }

const addOverlap: Add = (bench, io, done) =>
  addBenchmark<OverlapBenchOptions, OverlapBenchmark>(io, done, {
    command: bench
      .command('overlap')
      .description("How much of a judge's latency training hides.")
      .option('--latency <ms>', 'milliseconds that the judge takes for a rollout', count, 100)
      .option('--slots <n>', 'rollouts that the judge takes at a time', count, 16)
      .option('--steps <n>', 'steps of each kind in a round', count, 2)
      .option('--rounds <n>', 'rounds, in which all kinds take turns; medians are reported', count)
      .option('--threads <n>', 'threads of one engine, shared by two', count, 2)
      .option('--rows <n>', 'rollouts that are decoded together (policy.maxRows)', count),
    help: OVERLAP_HELP,
    takes: 'about ten minutes',
    quick: { rounds: 1, steps: 1, prompts: 8, rows: 16 },
    load: async () => {
      const { benchOverlap, formatOverlapBenchmark } = await import('../../bench/overlap.ts')
      return {
        measure: ({ latency: latencyMs, ...options }) => benchOverlap({ ...options, latencyMs }),
        format: formatOverlapBenchmark,
      }
    },
  })

const DETERMINISM_HELP = `
Every operation of the tensor runtime with its gradient, at four sizes around those where the runtime divides the work; the
kernels of the optimiser, the choice of tokens, a short training, and sampling while another engine learns. Another process
keeps a core busy meanwhile, so that threads are held up in the middle of what they do. It takes a quarter of an hour on two
idle cores. The exit code is 1 where a run gives other bits than the first, or numbers that are not those of one thread and
of plain float64 arithmetic but for rounding. Other bits than those of one thread are marked and are no failure.

Examples:
  $ gradus bench determinism
  $ gradus bench determinism --only matmul --runs 200
  $ gradus bench determinism --threads 4 --json > ops.json`

const addDeterminism: Add = (bench, io, done) =>
  addBenchmark<DeterminismOptions, DeterminismBenchmark>(io, done, {
    command: bench
      .command('determinism')
      .description('Whether everything that computes numbers gives the same bits in every run.')
      .option('--runs <n>', 'runs of every operation at every size', count, 50)
      .option('--threads <n>', 'threads inside one operation', count, 2)
      .option('--only <name>', 'one operation: matmul, or one of its cases: "matmul/one column"'),
    help: DETERMINISM_HELP,
    takes: 'a quarter of an hour',
    quick: { runs: 3 },
    load: async () => {
      const { benchDeterminism, formatDeterminismBenchmark } = await import('../../bench/determinism.ts')
      return {
        measure: benchDeterminism,
        format: formatDeterminismBenchmark,
        hasFailed: ({ wrong }) => wrong.length > 0,
      }
    },
  })

const SOAK_HELP = `
Small and large, good and hostile requests on all routes, judged ones with a judge that fails often, clients that go away,
bodies that come slowly; each with the statuses that it may get. In the end the server is stopped in the middle of a burst.
Exit code 1 when a request got no answer, a wrong one or a 500, when /healthz failed, or when memory grew by a fifth.

Examples:
  $ gradus bench soak --requests 5000
  $ gradus bench soak --json > soak.json`

const addSoak: Add = (bench, io, done) =>
  addBenchmark<SoakOptions, SoakResult>(io, done, {
    command: bench
      .command('soak')
      .description('Very many mixed requests to a reward server: answers, memory, health, drain.')
      .option('--requests <n>', 'requests at least', count, 200_000)
      .option('--in-work <n>', 'requests under way at once', count, 32)
      .option('--seed <text>', 'decides which requests come in which order', 'soak'),
    help: SOAK_HELP,
    takes: 'about six minutes',
    quick: { requests: 5_000 },
    load: async () => {
      const { benchSoak, formatSoak } = await import('../../bench/soak/soak.ts')
      return { measure: benchSoak, format: formatSoak, hasFailed: ({ failures }) => failures.length > 0 }
    },
  })

const TINKER_HELP = `
The service is \`gradus serve tinker\` with one thread and a model of 0.8 million weights, in another process: with any larger
model the client's part is smaller. Processor time is compared rather than the clock's, because other work on the machine would
make a step longer and the client's part of it smaller; that other work still makes processors slower. Samples end where the model
ends them.

Examples:
  $ gradus bench tinker
  $ gradus bench tinker --prompts 64 --max-tokens 128 --json`

const addTinker: Add = (bench, io, done) =>
  addBenchmark<TinkerBenchmarkOptions, TinkerBenchmark>(io, done, {
    command: bench
      .command('tinker')
      .description('What the client of a training service adds to a step.')
      .option('--steps <n>', 'steps that are measured (default: 5)', count)
      .option('--prompts <n>', 'groups of a step (default: 16)', count)
      .option('--samples <n>', 'samples of a group (default: 8)', count)
      .option('--max-tokens <n>', 'tokens of a sample (default: 64)', count),
    help: TINKER_HELP,
    takes: 'about a minute',
    quick: { steps: 2, prompts: 8 },
    load: async () => {
      const { benchTinker, formatTinkerBenchmark } = await import('../../bench/tinker.ts')
      return { measure: benchTinker, format: formatTinkerBenchmark }
    },
  })

/** Adds `gradus bench` to the program. `done` receives the exit code. */
export const addBenchCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const bench = program
    .command('bench')
    .summary('measure this machine')
    .description('Measures what Gradus makes of this machine.')
  for (const add of [
    addEngine,
    addGrowth,
    addGrpo,
    addFleet,
    addJudge,
    addMemory,
    addOverlap,
    addDeterminism,
    addSoak,
    addTinker,
  ])
    add(bench, io, done)
}
