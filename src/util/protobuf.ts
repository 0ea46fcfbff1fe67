/** @file Fields of protobuf messages: each with the tag of its type. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** Writes a message, or a part of one, field by field. */
export class MessageWriter extends BinaryWriter {
  integer(field: number, value: number | bigint): this {
    return this.tag(field, WireType.Varint).int64(value)
  }

  float32(field: number, value: number): this {
    return this.tag(field, WireType.Bit32).float(value)
  }

  float64(field: number, value: number): this {
    return this.tag(field, WireType.Bit64).double(value)
  }

  data(field: number, value: Uint8Array): this {
    return this.tag(field, WireType.LengthDelimited).bytes(value)
  }

  text(field: number, value: string): this {
    return this.tag(field, WireType.LengthDelimited).string(value)
  }

  /** Whole numbers in one field, or no field for none. */
  packed(field: number, values: readonly number[]): this {
    if (values.length === 0) return this
    return this.message(field, inner => values.forEach(value => void inner.int64(value)))
  }

  /** A message within this one. */
  message(field: number, fill: (inner: this) => void): this {
    this.tag(field, WireType.LengthDelimited).fork()
    fill(this)
    return this.join()
  }
}
