/** @file A judge as configuration files write it: one schema for recipes, the server and the command line. */

import { z } from 'zod'
import { type FleetSettings, fleetSchema } from '../../chat/fleet-config.ts'
import { type AskConfig, type AskPreset, askOf, askSchema } from './ask-config.ts'
import { DEFAULT_MAX_BYTES } from './cache/verdict-cache.ts'

/** Where verdicts outlast a run. */
export const verdictCacheSchema = z.strictObject({
  folder: z.string().min(1).describe('Folder of the cache.'),
  maxBytes: z
    .int()
    .positive()
    .default(DEFAULT_MAX_BYTES)
    .describe('Largest size of the cache; beyond it the oldest verdicts are removed.'),
})

/** Parts of a judge's section; a schema with more of them ends with `.transform(judgeOf(PRESET))`. */
export const judgeShape = {
  fleet: fleetSchema.describe("The judge's endpoints, with their limits, retries and prices."),
  ask: askSchema.prefault({}).describe('How the judge is asked.'),
  cache: verdictCacheSchema
    .nullable()
    .default(null)
    .describe('Cache of verdicts for later runs; null: none.'),
}

/** A judge: where it is, how it is asked, what it remembers. */
export interface JudgeConfig {
  fleet: FleetSettings
  ask: AskConfig
  cache: z.output<typeof verdictCacheSchema> | null
}

type Read = Pick<z.output<z.ZodObject<typeof judgeShape>>, 'fleet' | 'ask'>

/** Fills in what a section leaves out, from a preset unless it names one itself. */
export const judgeOf =
  (preset: AskPreset) =>
  <T extends Read>({ ask, ...judge }: T): Omit<T, 'ask'> & { ask: AskConfig } => ({
    ...judge,
    ask: askOf(
      ask,
      preset,
      judge.fleet.endpoints.every(({ sendTopK }) => sendTopK === true),
    ),
  })

/** A judge by itself. @param preset of what the section leaves out */
export const judgeSchema = (preset: AskPreset) => z.strictObject(judgeShape).transform(judgeOf(preset))
export type JudgeInput = z.input<ReturnType<typeof judgeSchema>>
