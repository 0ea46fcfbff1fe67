/** @file Results in protobuf: `ForwardBackwardOutput` and `SampleResponse`, written by a server, read by a client. */

import { WireType } from '@bufbuild/protobuf/wire'
import { DataError } from '../util/errors.ts'
import { MessageWriter } from '../util/protobuf.ts'
import type {
  ForwardBackwardOutput,
  SampledSequence,
  SampleOutput,
  TopPromptLogprobs,
  WireTensor,
} from './messages.ts'
import { FieldReader, type FieldReaders, readEntry, readMessage, readSizes } from './protobuf-reader.ts'
import { dtypeCode, dtypeOf } from './protobuf-request.ts'
import { tensorBytes, valuesOfBytes } from './tensor-bytes.ts'

const NO_BYTES = new Uint8Array(0)

/** One name's values for all datums, one after the other; `offsets` are where each begins and ends, in bytes. */
interface BatchedTensor {
  data: Uint8Array
  offsets: readonly number[]
  dtype: number
  trailing: number[]
}

const joinedBytes = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

const int64Bytes = (values: readonly number[]): Uint8Array => {
  const bytes = new Uint8Array(values.length * 8)
  const view = new DataView(bytes.buffer)
  values.forEach((value, i) => void view.setBigInt64(i * 8, BigInt(value), true))
  return bytes
}

const writeBatched = (writer: MessageWriter, tensors: readonly WireTensor[]): void => {
  const parts = tensors.map(tensorBytes)
  const offsets = [0]
  for (const { length } of parts) offsets.push(offsets[offsets.length - 1] + length)
  writer
    .data(1, joinedBytes(parts))
    .data(2, int64Bytes(offsets))
    .integer(3, dtypeCode(tensors[0].dtype))
    .packed(4, tensors[0].shape.slice(1))
}

/** Datums one after the other with the same names share a record. */
const recordsOf = (outputs: ForwardBackwardOutput['outputs']) => {
  const records: { names: string[]; datums: Readonly<Record<string, WireTensor>>[] }[] = []
  for (const datum of outputs) {
    const names = Object.keys(datum)
    const last = records.at(-1)
    if (last && last.names.join('\0') === names.join('\0')) last.datums.push(datum)
    else records.push({ names, datums: [datum] })
  }
  return records
}

export const encodeForwardBackwardOutput = ({
  outputType,
  outputs,
  metrics,
}: ForwardBackwardOutput): Uint8Array => {
  const writer = new MessageWriter().text(1, outputType)
  for (const { names, datums } of recordsOf(outputs))
    writer.message(2, record => {
      for (const name of names) {
        const tensors = datums.map(datum => datum[name])
        record.message(2, entry => entry.text(1, name).message(2, inner => writeBatched(inner, tensors)))
      }
      record.integer(3, datums.length)
    })
  for (const [name, value] of Object.entries(metrics))
    writer.message(3, entry => entry.text(1, name).float64(2, value))
  return writer.finish()
}

const BATCHED: FieldReaders<BatchedTensor> = {
  1: (reader, tensor) => {
    tensor.data = reader.bytes()
  },
  2: (reader, tensor) => {
    tensor.offsets = Array.from(valuesOfBytes(reader.bytes(), 'int64', 'offsets'))
  },
  3: (reader, tensor) => {
    tensor.dtype = reader.int32()
  },
  4: (reader, tensor, wire) => readSizes(reader, wire, tensor.trailing),
}

/** The values of each datum. @throws DataError for offsets that do not cut the data into so many */
const splitBatched = (
  { data, offsets, dtype, trailing }: BatchedTensor,
  datums: number,
  name: string,
): WireTensor[] => {
  const type = dtypeOf(dtype, name)
  const ends = offsets.length === 0 && datums === 1 ? [0, data.length] : offsets
  const rising = ends.every((end, i) => end >= (i === 0 ? 0 : ends[i - 1]) && end <= data.length)
  if (ends.length !== datums + 1 || !rising)
    throw new DataError(
      `${name}: expected ${datums + 1} rising offsets within ${data.length} bytes, got [${ends.slice(0, 8).join(', ')}]; the answer is damaged`,
    )
  const inner = trailing.reduce((product, size) => product * size, 1)
  return Array.from({ length: datums }, (_, i) => {
    const values = valuesOfBytes(data.subarray(ends[i], ends[i + 1]), type, name)
    return { dtype: type, data: values, shape: [values.length / Math.max(inner, 1), ...trailing] }
  })
}

interface ArrayRecord {
  fields: [string, FieldReader][]
  datums: number
}

const RECORD: FieldReaders<ArrayRecord> = {
  2: (reader, { fields }) => {
    const [name, field] = readEntry(reader.within(), inner => inner.within(), 'fields')
    fields.push([name, field ?? new FieldReader(NO_BYTES)])
  },
  3: (reader, record) => {
    record.datums = reader.int32()
  },
}

const readRecord = (reader: FieldReader): Record<string, WireTensor>[] => {
  const { fields, datums } = readMessage<ArrayRecord>(
    reader,
    RECORD,
    { fields: [], datums: 1 },
    'ArrayRecord',
  )
  const outputs = Array.from({ length: datums }, (): Record<string, WireTensor> => ({}))
  for (const [name, field] of fields) {
    const empty: BatchedTensor = { data: NO_BYTES, offsets: [], dtype: 1, trailing: [] }
    const tensor = readMessage(field, BATCHED, empty, name)
    splitBatched(tensor, datums, name).forEach((values, i) => {
      outputs[i][name] = values
    })
  }
  return outputs
}

interface RawOutput {
  outputType: string
  outputs: Record<string, WireTensor>[]
  metrics: Record<string, number>
}

const OUTPUT: FieldReaders<RawOutput> = {
  1: (reader, output) => {
    output.outputType = reader.string()
  },
  2: (reader, { outputs }) => {
    outputs.push(...readRecord(reader.within()))
  },
  3: (reader, { metrics }) => {
    // Numbers of either width, or a number within a message, as servers have written them.
    const [name, value] = readEntry(
      reader.within(),
      (inner, wire) => (wire === WireType.Bit32 ? inner.float() : inner.double()),
      'metrics',
    )
    metrics[name] = value ?? 0
  },
}

/** @throws DataError for bytes that are no such message */
export const decodeForwardBackwardOutput = (bytes: Uint8Array): ForwardBackwardOutput =>
  readMessage(bytes, OUTPUT, { outputType: '', outputs: [], metrics: {} }, 'ForwardBackwardOutput')

/** What stands at a place of which nothing is known, as the official SDK reads it. */
const UNKNOWN_LOGPROB = -99999

const writeTop = (writer: MessageWriter, { k, tokens, logprobs }: TopPromptLogprobs): void => {
  const known = logprobs.map(value => (Number.isNaN(value) ? UNKNOWN_LOGPROB : value))
  writer
    .data(1, tensorBytes({ dtype: 'int32', data: tokens }))
    .data(2, tensorBytes({ dtype: 'float32', data: known }))
    .integer(3, k)
    .integer(4, tokens.length / k)
}

export const encodeSampleOutput = ({
  sequences,
  promptLogprobs,
  topPromptLogprobs,
}: SampleOutput): Uint8Array => {
  const writer = new MessageWriter()
  for (const { stopReason, tokens, logprobs } of sequences)
    writer.message(1, inner => {
      if (stopReason === 'length') inner.integer(1, 1)
      inner.data(2, tensorBytes({ dtype: 'int32', data: tokens }))
      if (logprobs) inner.data(3, tensorBytes({ dtype: 'float32', data: logprobs }))
    })
  if (promptLogprobs) writer.data(2, tensorBytes({ dtype: 'float32', data: promptLogprobs }))
  if (topPromptLogprobs) writer.message(3, inner => writeTop(inner, topPromptLogprobs))
  return writer.finish()
}

interface RawSequence {
  stop: number
  tokens: Int32Array
  logprobs: Float32Array | null
}

const floats = (bytes: Uint8Array, place: string) => valuesOfBytes(bytes, 'float32', place) as Float32Array

const SEQUENCE: FieldReaders<RawSequence> = {
  1: (reader, sequence) => {
    sequence.stop = reader.int32()
  },
  2: (reader, sequence) => {
    sequence.tokens = valuesOfBytes(reader.bytes(), 'int32', 'tokens') as Int32Array
  },
  3: (reader, sequence) => {
    sequence.logprobs = floats(reader.bytes(), 'logprobs')
  },
}

interface RawSample {
  sequences: SampledSequence[]
  promptLogprobs: Float32Array | null
}

const SAMPLE: FieldReaders<RawSample> = {
  1: (reader, { sequences }) => {
    const empty: RawSequence = { stop: 0, tokens: new Int32Array(0), logprobs: null }
    const { stop, tokens, logprobs } = readMessage(reader.within(), SEQUENCE, empty, 'SampledSequence')
    sequences.push({ stopReason: stop === 0 ? 'stop' : 'length', tokens, logprobs })
  },
  2: (reader, sample) => {
    sample.promptLogprobs = floats(reader.bytes(), 'prompt_logprobs')
  },
}

/** @throws DataError for bytes that are no such message */
export const decodeSampleOutput = (bytes: Uint8Array): SampleOutput =>
  readMessage(bytes, SAMPLE, { sequences: [], promptLogprobs: null }, 'SampleResponse')
