/** @file `ForwardBackwardRequest` in protobuf: written by a client, read by a server. Field numbers as in the official SDK 0.38. */

import { DataError } from '../util/errors.ts'
import { MessageWriter } from '../util/protobuf.ts'
import {
  type ForwardBackwardRequest,
  MOST_CHUNKS,
  MOST_DATUMS,
  MOST_TENSORS,
  type WireDatum,
  type WireDtype,
  type WireTensor,
} from './messages.ts'
import {
  FieldReader,
  type FieldReaders,
  readEntry,
  readMessage,
  readSizes,
  safeNumber,
} from './protobuf-reader.ts'
import { tensorBytes, valuesOfBytes } from './tensor-bytes.ts'

const DTYPES: readonly (WireDtype | null)[] = [null, 'float32', 'int64', 'int32']

/** @throws DataError for types that no loss reads (bfloat16) */
export const dtypeOf = (code: number, place: string): WireDtype => {
  const dtype = DTYPES[code]
  if (dtype) return dtype
  throw new DataError(`${place}: expected float32, int64 or int32, got type ${code}; send another type`)
}

export const dtypeCode = (dtype: WireDtype): number => DTYPES.indexOf(dtype)

const writeTensor = (writer: MessageWriter, tensor: WireTensor): void => {
  writer.data(1, tensorBytes(tensor)).integer(3, dtypeCode(tensor.dtype)).packed(4, tensor.shape)
}

const writeDatum = (writer: MessageWriter, { tokens, inputs }: WireDatum): void => {
  writer.message(1, chunk =>
    chunk.message(1, text => text.data(1, tensorBytes({ dtype: 'int32', data: tokens }))),
  )
  for (const [name, tensor] of Object.entries(inputs))
    writer.message(2, entry => entry.text(1, name).message(2, inner => writeTensor(inner, tensor)))
}

export const encodeForwardBackward = (request: ForwardBackwardRequest): Uint8Array => {
  const writer = new MessageWriter().text(1, request.modelId).integer(2, request.seqId)
  for (const datum of request.data) writer.message(3, inner => writeDatum(inner, datum))
  writer.text(4, request.lossFn)
  for (const [key, value] of Object.entries(request.config ?? {}))
    writer.message(5, entry => entry.text(1, key).float64(2, value))
  if (request.forwardOnly) writer.integer(6, 1)
  return writer.finish()
}

interface RawTensor {
  bytes: Uint8Array | null
  dtype: number
  shape: number[]
}

const TENSOR: FieldReaders<RawTensor> = {
  1: (reader, tensor) => {
    tensor.bytes = reader.bytes()
  },
  2: () => {
    throw new DataError('tensor: expected dense values, got sparse ones; send them dense')
  },
  3: (reader, tensor) => {
    tensor.dtype = reader.int32()
  },
  4: (reader, tensor, wire) => readSizes(reader, wire, tensor.shape),
}

/** A shape that fits the values; one dimension where none is said. @throws DataError */
export const checkedShape = (shape: readonly number[], values: number, place: string): readonly number[] => {
  if (shape.length === 0) return [values]
  if (shape.reduce((product, size) => product * size, 1) === values && shape.every(size => size >= 0))
    return shape
  throw new DataError(
    `${place}: expected as many values as the shape [${shape.join(', ')}] says, got ${values}; build it from one sequence`,
  )
}

const readTensor = (reader: FieldReader, name: string): WireTensor => {
  const raw = readMessage(reader, TENSOR, { bytes: null, dtype: 1, shape: [] }, name)
  const dtype = dtypeOf(raw.dtype, name)
  const data = valuesOfBytes(raw.bytes ?? new Uint8Array(0), dtype, name)
  return { dtype, data, shape: checkedShape(raw.shape, data.length, name) }
}

const notText = (kind: string) => () => {
  throw new DataError(`model_input: expected text tokens, got ${kind}; only text models are served`)
}

const ENCODED_TEXT: FieldReaders<Int32Array[]> = {
  1: (reader, parts) => {
    parts.push(valuesOfBytes(reader.bytes(), 'int32', 'model_input') as Int32Array)
  },
}

const CHUNK: FieldReaders<Int32Array[]> = {
  1: (reader, parts) => {
    readMessage(reader.within(), ENCODED_TEXT, parts, 'encoded_text')
  },
  2: notText('an image'),
  3: notText('sound'),
}

interface RawDatum {
  parts: Int32Array[]
  inputs: Record<string, WireTensor>
  /** What came, empty ones and those of one name among them. */
  chunks: number
  tensors: number
}

/** @throws DataError where a list would have more entries than may be */
const assertRoom = (have: number, most: number, what: string): void => {
  if (have < most) return
  throw new DataError(`${what}: expected at most ${most}, got more; send fewer at a time`)
}

const DATUM: FieldReaders<RawDatum> = {
  1: (reader, datum) => {
    assertRoom(datum.chunks++, MOST_CHUNKS, 'model_input.chunks')
    readMessage(reader.within(), CHUNK, datum.parts, 'chunk')
  },
  2: (reader, datum) => {
    assertRoom(datum.tensors++, MOST_TENSORS, 'loss_fn_inputs')
    const [name, tensor] = readEntry(reader.within(), inner => inner.within(), 'loss_fn_inputs')
    datum.inputs[name] = readTensor(tensor ?? new FieldReader(new Uint8Array(0)), `loss_fn_inputs.${name}`)
  },
}

/** Parts of a sequence one after the other. */
export const joinedBytes = (parts: readonly Int32Array[]): Int32Array => {
  const all = new Int32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

type RawRequest = { -readonly [K in keyof ForwardBackwardRequest]: ForwardBackwardRequest[K] } & {
  data: WireDatum[]
  config: Record<string, number>
}

/** A setting of version 2 is a number (1) or a text (2). */
const CONFIG_VALUE: FieldReaders<{ number?: number }> = {
  1: (reader, value) => {
    value.number = reader.double()
  },
  2: () => {
    throw new DataError('loss_fn_config: expected numbers, got text; no loss here has a setting that is text')
  },
}

const readNumberEntry = (reader: FieldReader, value: (reader: FieldReader) => number): [string, number] => {
  const [key, number] = readEntry(reader, value, 'loss_fn_config')
  return [key, number ?? 0]
}

const REQUEST: FieldReaders<RawRequest> = {
  1: (reader, request) => {
    request.modelId = reader.string()
  },
  2: (reader, request) => {
    request.seqId = safeNumber(reader.int64())
  },
  3: (reader, { data }) => {
    assertRoom(data.length, MOST_DATUMS, 'data')
    const empty: RawDatum = { parts: [], inputs: {}, chunks: 0, tensors: 0 }
    const raw = readMessage(reader.within(), DATUM, empty, `data[${data.length}]`)
    data.push({ tokens: joinedBytes(raw.parts), inputs: raw.inputs })
  },
  4: (reader, request) => {
    request.lossFn = reader.string()
  },
  5: (reader, { config }) => {
    const [key, value] = readNumberEntry(reader.within(), inner => inner.double())
    config[key] = value
  },
  6: (reader, request) => {
    request.forwardOnly = reader.bool()
  },
  7: (reader, { config }) => {
    const [key, value] = readNumberEntry(
      reader.within(),
      inner =>
        readMessage<{ number?: number }>(inner.within(), CONFIG_VALUE, {}, 'loss_fn_config_v2').number ?? 0,
    )
    config[key] = value
  },
}

/** @throws DataError for bytes that are no such message, and for contents that no text model can be trained on */
export const decodeForwardBackward = (bytes: Uint8Array): ForwardBackwardRequest => {
  const raw: RawRequest = { modelId: '', seqId: 0, data: [], lossFn: '', config: {}, forwardOnly: false }
  const { config, ...request } = readMessage(bytes, REQUEST, raw, 'ForwardBackwardRequest')
  return { ...request, ...(Object.keys(config).length > 0 && { config }) }
}
