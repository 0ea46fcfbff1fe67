/** @file Reading protobuf messages field by field, with errors that say which message is damaged. */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { DataError } from '../util/errors.ts'

/**
 * Fields of a message and of all messages in it: an empty one takes two bytes, and what is made of it a hundred. A thousand
 * sequences have thirty thousand.
 */
const MOST_FIELDS = 500_000
/** Dimensions of a tensor. */
export const MOST_SIZES = 8

/** Reads fields, and counts them together with those of the messages within. */
export class FieldReader extends BinaryReader {
  #count = { fields: 0 }

  /** @throws DataError beyond `MOST_FIELDS` */
  override tag(): ReturnType<BinaryReader['tag']> {
    if (++this.#count.fields > MOST_FIELDS)
      throw new DataError(`protobuf: expected at most ${MOST_FIELDS} fields, got more; send less at a time`)
    return super.tag()
  }

  /** Of the message that this field is. */
  within(): FieldReader {
    const inner = new FieldReader(this.bytes())
    inner.#count = this.#count
    return inner
  }
}

/** Reads the value of a field; what has no reader is passed over, as a later version's field. */
export type FieldReaders<T> = Readonly<
  Record<number, (reader: FieldReader, message: T, wire: WireType) => void>
>

/**
 * Reads a message into `message`.
 * @param from its bytes, or the reader of one within another
 * @throws DataError for bytes that are none
 */
export const readMessage = <T>(
  from: Uint8Array | FieldReader,
  fields: FieldReaders<T>,
  message: T,
  name: string,
): T => {
  const reader = from instanceof FieldReader ? from : new FieldReader(from)
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

/** Sizes of a tensor's dimensions, packed or one by one. @throws DataError beyond what a number holds, or for too many */
export const readSizes = (reader: FieldReader, wire: WireType, into: number[]): void => {
  const one = () => {
    if (into.push(safeNumber(reader.int64())) > MOST_SIZES)
      throw new DataError(`shape: expected at most ${MOST_SIZES} dimensions, got more`)
  }
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
  entryReader: FieldReader,
  value: (reader: FieldReader, wire: WireType) => V,
  name: string,
): [string, V | undefined] => {
  const entry: { key: string; value?: V } = { key: '' }
  readMessage(
    entryReader,
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
