/** @file The reward service in a process of its own, as people start it. Needs `npm run build`. */

import { ServerProcess } from './server-process.fixture.ts'

export type RewardProcess = ServerProcess

/** Starts it on a free port, unless `args` have one; resolves when it listens. */
export const startReward = (
  config: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<RewardProcess> =>
  ServerProcess.launch({
    args: ['reward', '--config', config, '--port', '0', ...args],
    says: /rewards at (\S+),/,
    env,
  })
