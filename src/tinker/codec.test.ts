import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import {
  forwardBackwardJson,
  forwardBackwardOf,
  forwardBackwardOutputJson,
  forwardBackwardOutputOf,
  sampleOutputJson,
  sampleOutputOf,
} from './json.ts'
import { type ForwardBackwardOutput, floatTensor, type SampleOutput, tokenTensor } from './messages.ts'
import {
  decodeForwardBackwardOutput,
  decodeSampleOutput,
  encodeForwardBackwardOutput,
  encodeSampleOutput,
} from './protobuf-output.ts'
import { decodeForwardBackward, encodeForwardBackward } from './protobuf-request.ts'

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Written by the official SDK 0.38.0, and answered by SkyRL: one forward of one datum of five tokens. */
const REQUEST =
  'Cg5tb2RlbF9lMTUwNjhhNxABGoQBChgKFgoUCgAAABQAAAAeAAAAKAAAADIAAAASJgoHd2VpZ2h0cxIbChQAAAAAAAAAAAAAgD8AAIA/AACAPxgBIgEFEkAKDXRhcmdldF90b2tlbnMSLwooFAAAAAAAAAAeAAAAAAAAACgAAAAAAAAAMgAAAAAAAAA8AAAAAAAAABgCIgEFIg1jcm9zc19lbnRyb3B5MAE='
const OUTPUT =
  'CgZzY2FsYXISehI+ChBlbGVtZW50d2lzZV9sb3NzEioKFAAAAIAAAACA7EatQCS1mkCpgJhAEhAAAAAAAAAAABQAAAAAAAAAGAESNgoIbG9ncHJvYnMSKgoUPOimwHoid8DsRq3AJLWawKmAmMASEAAAAAAAAAAAFAAAAAAAAAAYARgB'
const SAMPLES = 'Ch4IARIMTQAAAHUAAABqAAAAGgzc2LjAW3iFwP7YrcAKHggBEgxiAAAAJAAAADUAAAAaDJ22osAy+6vAroiRwA=='

const REQUEST_MEANS = {
  modelId: 'model_e15068a7',
  seqId: 1,
  data: [
    {
      tokens: Int32Array.of(10, 20, 30, 40, 50),
      inputs: {
        weights: floatTensor([0, 0, 1, 1, 1]),
        target_tokens: tokenTensor([20, 30, 40, 50, 60]),
      },
    },
  ],
  lossFn: 'cross_entropy',
  forwardOnly: true,
}

describe('messages of the official SDK in protobuf', () => {
  it('a request is read, and written with the same bytes', () => {
    expect(decodeForwardBackward(bytesOf(REQUEST))).toEqual(REQUEST_MEANS)
    expect(base64Of(encodeForwardBackward(REQUEST_MEANS))).toBe(REQUEST)
  })

  it('a result of a loss is read, and written with the same bytes', () => {
    const output = decodeForwardBackwardOutput(bytesOf(OUTPUT))
    expect(output.outputType).toBe('scalar')
    expect(output.outputs).toHaveLength(1)
    const { logprobs, elementwise_loss } = output.outputs[0]
    // The values of the JSON dialect for the same datum and weights, as far as they are printed there.
    expect(Array.from(logprobs.data, x => Math.round(x * 100) / 100)).toEqual([
      -5.22, -3.86, -5.41, -4.83, -4.77,
    ])
    expect(Array.from(elementwise_loss.data, x => Math.round(x * 100) / 100)).toEqual([
      -0, -0, 5.41, 4.83, 4.77,
    ])
    expect(base64Of(encodeForwardBackwardOutput(output))).toBe(OUTPUT)
  })

  it('samples are read, and written with the same bytes', () => {
    const output = decodeSampleOutput(bytesOf(SAMPLES))
    expect(output.sequences.map(({ tokens }) => Array.from(tokens))).toEqual([
      [77, 117, 106],
      [98, 36, 53],
    ])
    expect(output.sequences[0].stopReason).toBe('length')
    expect(Array.from(output.sequences[0].logprobs!, x => Math.round(x * 1000) / 1000)).toEqual([
      -5.776, -4.171, -5.433,
    ])
    expect(base64Of(encodeSampleOutput(output))).toBe(SAMPLES)
  })
})

describe('messages as JSON', () => {
  const DATUM =
    '{"loss_fn_inputs":{"target_tokens":{"data":[20,30,40,50,60],"dtype":"int64","shape":[5]},"weights":{"data":[0,0,1,1,1],"dtype":"float32","shape":[5]}},"model_input":{"chunks":[{"tokens":[10,20,30,40,50],"type":"encoded_text"}]}}'

  it('are read and written as the official SDK 0.24.1 writes them', () => {
    const body = {
      forward_input: { data: [JSON.parse(DATUM)], loss_fn: 'cross_entropy' },
      model_id: 'model_e15068a7',
      seq_id: 1,
    }
    expect(forwardBackwardOf(body)).toEqual(REQUEST_MEANS)
    expect(forwardBackwardJson(REQUEST_MEANS)).toEqual(body)
    const learning = forwardBackwardJson({
      ...REQUEST_MEANS,
      forwardOnly: false,
      config: { clip_low_threshold: 0.8 },
    })
    expect(Object.keys(learning)).toContain('forward_backward_input')
    expect(forwardBackwardOf(learning)).toMatchObject({
      forwardOnly: false,
      config: { clip_low_threshold: 0.8 },
    })
  })

  it('results say the same as in protobuf', () => {
    const output = decodeForwardBackwardOutput(bytesOf(OUTPUT))
    const through = forwardBackwardOutputOf(JSON.parse(JSON.stringify(forwardBackwardOutputJson(output))))
    expect(through.outputs[0].logprobs).toEqual(output.outputs[0].logprobs)
    const samples = decodeSampleOutput(bytesOf(SAMPLES))
    expect(sampleOutputOf(JSON.parse(JSON.stringify(sampleOutputJson(samples))))).toEqual(samples)
  })

  it('a result as SkyRL writes it, and what is not finite', () => {
    const result = JSON.parse(
      '{"sequences":[{"stop_reason":"length","tokens":[77,117,106],"logprobs":[-5.776,-4.171,-5.433]}],"prompt_logprobs":null}',
    )
    expect(sampleOutputOf(result)).toMatchObject({ promptLogprobs: null })
    expect(sampleOutputOf({ sequences: [], prompt_logprobs: [null, -1.5] }).promptLogprobs).toEqual(
      Float32Array.of(Number.NaN, -1.5),
    )
    expect(
      JSON.stringify(sampleOutputJson({ sequences: [], promptLogprobs: Float32Array.of(Number.NaN) })),
    ).toBe('{"sequences":[],"prompt_logprobs":[null]}')
  })
})

const float = fc.float({ noNaN: true, noDefaultInfinity: true })
const token = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const named = (length: number) =>
  fc
    .tuple(
      fc.array(float, { minLength: length, maxLength: length }),
      fc.array(token, { minLength: length, maxLength: length }),
    )
    .map(([logprobs, ids]) => ({ logprobs: floatTensor(logprobs), ids: tokenTensor(ids) }))
const outputs: fc.Arbitrary<ForwardBackwardOutput> = fc.record({
  outputType: fc.string(),
  outputs: fc.array(fc.integer({ min: 0, max: 5 }).chain(named), { maxLength: 4 }),
  metrics: fc.dictionary(
    fc.string().filter(key => key !== '__proto__'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
})
const samples: fc.Arbitrary<SampleOutput> = fc.record({
  sequences: fc.array(
    fc.record({
      stopReason: fc.constantFrom('stop' as const, 'length' as const),
      tokens: fc.array(token).map(ids => Int32Array.from(ids)),
      logprobs: fc.option(fc.array(float).map(values => Float32Array.from(values))),
    }),
  ),
  promptLogprobs: fc.option(fc.array(float).map(values => Float32Array.from(values))),
})

/** `-0` and `0` are one number in JSON. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('whatever is written is read again', () => {
  it('results, in both dialects', () => {
    fc.assert(
      fc.property(outputs, output => {
        expect(decodeForwardBackwardOutput(encodeForwardBackwardOutput(output))).toEqual(output)
        const json = plain(forwardBackwardOutputJson(output))
        expect(plain(forwardBackwardOutputJson(forwardBackwardOutputOf(json)))).toEqual(json)
      }),
    )
  })

  it('samples, in both dialects', () => {
    fc.assert(
      fc.property(samples, output => {
        expect(decodeSampleOutput(encodeSampleOutput(output))).toEqual(output)
        const json = plain(sampleOutputJson(output))
        expect(plain(sampleOutputJson(sampleOutputOf(json)))).toEqual(json)
      }),
    )
  })

  it('a damaged message is refused with an error for the reader, or read as another one', () => {
    const whole = [bytesOf(REQUEST), bytesOf(OUTPUT), bytesOf(SAMPLES)]
    const readers = [decodeForwardBackward, decodeForwardBackwardOutput, decodeSampleOutput]
    fc.assert(
      fc.property(fc.nat(2), fc.nat(300), fc.nat(255), fc.boolean(), (which, at, byte, cut) => {
        const bytes = Uint8Array.from(whole[which])
        bytes[at % bytes.length] = byte
        const damaged = cut ? bytes.subarray(0, at % bytes.length) : bytes
        try {
          readers[which](damaged)
        } catch (error) {
          expect(error).toBeInstanceOf(DataError)
        }
      }),
      { numRuns: 3000 },
    )
  })
})

describe('what no text model can use', () => {
  const text = { chunks: [{ tokens: [1], type: 'encoded_text' }] }
  const body = (datum: object) => ({
    model_id: 'm',
    seq_id: 1,
    forward_input: { data: [datum], loss_fn: 'ppo' },
  })

  it('is refused by name', () => {
    const tensor = (data: number[], shape: number[], dtype = 'int64') => ({
      model_input: text,
      loss_fn_inputs: { target_tokens: { data, dtype, shape } },
    })
    expect(() => forwardBackwardOf(body(tensor([1, 2], [3])))).toThrow(
      /target_tokens: expected as many values as the shape/,
    )
    expect(() => forwardBackwardOf(body(tensor([2 ** 40], [1])))).toThrow(/within 32 bits/)
    expect(() => forwardBackwardOf(body(tensor([1], [1], 'bfloat16')))).toThrow(/float32, int64, int32/)
    const image = { model_input: { chunks: [{ type: 'image', tokens: [] }] }, loss_fn_inputs: {} }
    expect(() => forwardBackwardOf(body(image))).toThrow(/encoded_text/)
    expect(() => forwardBackwardOf({ model_id: 'm' })).toThrow(/got neither/)
  })
})
