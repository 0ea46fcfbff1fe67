/** @file The matrix products of what the engine's benchmarks compute, run alone. */

import { stepGraph } from '../model/decoding.ts'
import { microBatches } from '../policy/local/batches.ts'
import { type Engine, MICRO_BATCH_TOKENS } from '../policy/local/engine.ts'
import { trainingOutputs } from '../policy/local/trainer.ts'
import type { Datum } from '../rl/datum.ts'
import type { ExecutableOptions } from '../tensor/index.ts'
import { median } from '../util/statistics.ts'
import { DECODE_ROWS, LOSS, lengthsOf, trainDatums } from './engine-work.ts'
import { type Product, productRunner, productsOf } from './products.ts'

/** The products of a training step, by micro-batch. */
export const trainProducts = ({ parameters }: Engine, datums: readonly Datum[]): Product[][] =>
  // Its datums are of one length: there is no padding.
  microBatches(datums, MICRO_BATCH_TOKENS, parameters.config).map(({ sizes }) => {
    const layout = { withPrefix: sizes.S > 0, unpadded: false }
    const outputs = Object.values(trainingOutputs(parameters, LOSS.loss, layout))
    // Graphs name half of a sample's length.
    return productsOf(outputs, { ...sizes, H: sizes.T / 2 })
  })

/** The products of one token of that many rows, with so many tokens of prompts and of their own in the cache. */
export const tokenProducts = async (
  { parameters }: Engine,
  rows: number,
  promptTokens: number,
  ownTokens: number,
): Promise<Product[]> => {
  const graph = stepGraph(parameters.config, await parameters.asConstants(), { sharedPrompt: false })
  return productsOf(Object.values(graph), { P: rows, C: promptTokens + ownTokens })
}

/** Seconds of the products of one training step alone. */
const idealTrainRunner = async (engine: Engine, running: ExecutableOptions) => {
  const batches = trainProducts(engine, trainDatums(engine.parameters.config))
  const runs = await Promise.all(batches.map(products => productRunner(products, running)))
  return async () => {
    let total = 0
    for (const run of runs) total += await run()
    return total
  }
}

/** Tokens whose products are timed, of which the median counts. */
const IDEAL_TOKENS = 9

const several = async (count: number, work: () => Promise<number>): Promise<number[]> => {
  const times: number[] = []
  while (times.length < count) times.push(await work())
  return times
}

/** What times the products of a work alone, warmed up, for the works that have such an ideal. */
export const idealsOf = async (
  engine: Engine,
  running: ExecutableOptions,
): Promise<Map<string, () => Promise<number>>> => {
  const { promptTokens, newTokens } = lengthsOf(engine.parameters.config)
  const ideals = new Map([['train', await idealTrainRunner(engine, running)]])
  for (const rows of DECODE_ROWS) {
    // Half of the new tokens are in the cache.
    const products = await tokenProducts(engine, rows, promptTokens, Math.ceil(newTokens / 2))
    const token = await productRunner(products, running)
    ideals.set(`${rows}`, async () => newTokens * median(await several(IDEAL_TOKENS, token)))
  }
  for (const run of ideals.values()) await run()
  return ideals
}
