/** @file The same data and results in JSON, as SDKs up to 0.24 and SkyRL write them: both directions. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { plainList, shortList } from '../util/untrusted-lists.ts'
import { eventLoopYield } from '../util/yield-to-event-loop.ts'
import {
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  MOST_CHUNKS,
  MOST_DATUMS,
  MOST_TENSORS,
  type SampleOutput,
  type TopPromptLogprobs,
  type WireDatum,
  type WireDtype,
  type WireTensor,
} from './messages.ts'
import { MOST_SIZES } from './protobuf-reader.ts'
import { checkedShape, joinedBytes } from './protobuf-request.ts'

/** A number as JSON has it; what is not finite is written as null, or as Python writes it. */
const isNumber = (value: unknown): boolean => typeof value === 'number' || value === null || value === 'NaN'

const numbersSchema = plainList(isNumber, 'a number, or null', list => {
  const values = new Float64Array(list.length)
  // A loop: millions of them, and `from` with a function takes twenty times as long.
  for (let i = 0; i < list.length; i++) {
    const value = list[i]
    values[i] = typeof value === 'number' ? value : Number.NaN
  }
  return values
})

const isToken = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value

const tokensSchema = plainList(isToken, 'a whole number within 32 bits', list =>
  Int32Array.from(list as readonly number[]),
)

const tensorSchema = z.looseObject({
  data: numbersSchema,
  dtype: z.enum(['float32', 'int64', 'int32']).default('float32'),
  shape: shortList(z.int().min(0), MOST_SIZES, 'dimensions').nullish(),
})

const chunkSchema = z.looseObject({
  tokens: tokensSchema,
  type: z.literal('encoded_text').default('encoded_text'),
})

/** Text that goes in: `{chunks: [{tokens, type: "encoded_text"}]}`. */
export const modelInputSchema = z.looseObject({ chunks: shortList(chunkSchema, MOST_CHUNKS, 'chunks') })

const datumSchema = z.looseObject({
  model_input: modelInputSchema,
  loss_fn_inputs: z
    .custom<object>(inputs => Object.keys(Object(inputs)).length <= MOST_TENSORS, {
      error: `an object of at most ${MOST_TENSORS} tensors; leave out what the loss does not read`,
      abort: true,
    })
    .pipe(z.record(z.string(), tensorSchema)),
})

const lossInputSchema = z.looseObject({
  data: shortList(datumSchema, MOST_DATUMS, 'sequences').refine(
    ({ length }) => length > 0,
    'at least 1 entry',
  ),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
})

/** Of `forward` and `forward_backward`: their bodies differ in one name. */
const requestSchema = z.looseObject({
  model_id: z.string(),
  seq_id: z.int().min(0).default(0),
  forward_backward_input: lossInputSchema.optional(),
  forward_input: lossInputSchema.optional(),
})

const outputSchema = z.looseObject({
  loss_fn_output_type: z.string().default(''),
  loss_fn_outputs: z.array(z.record(z.string(), tensorSchema)),
  metrics: z
    .record(z.string(), z.number().nullable())
    .nullish()
    .transform(metrics =>
      Object.fromEntries(Object.entries(metrics ?? {}).map(([name, value]) => [name, value ?? Number.NaN])),
    ),
})

const sampleSchema = z.looseObject({
  sequences: z.array(
    z.looseObject({
      stop_reason: z.enum(['stop', 'length']),
      tokens: tokensSchema,
      logprobs: numbersSchema.nullish(),
    }),
  ),
  prompt_logprobs: numbersSchema.nullish(),
})

/** JSON has no NaN: what is not finite becomes null, which readers take for it. */
const numbers = (values: Float32Array | Int32Array): (number | null)[] =>
  Array.from(values, value => (Number.isFinite(value) ? value : null))

const tensorJson = ({ dtype, data, shape }: WireTensor) => ({ data: numbers(data), dtype, shape: [...shape] })

const tensorsJson = (tensors: Readonly<Record<string, WireTensor>>) =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensorJson(tensor)]))

const tensorOf = (
  { data, dtype, shape }: { data: Float64Array; dtype: WireDtype; shape?: readonly number[] | null },
  place: string,
): WireTensor => {
  const whole = dtype !== 'float32'
  const odd = whole ? data.findIndex(value => !Number.isInteger(value) || Math.abs(value) >= 2 ** 31) : -1
  if (odd >= 0)
    throw new DataError(
      `${place}: expected whole numbers within 32 bits, got ${data[odd]} at ${odd}; these are no token ids`,
    )
  return {
    dtype,
    data: whole ? Int32Array.from(data) : Float32Array.from(data),
    shape: checkedShape(shape ?? [], data.length, place),
  }
}

const tensorsOf = (tensors: Record<string, z.output<typeof tensorSchema>>, place: string) =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, tensorOf(tensor, `${place}.${name}`)]),
  )

/** `{chunks: [...]}` of a text. */
export const modelInputJson = (tokens: ArrayLike<number>) => ({
  chunks: [{ tokens: Array.from(tokens), type: 'encoded_text' }],
})

/** The tokens of a text, whose chunks lie one after the other. */
export const modelInputTokens = ({ chunks }: z.output<typeof modelInputSchema>): Int32Array =>
  joinedBytes(chunks.map(({ tokens }) => tokens))

const datumJson = ({ tokens, inputs }: WireDatum) => ({
  loss_fn_inputs: tensorsJson(inputs),
  model_input: modelInputJson(tokens),
})

/** Body of `forward_backward`, or of `forward` where no gradient is wanted. */
export const forwardBackwardJson = (request: ForwardBackwardRequest) => {
  const { modelId, seqId, data, lossFn, config, forwardOnly } = request
  const input = {
    data: data.map(datumJson),
    loss_fn: lossFn,
    ...(config && { loss_fn_config: { ...config } }),
  }
  return {
    [forwardOnly ? 'forward_input' : 'forward_backward_input']: input,
    model_id: modelId,
    seq_id: seqId,
  }
}

/** @throws DataError for a body that is none */
export const forwardBackwardOf = (body: unknown): ForwardBackwardRequest => {
  const request = parseWith(requestSchema, body, 'body', DataError)
  const input = request.forward_backward_input ?? request.forward_input
  if (!input)
    throw new DataError(
      'body: expected forward_backward_input or forward_input, got neither; send what is to be computed',
    )
  return {
    modelId: request.model_id,
    seqId: request.seq_id,
    data: input.data.map((datum, i) => ({
      tokens: modelInputTokens(datum.model_input),
      inputs: tensorsOf(datum.loss_fn_inputs, `data[${i}].loss_fn_inputs`),
    })),
    lossFn: input.loss_fn,
    ...(input.loss_fn_config && { config: input.loss_fn_config }),
    forwardOnly: request.forward_backward_input === undefined,
  }
}

export const forwardBackwardOutputJson = ({ outputType, outputs, metrics }: ForwardBackwardOutput) => ({
  loss_fn_output_type: outputType,
  loss_fn_outputs: outputs.map(tensorsJson),
  metrics: { ...metrics },
})

/** The same as text; others have their turn between two datums, because numbers take a while to be written. */
export const forwardBackwardOutputText = async (output: ForwardBackwardOutput): Promise<string> => {
  const yieldToEventLoop = eventLoopYield()
  const datums: string[] = []
  for (const datum of output.outputs) {
    await yieldToEventLoop()
    datums.push(JSON.stringify(tensorsJson(datum)))
  }
  const { loss_fn_outputs: _none, ...rest } = forwardBackwardOutputJson({ ...output, outputs: [] })
  return `{"loss_fn_outputs":[${datums.join(',')}],${JSON.stringify(rest).slice(1)}`
}

/** @throws DataError for a body that is none */
export const forwardBackwardOutputOf = (body: unknown): ForwardBackwardOutput => {
  const output = parseWith(outputSchema, body, 'result', DataError)
  return {
    outputType: output.loss_fn_output_type,
    outputs: output.loss_fn_outputs.map((tensors, i) => tensorsOf(tensors, `loss_fn_outputs[${i}]`)),
    metrics: output.metrics,
  }
}

/** A list of pairs for each place, null for the first. */
const topJson = ({ k, tokens, logprobs }: TopPromptLogprobs) =>
  Array.from({ length: tokens.length / k }, (_, place) =>
    place === 0
      ? null
      : Array.from({ length: k }, (_, i) => [tokens[place * k + i], logprobs[place * k + i]]),
  )

export const sampleOutputJson = ({ sequences, promptLogprobs, topPromptLogprobs: top }: SampleOutput) => ({
  sequences: sequences.map(({ stopReason, tokens, logprobs }) => ({
    stop_reason: stopReason,
    tokens: Array.from(tokens),
    logprobs: logprobs && numbers(logprobs),
  })),
  prompt_logprobs: promptLogprobs && numbers(promptLogprobs),
  ...(top && { topk_prompt_logprobs: topJson(top) }),
})

/** @throws DataError for a body that is none */
export const sampleOutputOf = (body: unknown): SampleOutput => {
  const { sequences, prompt_logprobs: prompt } = parseWith(sampleSchema, body, 'result', DataError)
  return {
    sequences: sequences.map(({ stop_reason, tokens, logprobs }) => ({
      stopReason: stop_reason,
      tokens,
      logprobs: logprobs ? Float32Array.from(logprobs) : null,
    })),
    promptLogprobs: prompt ? Float32Array.from(prompt) : null,
  }
}
