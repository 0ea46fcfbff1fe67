import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { readJsonl } from '../util/jsonl.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { readSafetensors, SafetensorsError, SafetensorsFile, writeSafetensors } from './safetensors.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-safetensors-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const fileOf = (bytes: Uint8Array) => {
  const path = join(folder, 'x.safetensors')
  writeFileSync(path, bytes)
  return path
}
const build = (header: unknown, dataBytes: number) => {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([length, json, Buffer.alloc(dataBytes)])
}
const codeOf = (bytes: Uint8Array) => {
  try {
    SafetensorsFile.open(fileOf(bytes)).close()
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(SafetensorsError)
    expect((error as Error).message).toContain('x.safetensors')
    return (error as SafetensorsError).code
  }
}
const f32 = (shape: number[], start: number, end: number) => ({
  dtype: 'F32',
  shape,
  data_offsets: [start, end],
})

describe('SafetensorsFile.open', () => {
  it('accepts and refuses what the reference implementation does', context => {
    const path = sharedData('safetensors/vectors.jsonl')
    if (!path) return context.skip('shared data not here')
    const rows = readJsonl<{ id: string; hex: string; error: string | null }>(path)
    expect(rows.length).toBeGreaterThan(10)
    const verdicts = rows.map(row => [row.id, codeOf(Buffer.from(row.hex, 'hex'))])
    expect(verdicts).toEqual(rows.map(row => [row.id, row.error]))
  })

  it.each([
    ['fewer than 8 bytes', Buffer.alloc(7), 'HeaderTooSmall'],
    ['an absurd header length', Buffer.from('ffffffffffffffff', 'hex'), 'HeaderTooLarge'],
    ['a header cut short', build({ a: f32([1], 0, 4) }, 4).subarray(0, 20), 'InvalidHeaderLength'],
    ['data cut short', build({ a: f32([2], 0, 8) }, 7), 'MetadataIncompleteBuffer'],
    ['bytes left over', build({ a: f32([2], 0, 8) }, 9), 'MetadataIncompleteBuffer'],
    ['an overlap', build({ a: f32([2], 0, 8), b: f32([2], 4, 12) }, 12), 'InvalidOffset'],
    ['a hole', build({ a: f32([1], 0, 4), b: f32([1], 8, 12) }, 12), 'InvalidOffset'],
    ['data that does not start at 0', build({ a: f32([1], 4, 8) }, 8), 'InvalidOffset'],
    ['offsets backwards', build({ a: f32([0], 0, -4) }, 0), 'InvalidHeaderDeserialization'],
    [
      'an unknown dtype',
      build({ a: { ...f32([1], 0, 4), dtype: 'F33' } }, 4),
      'InvalidHeaderDeserialization',
    ],
    ['a fractional dimension', build({ a: f32([0.5], 0, 2) }, 2), 'InvalidHeaderDeserialization'],
    ['a missing field', build({ a: { dtype: 'F32', shape: [1] } }, 4), 'InvalidHeaderDeserialization'],
    ['an array as header', build('[]', 0), 'InvalidHeaderDeserialization'],
    ['metadata that is not text', build({ __metadata__: { a: 1 } }, 0), 'InvalidHeaderDeserialization'],
  ])('refuses %s', (_, bytes, code) => {
    expect(codeOf(bytes)).toBe(code)
  })

  it('says which file is missing', () => {
    expect(() => SafetensorsFile.open(join(folder, 'none.safetensors'))).toThrow(CheckpointError)
    expect(() => SafetensorsFile.open(join(folder, 'none.safetensors'))).toThrow(/none\.safetensors.*ENOENT/)
  })
})

describe('reading', () => {
  it('reads F32, F16, BF16 and F64 as float32', () => {
    const data = Buffer.alloc(4 + 2 + 2 + 8)
    data.writeFloatLE(1.5, 0)
    data.writeUInt16LE(0x3e00, 4)
    data.writeUInt16LE(0x3fc0, 6)
    data.writeDoubleLE(1.5, 8)
    const entry = (dtype: string, start: number, end: number) => ({
      dtype,
      shape: [1],
      data_offsets: [start, end],
    })
    const header = {
      a: entry('F32', 0, 4),
      b: entry('F16', 4, 6),
      c: entry('BF16', 6, 8),
      d: entry('F64', 8, 16),
    }
    const bytes = build(header, 16)
    data.copy(bytes, bytes.length - 16)
    const tensors = readSafetensors(fileOf(bytes))
    expect([...tensors.values()].map(({ data }) => data[0])).toEqual([1.5, 1.5, 1.5, 1.5])
  })

  it('reads half-precision tensors longer than its buffer', () => {
    const length = (1 << 19) + 3
    const data = Float32Array.from({ length }, (_, i) => i % 256)
    const path = join(folder, 'long.safetensors')
    writeSafetensors(path, new Map([['a', { shape: [length], data }]]), { dtype: 'bfloat16' })
    const back = readSafetensors(path).get('a')!.data
    expect(back.findIndex((value, i) => value !== data[i])).toBe(-1)
  })

  it('reads into an array that it is given', () => {
    const path = join(folder, 'a.safetensors')
    writeSafetensors(path, new Map([['a', { shape: [2], data: new Float32Array([1, 2]) }]]))
    const flat = new Float32Array(5)
    const file = SafetensorsFile.open(path)
    file.read('a', flat.subarray(2, 4))
    expect(() => file.read('a', flat)).toThrow(/expected 5 elements, got 2/)
    expect(() => file.read('b')).toThrow(/no tensor named b/)
    file.close()
    expect([...flat]).toEqual([0, 0, 1, 2, 0])
  })

  it('refuses integer tensors as weights', () => {
    const path = fileOf(build({ a: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } }, 8))
    expect(() => readSafetensors(path)).toThrow(/expected F32, F16, BF16 or F64, got I64/)
  })
})

describe('writeSafetensors', () => {
  const tensors = new Map([
    ['b', { shape: [2, 2], data: new Float32Array([1, 2, 3, 4]) }],
    ['a', { shape: [], data: new Float32Array([-0.5]) }],
    ['empty', { shape: [0, 3], data: new Float32Array(0) }],
  ])

  it('writes what it reads, aligned to 8 bytes, sorted by name', () => {
    const path = join(folder, 'a.safetensors')
    writeSafetensors(path, tensors)
    const back = readSafetensors(path)
    expect([...back.keys()]).toEqual(['a', 'b', 'empty'])
    for (const [name, tensor] of tensors) expect(back.get(name)).toEqual(tensor)
    const file = SafetensorsFile.open(path)
    expect(file.header.dataStart % 8).toBe(0)
    expect(file.header.metadata).toEqual({ format: 'pt' })
    file.close()
  })

  it('gives the same bytes whatever the order of the map', () => {
    const [one, two] = [join(folder, '1'), join(folder, '2')]
    writeSafetensors(one, tensors)
    writeSafetensors(two, new Map([...tensors].reverse()))
    expect(readFileSync(one).equals(readFileSync(two))).toBe(true)
  })

  it('rounds to the storage type asked for', () => {
    const path = join(folder, 'h.safetensors')
    const data = new Float32Array([1 + 2 ** -8, 1 / 3])
    writeSafetensors(path, new Map([['a', { shape: [2], data }]]), { dtype: 'float16' })
    expect([...readSafetensors(path).get('a')!.data]).toEqual([1 + 2 ** -8, 0.333251953125])
    writeSafetensors(path, new Map([['a', { shape: [2], data }]]), { dtype: 'bfloat16' })
    expect([...readSafetensors(path).get('a')!.data]).toEqual([1, 0.333984375])
  })

  it('refuses what float16 would make infinite', () => {
    const large = new Map([['a', { shape: [2], data: new Float32Array([1, 65_536]) }]])
    const path = join(folder, 'h.safetensors')
    expect(() => writeSafetensors(path, large, { dtype: 'float16' })).toThrow(
      /^a: expected numbers that float16 holds/,
    )
  })

  it('refuses a shape that does not fit and leaves the old file alone', () => {
    const path = join(folder, 'a.safetensors')
    writeSafetensors(path, tensors)
    const before = readFileSync(path)
    const wrong = new Map([['a', { shape: [3], data: new Float32Array(2) }]])
    expect(() => writeSafetensors(path, wrong)).toThrow(/a: shape \[3\] needs 3 elements, got 2/)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(folder)).toEqual(['a.safetensors'])
  })
})
