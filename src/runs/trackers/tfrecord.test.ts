import { describe, expect, it } from 'vitest'
import { crc32c, maskedCrc32c, tfRecord } from './tfrecord.ts'

const ascending = Uint8Array.from({ length: 32 }, (_, i) => i)

describe('CRC-32C', () => {
  // RFC 3720, appendix B.4, and the check value of the catalogue of CRC algorithms (CRC-32/ISCSI).
  it.each([
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 times 0xff', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['0 to 31', ascending, 0x46dd794e],
    ['31 to 0', ascending.toReversed(), 0x113fdb5c],
    ['123456789', Buffer.from('123456789'), 0xe3069283],
    ['nothing', new Uint8Array(0), 0],
  ])('of %s is what the standard says', (_, bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected)
  })
})

it('A record is length, its masked checksum, bytes, theirs', () => {
  const record = tfRecord(Buffer.from('123456789'))
  expect(record.length).toBe(8 + 4 + 9 + 4)
  expect(record.readBigUInt64LE(0)).toBe(9n)
  expect(record.subarray(12, 21).toString()).toBe('123456789')
  // Rotated right by 15 bits, plus 0xa282ead8: 0xe3069283 -> 0x2507c60d -> 0xc78ab0e5.
  expect(record.readUInt32LE(21)).toBe(0xc78ab0e5)
  expect(maskedCrc32c(Buffer.from('123456789'))).toBe(0xc78ab0e5)
  expect(record.readUInt32LE(8)).toBe(maskedCrc32c(record.subarray(0, 8)))
})
