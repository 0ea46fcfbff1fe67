/** @file `gradus serve`: options and help; the work is in the modules that it loads when it runs. */

import { type Command, InvalidArgumentError } from 'commander'
import type { Io } from '../io.ts'
import { addServeChat } from './chat.ts'
import type { ServeRewardOptions } from './reward.ts'
import { addServeTinker } from './tinker.ts'

const port = (text: string): number => {
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Expected a port, 0 to 65535.')
  return value
}

const REWARD_HELP = `
Paths come from the configuration; by default /v1/grade, /openrlhf, /slime, and /verify for NeMo-Gym. Beside them:
/healthz, /readyz, /metrics (Prometheus), /openapi.json. Trainers in Python use the
package in integrations/python; docs/integrations has a page for each.
The access log goes to stderr, a JSON line a request.

Ctrl+C or SIGTERM: readyz says 503, everything accepted is answered, then it stops. A second one quits at once.

Examples:
  $ gradus init reward my-rewards
  $ gradus serve reward --config my-rewards/reward.yaml
  $ GRADUS_TOKEN=... gradus serve reward --config reward.yaml --host 0.0.0.0 --port 8700`

/** Adds `gradus serve` to the program. `done` receives the exit code. */
export const addServeCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const serve = program
    .command('serve')
    .summary('serve rewards to trainers, a model to chat clients, training to Tinker clients')
    .description(
      'Serves rewards to other trainers, a local checkpoint to chat clients, or training to Tinker clients.',
    )
  serve
    .command('reward')
    .summary('serve rewards to TRL, verl, OpenRLHF, slime, NeMo-Gym')
    .description('Grades responses over HTTP by the rubrics, rules and judges of one configuration file.')
    .requiredOption('-c, --config <file.yaml>', 'configuration; `gradus init reward` writes an example')
    .option('--host <address>', "address to listen on; the configuration's when absent")
    .option('--port <n>', "port, 0 takes a free one; the configuration's when absent", port)
    .option('--check', 'open everything that the configuration names, then stop')
    .option('-q, --quiet', 'no access log')
    .addHelpText('after', REWARD_HELP)
    .action(async (options: ServeRewardOptions) => {
      const { serveReward } = await import('./reward.ts')
      done(await serveReward(options, io))
    })
  addServeChat(serve, io, done)
  addServeTinker(serve, io, done)
}
