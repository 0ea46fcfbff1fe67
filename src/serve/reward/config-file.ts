/** @file Reads `reward.yaml`. */

import { ConfigError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'
import { type RewardConfig, rewardConfigSchema } from './config.ts'

/**
 * Checks a configuration and fills in defaults.
 * @throws ConfigError listing every problem with its path
 * @example
 * parseRewardConfig({ rubrics: { manners: { criteria: [{ id: 'polite', text: 'Is polite', points: 1 }] } } }).server.port // 8700
 */
export const parseRewardConfig = (value: unknown, source = 'reward.yaml'): RewardConfig => {
  const config = parseWith(rewardConfigSchema, value ?? {}, source)
  const seen = new Map<string, number>()
  for (const [index, { path }] of config.routes.entries()) {
    const first = seen.get(path)
    if (first !== undefined)
      throw new ConfigError(`${source}: routes[${index}].path: ${path} is taken by routes[${first}]`, {
        hint: 'give each route a path of its own',
      })
    seen.set(path, index)
  }
  return config
}

/** Reads a configuration file (YAML or JSON). @throws ConfigError naming the line or the path of each problem. */
export const readRewardConfig = (path: string): RewardConfig => {
  const hint = 'docs/howto/reward-server.md has an example; so does what `gradus init reward` writes'
  const value = parseYaml(readText(path, { ErrorKind: ConfigError, missingHint: hint }), path)
  if (value === null)
    throw new ConfigError(`${path}: expected settings as keys and values, got none`, { hint })
  return parseRewardConfig(value, path)
}
