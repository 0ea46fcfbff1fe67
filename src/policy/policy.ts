/** @file What a policy can do, wherever it runs: sample, score, learn, save. */

import type { TokenAutomaton } from '../model/automaton.ts'
import type { Datum, TokenIds } from '../rl/datum.ts'
import type { LossSpec } from '../rl/loss.ts'

export interface SamplingOptions {
  /** Most tokens a sample may have. */
  maxTokens: number
  /** 0 is greedy; log-probs are then those at temperature 1. */
  temperature?: number
  /** Only the k likeliest tokens; 0 for all. Truncation does not change the log-probs that are returned. */
  topK?: number
  /** Only the likeliest tokens that together reach this probability. */
  topP?: number
  /** A sample ends with one of these; the token is kept as its last. The model's end-of-text tokens by default. */
  stopTokens?: readonly number[]
  /** A sample ends when its text contains one of these; needs a tokenizer. */
  stopStrings?: readonly string[]
  /** Every sample has its own stream, named by seed, prompt and index: batching never changes what is drawn. */
  seed?: number | string
  /**
   * Holds samples to a grammar: only tokens that the automaton lets pass are drawn, in the proportions that the policy gives
   * them. Log-probs stay those of the whole distribution, as with truncation. A state without tokens ends the sample.
   */
  automaton?: TokenAutomaton
  /** Alternatives reported for each token, likeliest first, with the log-probs of `Sample.logprobs`. 0 by default. */
  topLogprobs?: number
}

export interface SampleRequest extends SamplingOptions {
  /** Token ids of each prompt; at least one token. */
  prompts: readonly TokenIds[]
  /** G: samples of each prompt. */
  samplesPerPrompt?: number
  /** A seed for each prompt in place of `seed` and the prompt's number: the random numbers do not depend on its neighbours. */
  promptSeeds?: readonly (number | string)[]
}

/** A turn that is to be drawn. */
export interface TurnStart {
  /** Most tokens that it may have. */
  maxTokens: number
  /** Names its random stream, which does not depend on its neighbours. */
  stream: string
}

/** What follows a turn: what was said to it, and the next one. */
export interface NextTurn extends TurnStart {
  /** At least one token. */
  tokens: TokenIds
}

export interface ConverseRequest extends Omit<SamplingOptions, 'seed' | 'maxTokens' | 'topLogprobs'> {
  /** Neighbours with the same prompt have it computed once where all such groups are of one size. */
  rows: readonly (TurnStart & { prompt: TokenIds })[]
  /**
   * Replies come within milliseconds: a row goes on with the next token but one, and the decoder waits for its reply until
   * then. Otherwise rows go in a few parts that do not wait for each other, each in rounds: while one hears its replies, the
   * others are decoded. Either way it depends on what was drawn alone, never on the clock, which rows are computed together.
   */
  instant: boolean
}

/** Whatever the row says at the end of a turn is answered; null: it is over. */
export type TurnReply = (row: number, turn: Sample) => Promise<NextTurn | null>

/** A token of a sample that is still growing. */
export interface SampledToken {
  prompt: number
  index: number
  token: number
  logprob: number
  /** Present where `topLogprobs` asked for it. */
  top?: TokenAlternative[]
}

export interface TokenAlternative {
  token: number
  logprob: number
}

export interface Sample {
  /** Index into `prompts`. */
  prompt: number
  /** 0..G-1 within the prompt's group. */
  index: number
  tokens: Int32Array
  /** Per token, under the temperature used, before truncation by top-k or top-p. */
  logprobs: Float32Array
  /** Alternatives of each token; present where `topLogprobs` asked for them. */
  top?: TokenAlternative[][]
  finishReason: 'stop' | 'length'
  /** Optimiser steps that the weights had taken which drew it; only where sampling may lag behind (`Policy.version`). */
  version?: number
}

/** Tokens to be scored after a prompt. */
export interface ScoreItem {
  promptTokens: TokenIds
  tokens: TokenIds
  /** As in `Datum`. */
  targets?: TokenIds
}

export interface LogprobOptions {
  temperature?: number
  /**
   * `current`, the default: the newest weights. `sampling`: those that `sample` draws from, which differ where sampling has
   * weights of its own (`Policy.syncWeights`); in 32 bits all the same. `reference`: those frozen by `freezeReference`.
   */
  weights?: 'current' | 'sampling' | 'reference'
}

/** One entry per token of the item. */
export interface TokenScores {
  logprobs: Float32Array
  /** Entropy of the distribution that the token was drawn from, nats; absent where the policy cannot tell. */
  entropies?: Float32Array
  /** The critic's estimate before the token; only of a model with a value head. */
  values?: Float32Array
}

/** AdamW with decoupled weight decay, which acts on matrices only. */
export interface OptimizerSettings {
  learningRate: number
  /** Of the value head, or of a critic of its own; `learningRate` where absent. A policy without a critic has no use for it. */
  valueLearningRate?: number
  beta1?: number
  beta2?: number
  epsilon?: number
  weightDecay?: number
  /**
   * Largest global norm of the gradient; 0 switches clipping off. One norm over everything that is trained, the value head
   * included, whatever its learning rate: policy and critic share a trunk, and its gradient is of both (Stable-Baselines3 and
   * CleanRL clip their shared networks so). A critic that is a model of its own is clipped apart (verl).
   */
  maxGradNorm?: number
}

/** How an optimiser step is taken. */
export interface StepOptions extends OptimizerSettings {
  /** Have the step's gradient, before clipping, kept under a name, and compared with others that were kept. */
  gradient?: { keepAs: string; against: readonly string[] }
}

/** How the loss of a batch is computed. */
export interface LossOptions {
  loss: LossSpec
  /** Temperature that logits are divided by, the one of sampling. */
  temperature?: number
  /** Which prompt each datum answers, for aggregations that average over prompts. */
  prompts?: readonly (number | string)[]
  /** Have each token's log-prob, that the gradient was taken with, in `BatchStats.logprobs`. */
  logprobs?: boolean
}

/**
 * What a batch was like when its gradient was taken; means are over policy tokens. A value that the policy cannot give is
 * absent, never zero.
 */
export interface BatchStats {
  loss: number
  /** Policy tokens. */
  tokens: number
  /** Aggregated terms of the loss before their coefficients; a term that the loss lacks is 0. */
  parts?: { policy?: number; kl?: number; entropy?: number; value?: number; crossEntropy?: number }
  clipFraction?: number
  /** Mean entropy of the token distributions, nats. */
  entropy?: number
  /** Mean of old - new log-prob (k1 estimate of the KL that the steps have built up before this one). */
  oldKl?: number
  /** Largest |new - old| log-prob: on the first batch after sampling, the sampler/trainer difference. */
  maxLogprobDifference?: number
  meanLogprobDifference?: number
  /** Largest and smallest ratio exp(new - old). */
  maxRatio?: number
  minRatio?: number
  /** Pieces that the batch went through the network in. */
  microBatches?: number
  /** Per datum and token, masked ones too; only where `LossOptions.logprobs` asked for it. */
  logprobs?: readonly Float32Array[]
}

/** What one optimiser step did; absent is what the policy cannot tell. */
export interface StepStats {
  /** Global norm of the gradient before clipping. */
  gradNorm?: number
  /** Cosine of the angle between this step's gradient and kept ones, by name; null where one of them is zero. */
  gradientCosines?: Readonly<Record<string, number | null>>
}

/** A language model that is being trained. Calls are carried out in the order in which they were made. */
export interface Policy {
  /**
   * Samples in the order of the prompts, groups together. `onSample` gets each one as soon as it is finished, `onToken` each
   * token as it is drawn.
   */
  sample(
    request: SampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]>
  /**
   * Samples rows of several turns and keeps what it has computed of them between turns, so that of each turn only what is new
   * goes through the network. The prompt of the `Sample`s is their row, their index 0. Absent: every turn takes a call of
   * `sample` with all that was said before. What is drawn is the same but for rounding: the same streams, log-probs within
   * 1e-4 (with sampling in 8 bits .1: what was drawn is not read anew). The policy does nothing else meanwhile, so `reply` must not ask it for anything.
   */
  converse?(request: ConverseRequest, reply: TurnReply): Promise<void>
  score(items: readonly ScoreItem[], options?: LogprobOptions): Promise<TokenScores[]>
  /** Why this policy cannot compute a loss, in words that follow the setting's name; null when it can. */
  refuses(loss: LossSpec): string | null
  /**
   * Takes loss and gradient of a batch and adds the gradient, as it is, to what is accumulated: the next step follows the
   * sum. The loss's aggregation is over the datums of this one call, so batches that are to count as one whole need an
   * aggregation that does not divide by what a call holds (`token-sum` with a scale), or losses that the caller has scaled.
   * Weights do not change: `sample`, `score`, `freezeReference` and `syncWeights` may come between this and `step`.
   * @throws NumericError when loss or log-probs are not finite; DataError, ShapeError for datums that cannot be used;
   * ConfigError for a loss that the policy refuses. Whatever is thrown, all that was accumulated is dropped.
   */
  accumulate(datums: readonly Datum[], options: LossOptions): Promise<BatchStats>
  /**
   * One optimiser step with what was accumulated, which is used up by it.
   * @throws NumericError when the gradient is not finite: no weight has changed, and what was accumulated is dropped;
   * UsageError when nothing is accumulated.
   */
  step(options: StepOptions): Promise<StepStats>
  /**
   * Gives sampling the newest weights. Only where sampling has weights of its own, so that it can go on beside `accumulate` and `step`:
   * they stay as they are until this is called; what is being sampled is finished with the old ones. A policy without it
   * samples from the newest weights always, and does one call after the other.
   */
  syncWeights?(): Promise<void>
  /**
   * Optimiser steps that the weights in training have taken, for policies that say of each sample which ones drew it
   * (`Sample.version`): the difference is how stale a sample is.
   */
  readonly version?: number
  /** A critic that is a model of its own; absent: a value head of the policy's, or none. */
  readonly critic?: CriticModel
  /** Keeps a copy of the current weights as the KL reference, those of an adapter with what it has learnt so far. */
  freezeReference(): Promise<void>
  /**
   * Writes a Hugging Face checkpoint (PEFT layout for adapters), with optimiser state unless told not to.
   * @param options `last`: training ends with it, so that what lies elsewhere may be brought here
   * @throws UsageError while a gradient is accumulated, which no checkpoint holds: a run could not go on where it was.
   */
  save(folder: string, options?: { optimizer?: boolean; last?: boolean }): Promise<void>
  /** Reads weights, and optimiser state where the folder has it, from a checkpoint of `save`; drops what was accumulated. */
  load(folder: string): Promise<void>
  /**
   * Reads from a checkpoint's folder what of it lies elsewhere; the function removes that, once the folder is gone. It fails
   * silently: what stays behind only takes room. Absent: all of a checkpoint is in its folder.
   */
  forget?(folder: string): () => Promise<void>
  close(): Promise<void>
}

/** What estimates rewards to come: its scores have values, and it learns the value term of a loss. A policy with a value head is one. */
export interface CriticModel
  extends Pick<Policy, 'refuses' | 'accumulate' | 'step' | 'save' | 'load' | 'forget' | 'close'> {
  score(items: readonly ScoreItem[], options?: LogprobOptions): Promise<Pick<TokenScores, 'values'>[]>
  /**
   * Asked once before anything is sampled, where only an answer tells that there is a critic at all.
   * @throws TinkerError where there is none
   */
  assertThere?(): Promise<void>
}
