/** @file The wire format of protocol buffers, as far as writing an ONNX model needs it. */

const varint = (value: number | bigint): number[] => {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    const low = Number(rest & 127n)
    rest >>= 7n
    bytes.push(rest > 0n ? low | 128 : low)
  } while (rest > 0n)
  return bytes
}

/** Collects the fields of one message. Chunks are kept apart, so that large tensors are copied only once at the end. */
export class MessageWriter {
  readonly #chunks: Uint8Array[] = []
  #length = 0

  #push(bytes: Uint8Array): void {
    this.#chunks.push(bytes)
    this.#length += bytes.byteLength
  }

  #tag(field: number, wireType: number): void {
    this.#push(Uint8Array.from(varint((field << 3) | wireType)))
  }

  integer(field: number, value: number | bigint): this {
    this.#tag(field, 0)
    this.#push(Uint8Array.from(varint(value)))
    return this
  }

  float(field: number, value: number): this {
    this.#tag(field, 5)
    this.#push(new Uint8Array(Float32Array.of(value).buffer))
    return this
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, 2)
    this.#push(Uint8Array.from(varint(value.byteLength)))
    this.#push(value)
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value))
  }

  message(field: number, value: MessageWriter): this {
    this.#tag(field, 2)
    this.#push(Uint8Array.from(varint(value.#length)))
    for (const chunk of value.#chunks) this.#push(chunk)
    return this
  }

  finish(): Uint8Array {
    const out = new Uint8Array(this.#length)
    let offset = 0
    for (const chunk of this.#chunks) {
      out.set(chunk, offset)
      offset += chunk.byteLength
    }
    return out
  }
}
