/** @file How settings are refused. */

import { ConfigError } from '../../util/errors.ts'

/** @throws ConfigError naming the setting, what was expected of it and what to do */
export const refuse = (key: string, expected: string, hint: string): never => {
  throw new ConfigError(`${key}: expected ${expected}`, { hint })
}
