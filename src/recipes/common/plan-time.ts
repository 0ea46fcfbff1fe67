/** @file The work of one step of a training in numbers, and how long a training would take by it: an order of magnitude, for a plan. */

import type { ModelConfig } from '../../model/config.ts'
import type { LoraConfig } from '../../model/lora-files.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import type { RoleWork } from './remote-plan.ts'

/** Samples of a role, and what becomes of them. */
export interface PlannedRole extends RoleWork {
  name: string
  /** Prompts that samples are learnt from, where those are others than they were sampled from. */
  learnt?: { groups: number; promptTokens: number }
}

/** Calls of one kind that a step makes of a judge. */
export interface JudgeCalls {
  name: string
  /** Of one step, on average. */
  callsPerStep: number
  /** Tokens of a prompt that all calls begin with, and those that no other call has: what is asked about. */
  instructionTokens: number
  ownTokens: number
  /** Tokens that calls in a row have in common, beside the responses: a conversation. */
  sharedTokens: number
  /** Whole samples that a call shows, and whose. */
  shown: { role: string; samples: number }
  /** Calls in a row that show the same: criteria of a response. */
  callsPerShown: number
  /** Of an answer. */
  completionTokens: number
}

export interface StepWork {
  /** What is trained, in words. */
  model: string
  /** Null where it is not known before the model is there. */
  shape: ModelConfig | null
  /** What is trained in place of all weights. */
  lora: LoraConfig | null
  /** A frozen model whose log-probs are asked for. */
  reference: boolean
  /** A value head on a second pass of the same size. */
  critic: boolean
  /** Passes that score samples before they are learnt from, beside the reference's. */
  scorings: number
  steps: number
  minibatches: number
  epochs: number
  /** Learnt from and, but for supervised learning, sampled. */
  roles: readonly PlannedRole[]
  judges: readonly JudgeCalls[]
  /** Rows decoded together, and tokens of a micro-batch, where the policy is in this process. */
  maxRows: number
  microBatchTokens: number
  /** Whether layers are computed once more on the way back, in this process. On GPUs they always are. */
  recompute: boolean
  supervised: boolean
}

const CHARACTERS_PER_TOKEN = 4

/** Characters as tokens, where no tokenizer says more. */
export const tokensFromCharacters = (characters: number): number => characters / CHARACTERS_PER_TOKEN

/**
 * Operations a second of learning and reading, and of decoding beside the tokens a second that no model exceeds: two cores of a
 * laptop, and a large accelerator at two fifths of its peak. Those of two cores are from SmolLM2-135M-Instruct (64 rows, an adapter):
 * updates 2.0e11, decoding 5.6e10 where rows end at all lengths, 7e10 where they end together.
 */
const SPEEDS = {
  'two cores': { operations: 2e11, decoding: 7e10, decoded: 12e3 },
  'an accelerator of 4e14 operations a second': {
    operations: 4e14,
    decoding: 4e14,
    decoded: Number.POSITIVE_INFINITY,
  },
} as const

/** Operations a parameter and token: two forward, two for the gradient of what comes in, two for that of the weights. */
const OPERATIONS = { forward: 2, learning: 6, adapter: 4 } as const

/** Of a run: what a step takes, and evaluations. */
export type PlannedWork = Pick<
  StepWork,
  'steps' | 'epochs' | 'critic' | 'recompute' | 'lora' | 'reference' | 'scorings' | 'roles'
> & {
  parameters: number
  /** Tokens that all evaluations sample. */
  evaluatedTokens: number
}

/** Operations of a step, and hours of the whole training by machine: of responses as long as they may be, and of half of that. */
export interface PlannedTime {
  operationsPerStep: number
  hours: Record<string, number>
  hoursAtHalf?: Record<string, number>
}

/** Tokens of a step: new ones, prompts read (once a group), and what is learnt from, every sample behind its prompt. */
const stepTokens = ({ roles, steps }: Pick<PlannedWork, 'roles' | 'steps'>) => {
  const sum = (of: (role: PlannedRole) => number) =>
    roles.reduce((total, role) => total + ((role.steps ?? steps) / Math.max(steps, 1)) * of(role), 0)
  return {
    sampled: sum(({ groups, samples, newTokens }) => groups * samples * newTokens),
    read: sum(({ groups, promptTokens }) => groups * promptTokens),
    learnt: sum(
      ({ groups, samples, promptTokens, newTokens }) => groups * samples * (promptTokens + newTokens),
    ),
  }
}

/** Operations a parameter for a token that is learnt from: passes with and without gradient. */
const learningPasses = ({ lora, recompute, epochs, reference, critic, scorings }: PlannedWork): number => {
  const gradient = (lora ? OPERATIONS.adapter : OPERATIONS.learning) + (recompute ? OPERATIONS.forward : 0)
  return epochs * gradient + OPERATIONS.forward * (Number(reference) + Number(critic) + scorings)
}

/** The same with responses that have a share of the tokens they may have. */
const shortened = (work: PlannedWork, share: number): PlannedWork => ({
  ...work,
  roles: work.roles.map(role => ({ ...role, newTokens: share * role.newTokens })),
  evaluatedTokens: share * work.evaluatedTokens,
})

const timeOf = (work: PlannedWork): Pick<PlannedTime, 'operationsPerStep' | 'hours'> => {
  const { parameters, steps, evaluatedTokens } = work
  const { sampled, read, learnt } = stepTokens(work)
  const rest = parameters * (OPERATIONS.forward * read + learningPasses(work) * learnt)
  const newTokens = steps * sampled + evaluatedTokens
  const hours = Object.fromEntries(
    Object.entries(SPEEDS).map(([name, { operations, decoding, decoded }]) => [
      name,
      ((steps * rest) / operations +
        newTokens * ((OPERATIONS.forward * parameters) / decoding + 1 / decoded)) /
        3600,
    ]),
  )
  return { operationsPerStep: rest + OPERATIONS.forward * parameters * sampled, hours }
}

/** Sampling, updates, evaluations; graders and what grows with the square of a sequence are not in it. */
export const planTime = (work: PlannedWork): PlannedTime => ({
  ...timeOf(work),
  hoursAtHalf: timeOf(shortened(work, 0.5)).hours,
})

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
export const timeLine = ({ hours, hoursAtHalf }: PlannedTime, without?: string): string => {
  const of = (name: string) =>
    [...new Set([hoursAtHalf ?? hours, hours].map(each => hoursText(each[name])))].join(' to ')
  const supposed = without ?? 'with responses half as long as they may be to as long; without graders'
  return `time         ${Object.keys(hours)
    .map(name => `${of(name)} on ${name}`)
    .join(', ')}, ${supposed}`
}
