import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { DataError } from './errors.ts'
import { jsonlLines, readJsonl } from './jsonl.ts'
import { streamJsonl } from './jsonl-stream.ts'
import { readText, textLines } from './text-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-text-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (content: string | Uint8Array): string => {
  const path = join(folder, 'text.jsonl')
  writeFileSync(path, content)
  return path
}

const collect = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of source) all.push(item)
  return all
}

/** The bytes in pieces that end at these places. */
const pieces = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
}

describe('text in UTF-8', () => {
  it('is read without its byte order mark', () => {
    expect(readText(file('\uFEFF{"a": 1}\n'))).toBe('{"a": 1}\n')
    expect(readJsonl(file('\uFEFF{"a": 1}\r\n{"a": "\uFEFF"}'))).toEqual([{ a: 1 }, { a: '\uFEFF' }])
  })

  it.each([
    [
      'Latin-1',
      Buffer.from('one\ncaf\xe9\n', 'latin1'),
      'text.jsonl:2: expected text in UTF-8, got the byte 0xE9 at offset 7',
    ],
    [
      'a character cut short',
      Buffer.from([0x61, 0xe2, 0x82]),
      'text.jsonl:1: expected text in UTF-8, got the byte 0xE2 at offset 1',
    ],
    ['a character cut short within', Buffer.from([0xef, 0xbf, 0x41]), 'got the byte 0xEF at offset 0'],
    [
      'a surrogate',
      Buffer.from([0x0a, 0xed, 0xa0, 0x80]),
      ':2: expected text in UTF-8, got the byte 0xED at offset 1',
    ],
    ['a NUL byte', Buffer.from('ab\0'), 'got a NUL byte at offset 2 of the file'],
    [
      'UTF-16',
      Buffer.from('\uFEFFab', 'utf16le'),
      'expected text in UTF-8, got UTF-16; convert it, for example: iconv -f UTF-16',
    ],
  ])('is not %s', async (_, bytes, message) => {
    const path = file(bytes)
    expect(() => readText(path)).toThrow(DataError)
    expect(() => readText(path)).toThrow(message)
    await expect(collect(streamJsonl(path))).rejects.toThrow(message)
  })

  it('has a U+FFFD where somebody wrote one', () => {
    expect(readText(file('a\uFFFDb'))).toBe('a\uFFFDb')
  })

  it('names the first wrong byte, wherever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (before, after) => {
        const clean = before.replaceAll('\0', '')
        const offset = Buffer.byteLength(clean)
        const path = file(Buffer.concat([Buffer.from(clean), Buffer.from([0xff]), Buffer.from(after)]))
        const isMark = clean === '' && after.startsWith('\u00fe')
        if (!after.includes('\0') && !isMark)
          expect(() => readText(path)).toThrow(`got the byte 0xFF at offset ${offset} of the file`)
      }),
    )
  })
})

describe('lines of a stream', () => {
  it('are the same however it is cut, and as those of the whole text', async () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', '\r\n', '\u2028', '\uFEFF', '😀', 'é')),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat()), async (parts, cuts) => {
        const whole = parts.join('').replaceAll('\0', '')
        const path = file(whole)
        const lines = await collect(textLines(pieces(Buffer.from(whole), cuts), path, 1e6))
        const streamed = lines.filter(line => line.text.trim() !== '')
        expect(
          streamed.map(({ number, text: line }) => ({ place: `${path}:${number}`, text: line })),
        ).toEqual(jsonlLines(path))
      }),
    )
  })

  it('are refused where one is too long, before it has ended', async () => {
    let given = 0
    const endless = function* () {
      for (;;) {
        given++
        yield Buffer.alloc(10, 0x61)
      }
    }
    await expect(collect(textLines(endless(), 'rows.jsonl', 25))).rejects.toThrow(
      'rows.jsonl:1: expected a line of at most 25 bytes, got more',
    )
    expect(given).toBe(3)
    expect(await collect(textLines([Buffer.from('abc\nde')], 'x', 3))).toHaveLength(2)
  })
})
