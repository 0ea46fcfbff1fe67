/** @file `gradus init`: writes an example that ships with the package. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { DataError } from '../../util/errors.ts'
import { writeOutput } from '../../util/output-file.ts'
import { resolveShipped } from '../../util/package.ts'
import { EXIT, type Io } from '../io.ts'

const REWARD_EXAMPLE = 'package:examples/reward'

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
    .action((folder: string, options: { force?: boolean }) => done(initReward(folder, options, io)))
}

/** Writes the example, all of it or nothing. @throws DataError when a file is there already and `force` is not set. */
const initReward = (folder: string, { force = false }: { force?: boolean }, io: Io): number => {
  const source = resolveShipped(REWARD_EXAMPLE)
  const names = readdirSync(source)
  const taken = names.filter(name => existsSync(join(folder, name)))
  if (taken.length > 0 && !force)
    throw new DataError(`${taken.map(name => join(folder, name)).join(', ')}: there already`, {
      hint: 'give another folder, or --force to overwrite',
    })
  const written: string[] = []
  try {
    for (const name of names) {
      writeOutput(join(folder, name), readFileSync(join(source, name), 'utf8'))
      written.push(join(folder, name))
    }
  } catch (error) {
    if (!force) for (const path of written) rmSync(path, { force: true })
    throw error
  }
  const config = join(folder, 'reward.yaml')
  io.out.write(`${names.map(name => join(folder, name)).join('\n')}\n`)
  io.err.write(`next: gradus serve reward --config ${config}\n`)
  return EXIT.ok
}
