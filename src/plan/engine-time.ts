/** @file How fast this machine is, from what `gradus bench engine` measured, and what a step takes by that. */

import { z } from 'zod'
import {
  type DecodeRate,
  type Speed,
  samplingTime,
  type TimedStep,
  timeOfStep,
} from '../recipes/common/step-time.ts'
import type { StepWork } from '../recipes/common/step-work.ts'
import { parseWith } from '../util/schema.ts'
import { type Assumed, assumed, atPaces, type Pace } from './assumptions.ts'

const rates = z.record(z.string().regex(/^\d+(x\d+)?$/), z.number().positive())

/** What of the benchmark's JSON a plan needs; whatever else it holds is passed over. */
const speedSchema = z.looseObject({
  threads: z.number().positive(),
  /** That the threads were divided among. */
  engines: z.number().positive(),
  /** Of learning. */
  recompute: z.boolean(),
  parameters: z.number().positive(),
  trainGflops: z.number().positive(),
  groupTrainGflops: z.number().positive(),
  optimizerMsPerMillionParams: z.number().positive(),
  decodeTokensPerSecond: rates,
  sharedPromptTokensPerSecond: rates,
  raggedDecode: z.object({
    prompts: z.number().positive(),
    samples: z.number().positive(),
    seconds: z.number().positive(),
    tokens: z.number().positive(),
    longest: z.number().positive(),
  }),
  workload: z.object({
    layers: z.number().positive(),
    hiddenSize: z.number().positive(),
    queryWidth: z.number().positive(),
    promptTokens: z.number().positive(),
    newTokens: z.number().positive(),
  }),
})
export type EngineSpeed = z.output<typeof speedSchema>

/** @throws ConfigError naming what is missing */
export const parseEngineSpeed = (value: unknown, source: string): EngineSpeed =>
  parseWith(speedSchema, value, source)

/**
 * Least squares of relative errors over rows: seconds of a step = a + b rows. Where the smallest batch is not slower than its share
 * of a large one, a is 0.
 */
export const fitDecoding = (speed: EngineSpeed, shared: boolean): DecodeRate => {
  const { workload, parameters } = speed
  const many = shared ? speed.sharedPromptTokensPerSecond : {}
  const sharedRows = new Map(
    Object.entries(many).map(([name, rate]) => {
      const [prompts, samples = 1] = name.split('x').map(Number)
      return [prompts * samples, rate]
    }),
  )
  const points = [
    ...new Map([
      ...Object.entries(speed.decodeTokensPerSecond).map(([r, rate]) => [Number(r), rate] as const),
      ...sharedRows,
    ]),
  ].map(([rows, rate]) => ({ rows, seconds: rows / rate }))
  // Weighted by 1 / seconds: sums of w, w x, w x x, w y, w x y with w = 1 / y^2.
  const sum = (term: (rows: number) => number, power: number) =>
    points.reduce((total, { rows, seconds }) => total + term(rows) * seconds ** (power - 2), 0)
  const [w, wx, wxx, wy, wxy] = [
    sum(() => 1, 0),
    sum(rows => rows, 0),
    sum(rows => rows ** 2, 0),
    sum(() => 1, 1),
    sum(rows => rows, 1),
  ]
  const determinant = w * wxx - wx * wx
  const slope = determinant === 0 ? wy / wx : (w * wxy - wx * wy) / determinant
  const start = Math.max(0, determinant === 0 ? 0 : (wxx * wy - wx * wxy) / determinant)
  const perRow = start === 0 ? wxy / wxx : slope
  const { layers, queryWidth, promptTokens, newTokens } = workload
  const flop = 2 * parameters + 4 * layers * queryWidth * (promptTokens + newTokens / 2)
  return { secondsPerLayer: start / layers, secondsPerFlop: perRow / flop }
}

/**
 * What it takes that samples end at different times, and rows leave the batch: how much longer the benchmark's were than rows that
 * end together would have been. Never less than 1.
 */
const raggednessOf = ({ raggedDecode, workload, parameters }: EngineSpeed, even: Speed): number => {
  const { layers, hiddenSize, queryWidth, promptTokens } = workload
  const { prompts, samples, tokens, longest, seconds } = raggedDecode
  const size = { parameters, active: parameters, layers, hiddenSize, queryWidth, keyWidth: 0, vocabSize: 0 }
  const draw = { prompts, promptTokens, samples, newTokens: tokens / samples, longestTokens: longest }
  return Math.max(1, seconds / samplingTime(size, draw, samples, even))
}

/** How fast this machine is by the benchmark. */
export const measuredSpeed = (measured: EngineSpeed): Speed => {
  const { trainGflops, groupTrainGflops, optimizerMsPerMillionParams } = measured
  // The benchmark counts three passes, and took four where layers went forward once more.
  const perGflop = 1e9 * (measured.recompute ? 4 / 3 : 1)
  const even = {
    ...{ trainFlops: perGflop * trainGflops, groupTrainFlops: perGflop * groupTrainGflops },
    optimizer: optimizerMsPerMillionParams / 1e9,
    decoding: fitDecoding(measured, false),
    sharedDecoding: fitDecoding(measured, true),
    raggedness: 1,
  }
  return { ...even, raggedness: raggednessOf(measured, even) }
}

/** As planRange, of this process. */
export const planEngineRange = (
  work: StepWork,
  measured: EngineSpeed,
  set: Partial<Assumed>,
): Record<Pace, TimedStep> => {
  const speed = measuredSpeed(measured)
  return atPaces(pace => timeOfStep(work, speed, assumed(pace, set)))
}
