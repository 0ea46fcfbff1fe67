/** @file `gradus push`: a checkpoint of a run to the Hugging Face Hub. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import type { PushCommandOptions } from './push.ts'

const PUSH_HELP = `
Uploads weights, configuration and tokenizer of a checkpoint, the latest unless a step is named, with a README.md made from the
run: results, settings, seed, command. State of the training stays here. A README.md that is there is replaced.
HF_TOKEN holds the token; HF_ENDPOINT another address than https://huggingface.co.

Examples:
  $ gradus push runs/a ann/proofs --dry-run
  $ gradus push runs/a/50 ann/proofs --license apache-2.0 --base-model Qwen/Qwen3-0.6B --private`

/** Adds `gradus push` to the program. `done` receives the exit code. */
export const addPushCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('push')
    .summary('a trained model to the Hugging Face Hub')
    .description('Uploads a checkpoint of a run to a model repository, with a card made from the run.')
    .argument('<run>', 'run folder, or RUN/STEP')
    .argument('<repository>', 'OWNER/NAME on the Hub; made where there is none')
    .option('--license <id>', "the card's license, by its name on the Hub (apache-2.0)")
    .option('--base-model <id>', 'the model that was trained, by its name on the Hub')
    .option('--private', 'a repository that is made is private')
    .option('--dry-run', 'print the card, list the files, send nothing')
    .option(
      '--json',
      'print {repository, url, commit, files}, or with --dry-run {repository, card, files}, as JSON',
    )
    .addHelpText('after', PUSH_HELP)
    .action(async (run: string, repository: string, options: PushCommandOptions) => {
      const { pushCommand } = await import('./push.ts')
      done(await pushCommand(run, repository, options, io))
    })
}
