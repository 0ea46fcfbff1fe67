/**
 * @file Seconds of a step in this process, by how fast a machine computes: nominal where a plan asks for an order of magnitude,
 * measured where `gradus plan` does. Graders and tools work beside, or take what they take.
 */

import { modelTensors } from '../../policy/local/weight-sizes.ts'
import { ConfigError } from '../../util/errors.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { forwardFlop, type ModelSize, sizeOf } from './model-size.ts'
import type { PlannedRole, StepWork } from './step-work.ts'

/** What a step of decoding takes: so much for each layer, and so much for the arithmetic of each row. */
export interface DecodeRate {
  secondsPerLayer: number
  secondsPerFlop: number
}

/** How fast a machine computes. */
export interface Speed {
  /** Operations a second of learning: from rows of their own, and from groups, which is that of reading prompts as well. */
  trainFlops: number
  groupTrainFlops: number
  /** Seconds of an optimiser step for a parameter. */
  optimizer: number
  /** Of samples with prompts of their own, and of those that share one. */
  decoding: DecodeRate
  sharedDecoding: DecodeRate
  /** How much longer sampling takes where samples end at different times, and rows leave the batch. At least 1. */
  raggedness: number
}

/**
 * Models of fewer parameters keep two cores from their speed: small products, and what is no product. The four is from the
 * shipped starts: models/records-start took about 40 min of one core, models/arithmetic-start about 20, for which operations
 * alone give 5 and 2 min of two.
 */
const MINIATURE = { parameters: 4e6, slower: 4 } as const

/** Tokens a second that no model exceeds there. */
const MOST_DECODED = 12e3

/**
 * Two cores of a laptop. From SmolLM2-135M-Instruct (64 rows, an adapter): updates 2.0e11 operations a second, decoding 5.6e10 where
 * rows end at all lengths, 7e10 where they end together.
 */
const twoCores = ({ parameters }: ModelSize): Speed => {
  const flops = 2e11 / (parameters < MINIATURE.parameters ? MINIATURE.slower : 1)
  const decoding = { secondsPerLayer: 0, secondsPerFlop: 1 / 7e10 + 1 / (MOST_DECODED * 2 * parameters) }
  return {
    ...{ trainFlops: flops, groupTrainFlops: flops, optimizer: 1e-9 },
    ...{ decoding, sharedDecoding: decoding, raggedness: 1.25 },
  }
}

/** Samples of a step, in tokens. Means, but for the longest. */
export interface SampledDraw {
  prompts: number
  promptTokens: number
  samples: number
  newTokens: number
  longestTokens: number
}

/** Seconds of drawing samples. Rows are decoded together up to `maxRows`, then the next; a group's prompt is read once. */
export const samplingTime = (size: ModelSize, draw: SampledDraw, maxRows: number, speed: Speed): number => {
  const { prompts, promptTokens, samples, newTokens, longestTokens } = draw
  const { secondsPerLayer, secondsPerFlop } = samples > 1.5 * prompts ? speed.sharedDecoding : speed.decoding
  const steps = Math.ceil(samples / maxRows) * longestTokens
  const context = promptTokens + newTokens / 2
  const decoding =
    steps * size.layers * secondsPerLayer + forwardFlop(size, samples * newTokens, context) * secondsPerFlop
  const prefill = forwardFlop(size, prompts * promptTokens, promptTokens / 2) / speed.groupTrainFlops
  return (decoding + prefill) * (longestTokens > newTokens ? speed.raggedness : 1)
}

/** Operations of scoring samples once: a group's prompt goes through once. */
const scoringFlop = (size: ModelSize, draws: readonly SampledDraw[]): number =>
  draws.reduce(
    (sum, { prompts, promptTokens, samples, newTokens }) =>
      sum +
      forwardFlop(size, prompts * promptTokens, promptTokens / 2) +
      forwardFlop(size, samples * newTokens, promptTokens + newTokens / 2),
    0,
  )

/** What of the work of a step decides its time. */
export type TimedWork = Omit<StepWork, 'judges' | 'microBatchTokens' | 'critic'>

/**
 * Seconds of learning: forward once, backward twice as long. A value head goes through with the rest, and what it takes is not worth
 * counting; a critic of its own reads and learns as much as the policy.
 * @param learntShare of the groups: those with a spread, where others are left out
 */
export const learningTime = (
  size: ModelSize,
  draws: readonly SampledDraw[],
  work: Omit<TimedWork, 'shape' | 'model' | 'roles' | 'maxRows' | 'scorings' | 'steps'> & { trained: number },
  speed: Speed,
  learntShare = 1,
): number => {
  const { lora, reference, epochs, minibatches, recompute, supervised, trained, ownCritic = false } = work
  const models = 1 + Number(ownCritic)
  const learning = ((lora ? 2 : 3) + Number(recompute)) * epochs * learntShare
  const passes = Number(reference) + Number(ownCritic) + models * learning
  const flops = supervised ? speed.trainFlops : speed.groupTrainFlops
  const steps = models * epochs * minibatches
  return (scoringFlop(size, draws) * passes) / flops + steps * speed.optimizer * trained
}

/** Tokens of a role's samples, as a run had them. */
export interface KnownLengths {
  newTokens: number
  longestTokens: number
}

/** What is known of a run beyond its settings. */
export interface KnownRun {
  lengths: ReadonlyMap<string, KnownLengths>
  /** Share of the groups that were learnt from. */
  learntShare: number
}

/** Mean and longest length of a step's samples, over what they may have. */
export interface AssumedLengths {
  responseShare: number
  longestShare: number
}

export interface TimedStep {
  sampling: number
  update: number
  /** Sum of both. */
  step: number
}

/** Where the model is known. @throws ConfigError where it is not */
export const shapeOfWork = ({ shape, model }: Pick<StepWork, 'shape' | 'model'>) => {
  if (shape !== null) return shape
  throw new ConfigError(`${model}: expected a model whose shape is known, got a folder without config.json`, {
    hint: 'put the model there, or say which published one it is with --model Qwen2.5-7B',
  })
}

/** Share of the steps that have a role. */
export const presenceOf = ({ steps }: PlannedRole, work: Pick<StepWork, 'steps'>): number =>
  steps === undefined || work.steps === 0 ? 1 : steps / work.steps

const drawOf = (
  role: PlannedRole,
  { supervised }: TimedWork,
  use: AssumedLengths,
  known?: KnownRun,
): SampledDraw => {
  const lengths = known?.lengths.get(role.name) ?? {
    newTokens: supervised ? role.newTokens : role.newTokens * use.responseShare,
    longestTokens: role.newTokens * use.longestShare,
  }
  return {
    ...{ prompts: role.groups, promptTokens: role.promptTokens, samples: role.groups * role.samples },
    ...lengths,
  }
}

/** @throws ConfigError for a model that is not known */
export const timeOfStep = (
  work: TimedWork,
  speed: Speed,
  use: AssumedLengths,
  known?: KnownRun,
): TimedStep => {
  const shape = shapeOfWork(work)
  const size = sizeOf(shape)
  const draws = work.roles.map(role => ({
    draw: drawOf(role, work, use, known),
    share: presenceOf(role, work),
    behind: role.learnt ?? role,
  }))
  const learnt = draws.map(({ draw, share, behind }) => ({
    ...draw,
    promptTokens: behind.promptTokens,
    prompts: behind.groups * share,
    samples: draw.samples * share,
  }))
  const drawing = draws.reduce(
    (sum, { share, draw }) => sum + share * samplingTime(size, draw, work.maxRows, speed),
    0,
  )
  // Samples that were shown something else are scored behind their own prompts before grading ends.
  const scoring = (work.scorings * scoringFlop(size, learnt)) / speed.groupTrainFlops
  const sampling = work.supervised ? 0 : drawing + scoring
  const { trained } = modelTensors(shape, work.lora)
  const update = learningTime(size, learnt, { ...work, trained }, speed, known?.learntShare)
  return { sampling, update, step: sampling + update }
}

/** Hours of a whole training on two cores: with responses as long as they may be, and with half of that. */
export interface PlannedTime {
  hours: number
  hoursAtHalf?: number
}

/**
 * Sampling, updates, evaluations; graders are not in it.
 * @param others samples beside those of the steps: of all evaluations, or before the first step
 * @throws ConfigError for a model that is not known
 */
export const planTime = (
  work: TimedWork,
  others: Pick<SampledDraw, 'samples' | 'promptTokens' | 'newTokens'>,
): PlannedTime => {
  const size = sizeOf(shapeOfWork(work))
  const speed = twoCores(size)
  const { samples, newTokens } = others
  const hoursAt = (responseShare: number): number => {
    const drawn = {
      ...others,
      prompts: samples,
      newTokens: responseShare * newTokens,
      longestTokens: newTokens,
    }
    const { step } = timeOfStep(work, speed, { responseShare, longestShare: 1 })
    return (work.steps * step + samplingTime(size, drawn, work.maxRows, speed)) / 3600
  }
  return { hours: hoursAt(1), ...(!work.supervised && { hoursAtHalf: hoursAt(0.5) }) }
}

/** Hours from which nobody waits for an end; their digits say nothing. */
const MANY_HOURS = 10_000

const hoursText = (hours: number): string => {
  if (hours < 1 / 60) return 'under a minute'
  if (hours < 1) return `about ${Math.round(60 * hours)} min`
  return `about ${hours < MANY_HOURS ? formatInteger(Math.round(hours)) : formatCount(hours)} h`
}

/** @param supposed what the time supposes, and what is not in it */
export const timeLine = (
  { hours, hoursAtHalf = hours }: PlannedTime,
  supposed = 'with responses half as long as they may be to as long; without graders',
): string =>
  `time         ${[...new Set([hoursAtHalf, hours].map(hoursText))].join(' to ')} on two cores, ${supposed}`
