/** @file `gradus init`: writes an example that ships with the package. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { count } from '../option-values.ts'
import type { InitTrainOptions } from './examples.ts'

const TRAIN_HELP = `
Writes rows.jsonl (prompts), rubric.yaml, train.yaml, README.md, and the schema of the settings for editors. It trains the small
chat model that ships with the package at once, without a network, in less than a minute:
  $ gradus init train my-training
  $ cd my-training
  $ gradus train train.yaml

--model names another one: a folder, a GGUF file, or OWNER/NAME on the Hugging Face hub. The settings then fit its size and this
machine's memory. --instructions writes rows that a model of 100 million weights can learn from, each checked by rules:
  $ gradus init train smol --model HuggingFaceTB/SmolLM2-135M-Instruct --instructions
  $ cd smol
  $ gradus train train.yaml

--cold-start, with --instructions: the model answers 400 requests twice, which takes some 25 minutes; the answers are edited until they
follow instructions, and are what a training begins with. Ctrl+C keeps them; the same command goes on. --demonstrations 4000 asks twice
as much:
  $ gradus init train smol --model HuggingFaceTB/SmolLM2-135M-Instruct --instructions --cold-start
  $ cd smol
  $ gradus train cold-start.yaml
  $ gradus train train.yaml --from runs/cold-start-seed1`

const REWARD_HELP = `
Writes reward.yaml, short-answer.yaml (a rubric) and request.json. It runs at once, without a key:
  $ gradus init reward my-rewards
  $ gradus serve reward --config my-rewards/reward.yaml
  $ curl -s -H 'content-type: application/json' -d @my-rewards/request.json http://127.0.0.1:8700/v1/grade`

/** Adds `gradus init` to the program. `done` receives the exit code. */
export const addInitCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const init = program
    .command('init')
    .summary('write an example to start from')
    .description('Writes a commented example to start from.')
  init
    .command('reward')
    .summary('an example of the reward service')
    .description('Writes a commented configuration of the reward service, a rubric and a request.')
    .argument('[dir]', 'folder to write to', '.')
    .option('--force', 'overwrite files that are there')
    .addHelpText('after', REWARD_HELP)
    .action(async (folder: string, options: { force?: boolean }) => {
      const { initReward } = await import('./examples.ts')
      done(await initReward(folder, options, io))
    })
  init
    .command('train')
    .summary('a training of your own: rows, rubric, settings')
    .description('Writes a folder that trains at once on your own prompts, rubric and chat model.')
    .argument('[dir]', 'folder to write to', '.')
    .option('--model <name>', 'the chat model to train: OWNER/NAME, a folder, or a GGUF file')
    .option('--instructions', 'rows of instructions that rules check; with --model')
    .option('--cold-start', "demonstrations out of the model's own answers; with --instructions")
    .option('--demonstrations <n>', 'how many, at most; with --cold-start (default: 3600)', count)
    .option('--force', 'overwrite files that are there')
    .addHelpText('after', TRAIN_HELP)
    .action(async (folder: string, options: InitTrainOptions) => {
      const { initTrain } = await import('./examples.ts')
      done(await initTrain(folder, options, io))
    })
}
