/** @file The work of one step of a training in numbers. */

import type { ModelConfig } from '../../model/config.ts'
import type { LoraConfig } from '../../model/lora-files.ts'
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
  /** In this process the critic is a model of its own and no head: a pass of values and its learning come on top. Default false. */
  ownCritic?: boolean
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
