/** @file Reading protobuf messages field by field, with errors that say which message is damaged. */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { DataError } from '../util/errors.ts'

/** Reads the value of a field; what has no reader is passed over, as a later version's field. */
export type FieldReaders<T> = Readonly<
  Record<number, (reader: BinaryReader, message: T, wire: WireType) => void>
>

/**
 * Reads a message into `message`.
 * @throws DataError for bytes that are none
 */
export const readMessage = <T>(bytes: Uint8Array, fields: FieldReaders<T>, message: T, name: string): T => {
  const reader = new BinaryReader(bytes)
  try {
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag()
      const read = fields[field]
      if (read) read(reader, message, wire)
      else reader.skip(wire, field)
    }
  } catch (error) {
    if (error instanceof DataError) throw error
    throw new DataError(
      `${name}: expected a protobuf message, got bytes that are none (${(error as Error).message})`,
      {
        hint: 'check that both sides speak the same dialect',
        cause: error,
      },
    )
  }
  return message
}

/** Whole numbers of a repeated field, packed or one by one. @throws DataError beyond what a number holds */
export const readIntegers = (reader: BinaryReader, wire: WireType, into: number[]): void => {
  const one = () => into.push(safeNumber(reader.int64()))
  if (wire !== WireType.LengthDelimited) {
    one()
    return
  }
  const end = reader.uint32() + reader.pos
  while (reader.pos < end) one()
}

/** @throws DataError beyond what a number holds exactly */
export const safeNumber = (value: bigint | string): number => {
  const number = Number(value)
  if (!Number.isSafeInteger(number))
    throw new DataError(`protobuf: expected a whole number below 2^53, got ${value}; the message is damaged`)
  return number
}

/** An entry of a map: key and the bytes or number of its value, as the reader of field 2 makes it. */
export const readEntry = <V>(
  bytes: Uint8Array,
  value: (reader: BinaryReader, wire: WireType) => V,
  name: string,
): [string, V | undefined] => {
  const entry: { key: string; value?: V } = { key: '' }
  readMessage(
    bytes,
    {
      1: (reader, target) => {
        target.key = reader.string()
      },
      2: (reader, target, wire) => {
        target.value = value(reader, wire)
      },
    } satisfies FieldReaders<{ key: string; value?: V }>,
    entry,
    name,
  )
  return [entry.key, entry.value]
}
