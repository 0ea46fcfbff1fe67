/** @file `gradus bench grpo`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io } from '../io.ts'
import { count, countOr0 } from '../option-values.ts'
import { firstLook, jsonOption, quickOption, runBenchmark } from './run.ts'

interface BenchGrpoOptions {
  model?: string
  lora?: number
  prompts?: number
  samples?: number
  maxTokens?: number
  steps?: number
  rounds?: number
  threads?: number
  engines?: number
  dropZero?: boolean
  recompute?: boolean
  microBatchTokens?: number
  writePrompts?: string
  quick?: boolean
  json?: boolean
}

const HELP = `
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

/** For a first look. */
const QUICK = { prompts: 8, steps: 1, rounds: 1 }

/** Adds `grpo` to `gradus bench`. `done` receives the exit code. */
export const addBenchGrpo = (bench: Command, io: Io, done: (code: number) => void): void => {
  bench
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
    .option(
      '--engines <n>',
      'engines that share the work and the threads, as `policy.engines` (default: 2 for a small model on two threads or more)',
      count,
    )
    .option(
      '--drop-zero',
      'leave samples with advantage 0 out of the update, as recipes do by default and TRL does not',
    )
    .option('--recompute', 'train as `policy.recompute` does: less memory, more time')
    .option(
      '--micro-batch-tokens <n>',
      'as `policy.microBatchTokens` (default: 2048): fewer take less memory',
      count,
    )
    .option('--write-prompts <file>', 'also write 320 prompts of the workload as JSON Lines, for peers')
    .addOption(quickOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ json, writePrompts, lora: loraRank, ...given }: BenchGrpoOptions, command: Command) => {
      const options = firstLook(command, given, QUICK)
      const { grpoPrompts, grpoWork } = await import('../../bench/grpo-work.ts')
      const { benchGrpo, formatGrpoBenchmark } = await import('../../bench/grpo.ts')
      if (writePrompts !== undefined)
        writeOutput(
          writePrompts,
          grpoPrompts(await grpoWork(options.model), 320)
            .map(prompt => `${JSON.stringify(prompt)}\n`)
            .join(''),
        )
      await runBenchmark(
        io,
        { json, quick: given.quick, takes: 'about two minutes, longer with --model' },
        onProgress => benchGrpo({ ...options, loraRank, onProgress }),
        formatGrpoBenchmark,
      )
      done(EXIT.ok)
    })
}
