/** @file Seconds of a step in this process, from what `gradus bench engine` measured on this machine. */

import { z } from 'zod'
import { parseWith } from '../util/schema.ts'
import { forwardFlop, type ModelSize } from './model-size.ts'

const rates = z.record(z.string().regex(/^\d+(x\d+)?$/), z.number().positive())

/** What of the benchmark's JSON a plan needs; whatever else it holds is passed over. */
const speedSchema = z.looseObject({
  threads: z.number().positive(),
  /** That the threads were divided among; files from before it was told are of one. */
  engines: z.number().positive().default(1),
  /** Of learning; files from before it was told are without. */
  recompute: z.boolean().default(false),
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

/** What a step of decoding takes: so much for each layer, and so much for the arithmetic of each row. */
export interface DecodeRate {
  secondsPerLayer: number
  secondsPerFlop: number
}

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

/** Samples of a step, in tokens. Means, but for the longest. */
export interface EngineDraw {
  prompts: number
  promptTokens: number
  samples: number
  newTokens: number
  longestTokens: number
}

/** Rows are decoded together up to `maxRows`, then the next; a group's prompt is read once. Samples end together, as measured. */
const evenSampling = (size: ModelSize, draw: EngineDraw, maxRows: number, speed: EngineSpeed): number => {
  const { prompts, promptTokens, samples, newTokens, longestTokens } = draw
  const { secondsPerLayer, secondsPerFlop } = fitDecoding(speed, samples > 1.5 * prompts)
  const batches = Math.ceil(samples / maxRows)
  const steps = batches * longestTokens
  const context = promptTokens + newTokens / 2
  const decoding =
    steps * size.layers * secondsPerLayer + forwardFlop(size, samples * newTokens, context) * secondsPerFlop
  const prefill = forwardFlop(size, prompts * promptTokens, promptTokens / 2) / (speed.groupTrainGflops * 1e9)
  return decoding + prefill
}

/**
 * What it takes that samples end at different times, and rows leave the batch: how much longer the benchmark's were than rows that
 * end together would have been. Never less than 1.
 */
export const raggedness = (speed: EngineSpeed): number => {
  const { raggedDecode, workload, parameters } = speed
  const { layers, hiddenSize, queryWidth, promptTokens } = workload
  const { prompts, samples, tokens, longest, seconds } = raggedDecode
  const size = { parameters, active: parameters, layers, hiddenSize, queryWidth, keyWidth: 0, vocabSize: 0 }
  const draw = { prompts, promptTokens, samples, newTokens: tokens / samples, longestTokens: longest }
  return Math.max(1, seconds / evenSampling(size, draw, samples, speed))
}

/** Seconds of drawing samples that end where they end. */
export const engineSampling = (
  size: ModelSize,
  draw: EngineDraw,
  maxRows: number,
  speed: EngineSpeed,
): number =>
  evenSampling(size, draw, maxRows, speed) * (draw.longestTokens > draw.newTokens ? raggedness(speed) : 1)

export interface EngineLearning {
  size: ModelSize
  trainedParameters: number
  adapter: boolean
  /** Whether a reference scores samples first. */
  reference: boolean
  epochs: number
  /** Optimiser steps of an epoch. */
  minibatches: number
  /** Share of the groups that are learnt from: those with a spread, where others are left out. */
  learntShare: number
  /** Layers go forward once more on the way back. */
  recompute: boolean
  /** Rows of their own rather than groups: longer, and nothing in common. */
  supervised: boolean
}

/** Operations of scoring samples once: a group's prompt goes through once. */
const scoringFlop = (size: ModelSize, draws: readonly EngineDraw[]): number =>
  draws.reduce(
    (sum, { prompts, promptTokens, samples, newTokens }) =>
      sum +
      forwardFlop(size, prompts * promptTokens, promptTokens / 2) +
      forwardFlop(size, samples * newTokens, promptTokens + newTokens / 2),
    0,
  )

/** Log-probs of samples behind other prompts than they were drawn from. */
export const engineScoring = (
  size: ModelSize,
  draws: readonly EngineDraw[],
  { groupTrainGflops }: EngineSpeed,
): number => scoringFlop(size, draws) / (groupTrainGflops * 1e9)

/** Forward once, backward twice as long. A value head goes through with the rest, and what it takes is not worth counting. */
export const engineUpdate = (
  draws: readonly EngineDraw[],
  learning: EngineLearning,
  speed: EngineSpeed,
): number => {
  const { size, trainedParameters, adapter, reference, epochs, minibatches, learntShare, recompute } =
    learning
  const forward = scoringFlop(size, draws)
  const { trainGflops, groupTrainGflops, optimizerMsPerMillionParams } = speed
  // The benchmark counts three passes, and took four where layers went forward once more.
  const perPass = speed.recompute ? 4 / 3 : 1
  const rate = perPass * (learning.supervised ? trainGflops : groupTrainGflops)
  const passes = Number(reference) + ((adapter ? 2 : 3) + Number(recompute)) * epochs * learntShare
  const optimizer = (epochs * minibatches * optimizerMsPerMillionParams * trainedParameters) / 1e9
  return (forward * passes) / (rate * 1e9) + optimizer
}
