/** @file `gradus init`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'

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
      const { initReward } = await import('./init-reward.ts')
      done(initReward(folder, options, io))
    })
}
