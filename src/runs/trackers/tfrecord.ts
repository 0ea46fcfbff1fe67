/**
 * @file Records of TensorFlow's files (TFRecord): length, masked CRC-32C of the length, bytes, masked CRC-32C of the bytes
 * (tensorflow/core/lib/io/record_writer.h). CRC-32C is RFC 3720's, polynomial 0x1EDC6F41, reflected.
 */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})

/** The Castagnoli checksum of some bytes. */
export const crc32c = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff]
  return (crc ^ 0xffffffff) >>> 0
}

/** A checksum as it is stored: a checksum of bytes that hold checksums would be weak. */
export const maskedCrc32c = (bytes: Uint8Array): number => {
  const crc = crc32c(bytes)
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

/** Some bytes as a record. */
export const tfRecord = (bytes: Uint8Array): Buffer => {
  const record = Buffer.alloc(16 + bytes.length)
  record.writeBigUInt64LE(BigInt(bytes.length), 0)
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8)
  record.set(bytes, 12)
  record.writeUInt32LE(maskedCrc32c(bytes), 12 + bytes.length)
  return record
}
