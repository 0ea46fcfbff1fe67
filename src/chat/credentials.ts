/** @file How settings name a server and the key for it: settings are kept, keys are not. */

import { z } from 'zod'
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
