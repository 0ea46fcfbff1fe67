/** @file The command of the package that is the reward server alone: `gradus-rewards --config reward.yaml` (bin/gradus-rewards.js). */

import { newCommand, runCommand, runProcess } from '../run.ts'
import { serveRewardBy } from './reward-command.ts'

const NAME = 'gradus-rewards'
const EXAMPLES = [
  `${NAME} --config reward.yaml --check`,
  `GRADUS_TOKEN=... ${NAME} --config reward.yaml --host 0.0.0.0 --port 8700`,
]

await runProcess(NAME, (args, streams) =>
  runCommand(args, streams, (io, done) => serveRewardBy(newCommand(NAME, io), io, done, EXAMPLES)),
)
