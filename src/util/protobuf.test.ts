import { BinaryReader } from '@bufbuild/protobuf/wire'
import { expect, it } from 'vitest'
import { MessageWriter } from './protobuf.ts'

it('Fields are written as the wire format says (examples of its documentation)', () => {
  expect([...new MessageWriter().integer(1, 150).finish()]).toEqual([0x08, 0x96, 0x01])
  expect([...new MessageWriter().text(2, 'testing').finish()]).toEqual([
    0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67,
  ])
  const outer = new MessageWriter().message(3, inner => inner.integer(1, 150))
  expect([...outer.finish()]).toEqual([0x1a, 0x03, 0x08, 0x96, 0x01])
  const packed = new MessageWriter().packed(6, [3, 270, 86942]).packed(7, [])
  expect([...packed.finish()]).toEqual([0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05])
})

it('Negative and large integers, floats and long fields are read as they were written', () => {
  const reader = new BinaryReader(
    new MessageWriter()
      .integer(1, -2)
      .integer(2, 2n ** 40n)
      .float32(3, 0.5)
      .float64(4, 0.1)
      .data(300, new Uint8Array(1000).fill(7))
      .finish(),
  )
  const next = <T>(read: () => T) => [reader.tag()[0], read()]
  expect(next(() => reader.int64())).toEqual([1, -2n])
  expect(next(() => reader.int64())).toEqual([2, 2n ** 40n])
  expect(next(() => reader.float())).toEqual([3, 0.5])
  expect(next(() => reader.double())).toEqual([4, 0.1])
  expect(next(() => reader.bytes())).toEqual([300, new Uint8Array(1000).fill(7)])
  expect(reader.pos).toBe(reader.len)
})
