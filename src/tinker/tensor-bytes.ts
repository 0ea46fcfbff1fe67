/** @file Tensors as bytes, little-endian whatever the machine, and back. */

import { DataError } from '../util/errors.ts'
import type { WireDtype, WireTensor } from './messages.ts'

const BYTES_PER_VALUE: Readonly<Record<WireDtype, number>> = { float32: 4, int64: 8, int32: 4 }

export const tensorBytes = ({ dtype, data }: Pick<WireTensor, 'dtype' | 'data'>): Uint8Array => {
  const size = BYTES_PER_VALUE[dtype]
  const bytes = new Uint8Array(data.length * size)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < data.length; i++) {
    if (dtype === 'float32') view.setFloat32(i * size, data[i], true)
    else if (dtype === 'int32') view.setInt32(i * size, data[i], true)
    else view.setBigInt64(i * size, BigInt(data[i]), true)
  }
  return bytes
}

/** Int64 as a number that an Int32Array holds. @throws DataError beyond 32 bits: no vocabulary has as many tokens */
const smallInt = (value: bigint, place: string): number => {
  const small = BigInt.asIntN(32, value)
  if (small !== value)
    throw new DataError(
      `${place}: expected whole numbers within 32 bits, got ${value}; these are no token ids`,
    )
  return Number(small)
}

/**
 * @param place named in errors
 * @throws DataError for bytes that are not a whole number of values
 */
export const valuesOfBytes = (
  bytes: Uint8Array,
  dtype: WireDtype,
  place: string,
): Float32Array | Int32Array => {
  const size = BYTES_PER_VALUE[dtype]
  if (bytes.length % size !== 0)
    throw new DataError(
      `${place}: expected a multiple of ${size} bytes for ${dtype}, got ${bytes.length}; the message is cut or of another type`,
    )
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const values = new (dtype === 'float32' ? Float32Array : Int32Array)(bytes.length / size)
  for (let i = 0; i < values.length; i++) {
    if (dtype === 'float32') values[i] = view.getFloat32(i * size, true)
    else if (dtype === 'int32') values[i] = view.getInt32(i * size, true)
    else values[i] = smallInt(view.getBigInt64(i * size, true), place)
  }
  return values
}
