/** @file Reads TensorBoard's event files as their format says, for tests: checksums, events, scalars, texts. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BinaryReader, type WireType } from '@bufbuild/protobuf/wire'
import { maskedCrc32c } from './tfrecord.ts'

interface Scalar {
  wallTimeS: number
  step: number
  tag: string
  value: number
}

export interface EventFile {
  name: string
  version: string
  scalars: Scalar[]
  texts: Record<string, string>
}

type Field = (reader: BinaryReader) => unknown

const fieldsOf = (bytes: Uint8Array, fields: Record<number, Field>): Record<number, unknown[]> => {
  const reader = new BinaryReader(bytes)
  const found: Record<number, unknown[]> = {}
  while (reader.pos < reader.len) {
    const [field, wire]: [number, WireType] = reader.tag()
    if (fields[field]) found[field] = [...(found[field] ?? []), fields[field](reader)]
    else reader.skip(wire)
  }
  return found
}

const records = (bytes: Buffer): Buffer[] => {
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at))
    const data = bytes.subarray(at + 12, at + 12 + length)
    if (bytes.readUInt32LE(at + 8) !== maskedCrc32c(bytes.subarray(at, at + 8))) throw new Error('length')
    if (bytes.readUInt32LE(at + 12 + length) !== maskedCrc32c(data)) throw new Error('data')
    found.push(data)
    at += 16 + length
  }
  return found
}

/** All event files of a folder, in the order of their names. @throws Error for a checksum that is wrong, or half a record */
export const readEventFiles = (folder: string): EventFile[] =>
  readdirSync(folder)
    .sort()
    .map(name => {
      const file: EventFile = { name, version: '', scalars: [], texts: {} }
      for (const record of records(readFileSync(join(folder, name)))) {
        const event = fieldsOf(record, {
          1: r => r.double(),
          2: r => Number(r.int64()),
          3: r => r.string(),
          5: r => r.bytes(),
        })
        if (event[3]) file.version = event[3][0] as string
        for (const summary of (event[5] ?? []) as Uint8Array[])
          for (const value of (fieldsOf(summary, { 1: r => r.bytes() })[1] ?? []) as Uint8Array[]) {
            const {
              1: tag,
              2: simple,
              8: tensor,
            } = fieldsOf(value, {
              1: r => r.string(),
              2: r => r.float(),
              8: r => r.bytes(),
            })
            if (simple)
              file.scalars.push({
                wallTimeS: event[1][0] as number,
                step: (event[2]?.[0] as number | undefined) ?? 0,
                tag: tag[0] as string,
                value: simple[0] as number,
              })
            if (tensor)
              file.texts[tag[0] as string] = fieldsOf(tensor[0] as Uint8Array, {
                8: r => r.string(),
              })[8][0] as string
          }
      }
      return file
    })
