/** @file How settings name a server and the key for it: settings are kept, keys are not. */

import { z } from 'zod'
import { ConfigError } from '../util/errors.ts'
import { describeSecret, secretInAddress } from '../util/secret-words.ts'

/** The name of an environment variable that holds a key; settings are kept, and the key itself would be. */
export const keyVariableSchema = z
  .string()
  .min(1)
  .refine(name => describeSecret(name) === undefined, {
    error: 'the name of the environment variable that holds the key; export the key and write its name here',
  })

/** An address that is kept and stands in messages. */
export const keptAddressSchema = z
  .string()
  .min(1)
  .refine(text => secretInAddress(text) === undefined, {
    error: ({ input }) =>
      `an address without ${secretInAddress(input as string)}, which would be kept; set apiKeyEnv to the environment variable that holds the key`,
  })

/** The key that settings name; undefined where they name none. @param setting for errors @throws ConfigError where the environment has none */
export const readKey = (
  { apiKeyEnv }: { apiKeyEnv?: string | null },
  env: Readonly<Record<string, string | undefined>>,
  setting = 'apiKeyEnv',
): string | undefined => {
  if (apiKeyEnv === undefined || apiKeyEnv === null) return undefined
  const key = env[apiKeyEnv]?.trim()
  if (key) return key
  throw new ConfigError(`${setting}: the environment variable ${apiKeyEnv} is not set`, {
    hint: `export it before the start, or leave ${setting} out for a server that needs no key`,
  })
}
