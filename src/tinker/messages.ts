/**
 * @file What the two sides of the Tinker training protocol tell each other, apart from how it is written down. Data and results
 * of computations only: those are written in two dialects (`json.ts`, `protobuf-request.ts` and
 * `protobuf-output.ts`); all else is JSON.
 */

/** Types of tensors on the wire; their data lie here as what holds them. Token ids beyond 32 bits are refused. */
export type WireDtype = 'float32' | 'int64' | 'int32'

export interface WireTensor {
  dtype: WireDtype
  /** float32: Float32Array; int64 and int32: Int32Array. */
  data: Float32Array | Int32Array
  shape: readonly number[]
}

/** One sequence: tokens that go in, and per token what the loss reads (targets are the tokens moved by one). */
export interface WireDatum {
  tokens: Int32Array
  inputs: Readonly<Record<string, WireTensor>>
}

export interface ForwardBackwardRequest {
  modelId: string
  /** Counts the requests of a model from 1; a server carries them out in this order. */
  seqId: number
  data: readonly WireDatum[]
  lossFn: string
  config?: Readonly<Record<string, number>>
  /** Log-probs and losses only, no gradient. */
  forwardOnly: boolean
}

export interface ForwardBackwardOutput {
  outputType: string
  /** For each datum, by name: `logprobs`, and what else the server tells. */
  outputs: readonly Readonly<Record<string, WireTensor>>[]
  /** Names may carry how chunks of a batch are put together: `loss:sum`. */
  metrics: Readonly<Record<string, number>>
}

export interface SampledSequence {
  stopReason: 'stop' | 'length'
  tokens: Int32Array
  /** One a token; null where the server gives none. */
  logprobs: Float32Array | null
}

/** The likeliest tokens at each place of a prompt, [length, k]; of the first place nothing is known. */
export interface TopPromptLogprobs {
  k: number
  tokens: Int32Array
  logprobs: Float32Array
}

export interface SampleOutput {
  sequences: readonly SampledSequence[]
  /** One a token of the prompt, or one less (the first has none); NaN where there is none. Null unless asked for. */
  promptLogprobs: Float32Array | null
  /** Only where they were asked for. */
  topPromptLogprobs?: TopPromptLogprobs
}

/** Sequences in one request: four times as many as the official SDK sends. */
export const MOST_DATUMS = 4096
/** Pieces of a text, which is one as a rule. */
export const MOST_CHUNKS = 1024
/** Tensors of a sequence; no loss reads more than four. */
export const MOST_TENSORS = 64

/** The media type of the second dialect. */
export const PROTOBUF = 'application/x-protobuf'
/** Path of every call, after the address of the server. */
export const API_PATH = '/api/v1'

export const floatTensor = (values: ArrayLike<number>): WireTensor => ({
  dtype: 'float32',
  data: Float32Array.from(values),
  shape: [values.length],
})

export const tokenTensor = (values: ArrayLike<number>): WireTensor => ({
  dtype: 'int64',
  data: Int32Array.from(values),
  shape: [values.length],
})
