import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openFile } from './byte-source.ts'
import { type ParquetOptions, parquetRows } from './parquet.ts'
import { streamRows } from './row-stream.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-parquet-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

type Written = Parameters<typeof parquetWriteBuffer>[0]

const write = (columnData: Written['columnData'], more: Partial<Written> = {}): string => {
  const path = join(dir, 'rows.parquet')
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, ...more })))
  return path
}

const read = async (path: string, options: ParquetOptions = {}) => {
  const file = await openFile(path)
  try {
    const rows = []
    for await (const { row } of parquetRows(file, options)) rows.push(row)
    return rows
  } finally {
    await file.close()
  }
}

describe('rows', () => {
  it('of another library, with lists, structs and zstd', async () => {
    // Written by pyarrow 26.0.1: row groups of two rows, compression zstd.
    const path = fileURLToPath(new URL('../../test/parquet/nested-zstd.parquet', import.meta.url))
    const rows = await read(path)
    const row = (word: string, rhyme: string, tags: unknown[]) => ({
      question: `Which word rhymes with ${word}?`,
      rubric: [
        {
          text: `It names a word that rhymes with ${word}.`,
          points: 1,
          verifier: { kind: 'rule', fn: 'contains', params: { value: rhyme } },
        },
      ],
      messages: [{ role: 'user', content: word }, { role: 'assistant' }],
      tags,
    })
    expect(rows).toEqual([row('cat', 'hat', []), row('dog', 'fog', ['a', null]), row('sun', 'run', [])])
  })

  it('decimals as they are written, times of day as text', async () => {
    // Written by pyarrow 26: decimal128 of several precisions, also in a list and a struct; time64 and time32.
    const path = fileURLToPath(new URL('../../test/parquet/decimals-times.parquet', import.meta.url))
    expect(await read(path)).toEqual([
      {
        ...{ price: 1.2, sum: 12345.67, share: 0.0000000003, parts: [0.1, 0.3], row: { cost: 4.35 } },
        ...{ at: '12:34:56.789000', at_ms: '12:34:56.789', at_ns: '12:34:56.789000001' },
      },
      {
        ...{ price: -0.7, sum: 0.07, share: 1.1, parts: [], row: { cost: 1.1 } },
        ...{ at: '00:00:01', at_ms: '23:59:59', at_ns: '00:00:00' },
      },
      { sum: 90071992547409.91, share: 2, parts: [5.6] },
    ])
  })

  it('refuses a decimal that no number here holds', async () => {
    const path = fileURLToPath(new URL('../../test/parquet/long-decimal.parquet', import.meta.url))
    await expect(read(path)).rejects.toThrow(/:1: sum: .*a decimal of more digits/)
  })

  it('compressed by gzip and snappy', async () => {
    const column = { name: 'text', data: Array.from({ length: 500 }, (_, i) => `word ${i % 7}`) }
    for (const codec of ['SNAPPY', 'GZIP'] as const) {
      const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) }
      const rows = await read(write([column], { codec, ...(codec === 'GZIP' && { compressors }) }))
      expect(rows.map(({ text }) => text)).toEqual(column.data)
    }
  })

  it('have values as JSON has them', async () => {
    const path = write([
      { name: 'small', data: [1n, 2n ** 53n - 1n], type: 'INT64' },
      { name: 'large', data: [2n ** 60n, -(2n ** 60n)], type: 'INT64' },
      { name: 'at', data: [new Date('2026-01-02T03:04:05.678Z'), null], type: 'TIMESTAMP', nullable: true },
      { name: 'json', data: [{ a: [1] }, { a: [] }], type: 'JSON' },
      { name: 'flag', data: [true, false] },
      { name: 'half', data: [0.5, -0.25], type: 'DOUBLE' },
    ])
    expect(await read(path)).toEqual([
      {
        ...{ small: 1, large: '1152921504606846976', at: '2026-01-02T03:04:05.678Z' },
        ...{ json: { a: [1] }, flag: true, half: 0.5 },
      },
      { small: 9007199254740991, large: '-1152921504606846976', json: { a: [] }, flag: false, half: -0.25 },
    ])
  })

  it('have columns under their new names; those left out are not even decoded', async () => {
    const path = write([
      { name: 'question', data: ['a', 'b'] },
      { name: 'prompt', data: ['old', 'old'] },
      { name: 'picture', data: [new Uint8Array([255, 0]), new Uint8Array([255])], type: 'BYTE_ARRAY' },
      { name: 'id', data: [1, 2], type: 'INT32' },
    ])
    const columns = { prompt: 'question', picture: null }
    expect(await read(path, { columns })).toEqual([
      { prompt: 'a', id: 1 },
      { prompt: 'b', id: 2 },
    ])
    await expect(read(path, { columns: { prompt: 'questoin' } })).rejects.toThrow(
      /columns\.prompt: expected one of the file's columns \(question, prompt, picture, id\), got "questoin"; did you mean question\?/,
    )
  })

  it('have their numbers as places, over row groups', async () => {
    const path = write([{ name: 'n', data: Array.from({ length: 25 }, (_, i) => i), type: 'INT32' }], {
      rowGroupSize: 10,
    })
    const places = []
    for await (const { place, text } of streamRows(path)) places.push([place, text])
    expect(places).toHaveLength(25)
    expect(places.at(-1)).toEqual([`${path}:25`, '{"n":24}'])
  })
})

describe('what JSON cannot hold', () => {
  it.each([
    [
      'NaN',
      { name: 'score', data: [0, Number.NaN], type: 'DOUBLE' },
      'rows.parquet:2: score: expected what JSON can hold, got NaN',
    ],
    [
      'infinity',
      { name: 'score', data: [Number.POSITIVE_INFINITY], type: 'DOUBLE' },
      'rows.parquet:1: score: expected what JSON can hold, got Infinity',
    ],
    [
      'bytes',
      { name: 'picture', data: [new Uint8Array([255, 216])], type: 'BYTE_ARRAY' },
      'rows.parquet:1: picture: expected what JSON can hold, got text that is not UTF-8',
    ],
    ['a half', { name: 'key', data: ['0f8fad5b-d9cb-469f-a165-70867728950e'], type: 'UUID' }, null],
  ] as const)('%s', async (_name, column, words) => {
    const path = write([column as unknown as Written['columnData'][number]])
    if (words === null) expect(await read(path)).toEqual([{ key: column.data[0] }])
    else await expect(read(path)).rejects.toThrow(words)
  })
})

describe('a file that cannot be read', () => {
  const whole = () => write([{ name: 'text', data: Array.from({ length: 400 }, (_, i) => `some text ${i}`) }])

  it.each([
    ['empty', (bytes: Buffer) => bytes.subarray(0, 0), 'got 0 bytes'],
    [
      'cut off',
      (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1),
      'got one that does not end as they do',
    ],
    ['text', () => Buffer.from('{"a": 1}\n{"a": 2}\n'), 'got one that does not end as they do'],
    [
      'of a footer beyond all bounds',
      (bytes: Buffer) => {
        bytes.writeUInt32LE(0xfffffff0, bytes.length - 8)
        return bytes
      },
      'whose footer would have 4294967280 bytes',
    ],
    [
      'without its middle',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 40), bytes.subarray(-400)]),
      'expected a Parquet file, got one that cannot be read',
    ],
  ] as const)('%s', async (_name, damage, words) => {
    const path = whole()
    const { readFileSync } = await import('node:fs')
    writeFileSync(path, damage(readFileSync(path)))
    await expect(read(path)).rejects.toThrow(words)
  })

  it('damaged anywhere ends in rows or in an error of ours, never in another', async () => {
    const path = whole()
    const { readFileSync } = await import('node:fs')
    const bytes = readFileSync(path)
    for (let i = 0; i < bytes.length; i += 37) {
      const damaged = Buffer.from(bytes)
      damaged[i] ^= 0xff
      writeFileSync(path, damaged)
      const outcome = await read(path).catch(error => error)
      if (!Array.isArray(outcome))
        expect(outcome.message).toMatch(/^.*rows\.parquet(:\d+)?: (?:\S+: )?expected /)
    }
  })

  it('damaged in its list of what lies where leaves no failure that nobody waits for', async () => {
    const path = write(['a', 'b'].map(name => ({ name, data: ['x', 'y'] })))
    const { readFileSync } = await import('node:fs')
    const bytes = readFileSync(path)
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    for (let i = bytes.length - 110; i < bytes.length - 104; i++)
      for (let bit = 0; bit < 8; bit++) {
        const damaged = Buffer.from(bytes)
        damaged[i] ^= 1 << bit
        writeFileSync(path, damaged)
        await read(path).catch(error => expect(error.message).toContain('expected'))
      }
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('not there, or a folder', async () => {
    await expect(read(join(dir, 'none.parquet'))).rejects.toThrow('there is no such file')
    await expect(read(dir)).rejects.toThrow('expected a file, got a folder')
  })

  it('of row groups that do not fit is read by its page index, and without one says how to write it', async () => {
    const data = Array.from({ length: 5000 }, (_, i) => `${'x'.repeat(100)} ${i}`)
    const bounds = { maxGroupBytes: 1e5, batchBytes: 5e4 }
    const more = { rowGroupSize: 10_000, codec: 'UNCOMPRESSED', pageSize: 10_000 } as const
    const paged = write([{ name: 'text', data }], more)
    expect((await read(paged, bounds)).map(({ text }) => text)).toEqual(data)
    const whole = write([{ name: 'text', data, offsetIndex: false }], more)
    await expect(read(whole, bounds)).rejects.toThrow(
      'without a page index it can only be read whole; write it with smaller row groups',
    )
  })
})
