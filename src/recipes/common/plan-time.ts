/** @file How long a training would take, from its operations: an order of magnitude, for a plan. */

import { formatCount, formatInteger } from '../../util/format.ts'

/** Operations a second, and tokens that are decoded: two cores of a laptop, and a large accelerator at two fifths of its peak. */
const SPEEDS = {
  'two cores': { operations: 2e11, decoded: 12e3 },
  'an accelerator of 4e14 operations a second': { operations: 4e14, decoded: Number.POSITIVE_INFINITY },
} as const

/** Two operations a parameter for a token that is sampled, read or scored, six for one that is learnt from. */
const OPERATIONS = { forward: 2, learning: 6 } as const

export interface PlannedWork {
  parameters: number
  steps: number
  /** New tokens of a step, of responses as long as they may be. */
  newTokens: number
  /** Tokens of a step's prompts. */
  readTokens: number
  /** Whether a critic reads all of it once more. */
  critic: boolean
  /** Passes of learning over a step's samples. */
  epochs: number
  /** Whether layers go forward once more on the way back. */
  recompute: boolean
}

/** Operations of a step, and hours of the whole training by machine. */
export interface PlannedTime {
  operationsPerStep: number
  hours: Record<string, number>
}

/** Sampling and updates; evaluations, graders and what grows with the square of a sequence are not in it. */
export const planTime = (work: PlannedWork): PlannedTime => {
  const { parameters, steps, newTokens, readTokens, critic, epochs, recompute } = work
  const learning = OPERATIONS.learning + (recompute ? OPERATIONS.forward : 0)
  const passes = OPERATIONS.forward * (critic ? 2 : 1) + learning * epochs
  const operationsPerStep = parameters * (newTokens + readTokens) * passes
  const hours = Object.fromEntries(
    Object.entries(SPEEDS).map(([name, { operations, decoded }]) => [
      name,
      (steps * (operationsPerStep / operations + newTokens / decoded)) / 3600,
    ]),
  )
  return { operationsPerStep, hours }
}

/** Of supervised learning: rows are read and learnt from, and some tokens may be sampled before the first step. */
export interface SupervisedTimeWork {
  parameters: number
  steps: number
  /** Tokens of a step's rows, prompts and responses. */
  rowTokens: number
  sampledTokens: number
}

/**
 * Models of fewer parameters keep two cores from their speed: small products, and what is no product. The four is from the
 * shipped starts: models/records-start took about 40 min of one core, models/arithmetic-start about 20, for which operations
 * alone give 5 and 2 min of two.
 */
const MINIATURE = { parameters: 4e6, slower: 4 } as const

/** Learning alone; evaluations and what grows with the square of a sequence are not in it. */
export const supervisedTime = (work: SupervisedTimeWork): PlannedTime => {
  const { parameters, steps, rowTokens, sampledTokens } = work
  const operationsPerStep = parameters * rowTokens * OPERATIONS.learning
  const sampling = parameters * sampledTokens * OPERATIONS.forward
  const isSmall = parameters < MINIATURE.parameters
  const hours = Object.fromEntries(
    Object.entries(SPEEDS).map(([name, { operations, decoded }]) => [
      name,
      (((isSmall && name === 'two cores' ? MINIATURE.slower : 1) * (steps * operationsPerStep + sampling)) /
        operations +
        sampledTokens / decoded) /
        3600,
    ]),
  )
  return { operationsPerStep, hours }
}

/** Hours from which nobody waits for an end; their digits say nothing. */
const MANY_HOURS = 10_000

const hoursText = (hours: number): string => {
  if (hours < 1 / 60) return 'under a minute'
  if (hours < 1) return `about ${Math.round(60 * hours)} min`
  return `about ${hours < MANY_HOURS ? formatInteger(Math.round(hours)) : formatCount(hours)} h`
}

/** @param without what the time supposes, and what is not in it */
export const timeLine = (
  { hours }: PlannedTime,
  without = 'if every response is as long as it may be; without evaluations and graders',
): string =>
  `time         ${Object.entries(hours)
    .map(([name, own]) => `${hoursText(own)} on ${name}`)
    .join(', ')}, ${without}`
