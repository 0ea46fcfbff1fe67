/** @file Options and help of the reward server: of `gradus serve reward`, and of the package that is this server alone. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { port } from './options.ts'
import type { ServeRewardOptions } from './reward.ts'

const HELP = `
Paths come from the configuration; by default /v1/grade, /openrlhf, /slime, and /verify for NeMo-Gym. Beside them:
/healthz, /readyz, /metrics (Prometheus), /openapi.json. Trainers in Python use the package in integrations/python.
The access log goes to stderr, a JSON line a request.

Ctrl+C or SIGTERM: readyz says 503, everything accepted is answered, then it stops. A second one quits at once.

Examples:`

/** Makes a command the reward server. `done` receives the exit code. @param examples lines of its help */
export const serveRewardBy = (
  command: Command,
  io: Io,
  done: (code: number) => void,
  examples: readonly string[],
): Command =>
  command
    .description('Grades responses over HTTP by the rubrics, rules and judges of one configuration file.')
    .requiredOption('-c, --config <file.yaml>', 'configuration: rubrics, judges, routes, limits')
    .option('--host <address>', "address to listen on; the configuration's when absent")
    .option('--port <n>', "port, 0 takes a free one; the configuration's when absent", port)
    .option('--check', 'open everything that the configuration names, then stop')
    .option('-q, --quiet', 'no access log')
    .addHelpText('after', [HELP, ...examples.map(example => `  $ ${example}`)].join('\n'))
    .action(async (options: ServeRewardOptions) => {
      const { serveReward } = await import('./reward.ts')
      done(await serveReward(options, io))
    })
