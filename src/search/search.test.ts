import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { buildIndex } from './build.ts'
import { readDocuments, type SourceDocument } from './documents.ts'
import { SearchIndex } from './search-index.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-search-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (...names: string[]) => join(folder, ...names)

const documents = (texts: Record<string, string>): SourceDocument[] =>
  Object.entries(texts).map(([id, text]) => ({ id, text, place: id }))

const opened = async (texts: Record<string, string>, options = {}) => {
  await buildIndex(at('x.index'), documents(texts), options)
  return new SearchIndex(at('x.index'))
}

describe('BM25', () => {
  it('is that of Lucene, worked out by hand', async () => {
    const index = await opened({ a: 'heat flow', b: 'heat heat wing tail', c: 'wing' })
    // N 3, lengths 2, 4, 1, mean 7/3. heat is in 2: idf = ln(1 + 1.5 / 2.5). wing likewise; flow is in 1: ln(1 + 2.5 / 1.5).
    const norm = (length: number) => 1.2 * (0.25 + (0.75 * length) / (7 / 3))
    const common = Math.log(1 + 1.5 / 2.5)
    const rare = Math.log(1 + 2.5 / 1.5)
    const [first, second] = index.search('heat flow')
    expect([first.id, second.id]).toEqual(['a', 'b'])
    expect(first.score).toBeCloseTo((common + rare) / (1 + norm(2)), 6)
    expect(second.score).toBeCloseTo((common * 2) / (2 + norm(4)), 6)
    // A word that is asked for twice counts twice.
    expect(index.search('wing wing')[0]).toMatchObject({ id: 'c' })
    expect(index.search('wing wing')[0].score).toBeCloseTo((2 * common) / (1 + norm(1)), 6)
    index.close()
  })

  it('keeps the order of the index among equals, and as many as asked for', async () => {
    const same = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`d${i}`, 'the same words']))
    const index = await opened(same)
    expect(index.search('words', { top: 3 }).map(({ id }) => id)).toEqual(['d0', 'd1', 'd2'])
    expect(index.search('words', { top: 1_000_000 })).toHaveLength(50)
    expect(index.search('zebra')).toEqual([])
    expect(index.search('')).toEqual([])
    expect(index.search('words '.repeat(100_000))).toHaveLength(10)
    index.close()
  })

  it('gives every query the same answer, whatever was asked before', async () => {
    const index = await opened({ a: 'heat flow', b: 'heat wing', c: 'wing tail' })
    const before = index.search('heat wing')
    index.search('tail flow')
    expect(index.search('heat wing')).toEqual(before)
    index.close()
  })
})

describe('an index', () => {
  it('has long documents as passages with ids of their own', async () => {
    const index = await opened(
      { long: `${'wing flow. '.repeat(8)}\n\n${'heat shield. '.repeat(8)}` },
      { maxChars: 120 },
    )
    expect([index.documents, index.passages]).toEqual([1, 2])
    expect(index.search('shield')[0]).toMatchObject({ id: 'long/2', document: 'long' })
    expect(index.search('wing')[0]).toMatchObject({ id: 'long', document: 'long' })
    index.close()
  })

  it('finds a document by its title', async () => {
    const path = at('t.index')
    await buildIndex(path, [{ id: '1', title: 'Zebra', text: 'a striped animal', place: '1' }])
    const index = new SearchIndex(path)
    expect(index.search('zebra')[0]).toMatchObject({ id: '1', title: 'Zebra', snippet: 'a striped animal' })
    index.close()
  })

  it('refuses ids that stand twice, and documents without text', async () => {
    const twice = [
      { id: 'a', text: 'x y', place: 'one' },
      { id: 'a', text: 'z', place: 'two' },
    ]
    await expect(buildIndex(at('no.index'), twice)).rejects.toThrow(
      /^two: expected an id that no other.*"a" again/,
    )
    await expect(buildIndex(at('no.index'), [])).rejects.toThrow(/expected documents with text/)
    await expect(buildIndex(at('no.index'), documents({ a: ' ' }))).rejects.toThrow(
      /expected documents with text/,
    )
    expect(readdirSync(folder).filter(name => name.startsWith('no.'))).toEqual([])
  })

  it('leaves the old one as it was when a new one fails, and nothing beside it', async () => {
    const path = at('kept.index')
    await buildIndex(path, documents({ a: 'first words' }))
    const before = readFileSync(path)
    const stop = new AbortController()
    const endless = async function* (): AsyncGenerator<SourceDocument> {
      for (let i = 0; ; i++) {
        if (i === 100) stop.abort()
        yield { id: String(i), text: 'more words', place: '' }
      }
    }
    await expect(buildIndex(path, endless(), {}, { signal: stop.signal })).rejects.toThrow()
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(folder).filter(name => name.includes('.tmp'))).toEqual([])
  })

  it('is written through a link, and never over another kind of file', async () => {
    writeFileSync(at('notes.jsonl'), '{"text": "mine"}\n')
    await expect(buildIndex(at('notes.jsonl'), documents({ a: 'x' }))).rejects.toThrow(
      /another kind of file is there/,
    )
    expect(readFileSync(at('notes.jsonl'), 'utf8')).toBe('{"text": "mine"}\n')
    await buildIndex(at('real.index'), documents({ a: 'first' }))
    symlinkSync(at('real.index'), at('link.index'))
    await buildIndex(at('link.index'), documents({ b: 'second' }))
    const index = new SearchIndex(at('real.index'))
    expect(index.search('second')[0].id).toBe('b')
    index.close()
    await expect(buildIndex(folder, documents({ a: 'x' }))).rejects.toThrow(
      /cannot be written: it is a folder/,
    )
    await expect(buildIndex('/dev/null', documents({ a: 'x' }))).rejects.toThrow(
      /expected a file, got a device/,
    )
    await expect(buildIndex(at('notes.jsonl', 'x'), documents({ a: 'x' }))).rejects.toThrow(
      /cannot be written/,
    )
  })
})

describe('a file that is no index, or not as it was written', () => {
  const damaged = at('damaged.index')
  const faultOf = (bytes: Uint8Array): string => {
    writeFileSync(damaged, bytes)
    try {
      new SearchIndex(damaged).close()
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }

  it('is refused wherever it is cut, and wherever a byte of a part or of the table is changed', async () => {
    await buildIndex(at('whole.index'), documents({ a: 'heat flow over a wing', b: 'a tail and a wing' }))
    const whole = readFileSync(at('whole.index'))
    expect(faultOf(whole)).toBe('')
    for (let length = 0; length < whole.length; length += 7)
      expect(faultOf(whole.subarray(0, length)), `cut at ${length}`).toMatch(
        /damaged\.index: expected .*, got/,
      )
    expect(faultOf(Buffer.concat([whole, Buffer.from('x')]))).toMatch(/it is not whole/)
    const gaps: number[] = []
    for (let place = 0; place < whole.length; place += 3) {
      const changed = Buffer.from(whole)
      changed[place] ^= 1
      if (faultOf(changed) === '') gaps.push(place)
    }
    // Only what fills up the prelude and the places between parts may be anything.
    expect(gaps.every(place => whole[place] === 0)).toBe(true)
    expect(gaps.length).toBeLessThan(8 * 8)
  })

  it('is told to be another one where it was written over while it was open', async () => {
    const index = await opened({ a: 'heat flow', b: 'wing' })
    const bytes = readFileSync(at('x.index'))
    writeFileSync(at('x.index'), Buffer.alloc(bytes.length, 0x20))
    expect(() => index.search('heat')).toThrow(
      /x\.index: expected the search index that was opened, got other/,
    )
    index.close()
  })

  it('is told from one of another version, and from other files', async () => {
    await buildIndex(at('whole.index'), documents({ a: 'heat' }))
    const newer = readFileSync(at('whole.index'))
    newer.writeUInt32LE(2, 8)
    expect(faultOf(newer)).toMatch(
      /expected a search index of version 1, got version 2; build the index again/,
    )
    expect(faultOf(Buffer.from('{"text": "x"}\n'.repeat(20)))).toMatch(
      /another kind of file; gradus search build/,
    )
    expect(faultOf(Buffer.alloc(0))).toMatch(/another kind of file/)
    expect(() => new SearchIndex(at('none'))).toThrow(/none: cannot be read: there is no such file/)
    expect(() => new SearchIndex(folder)).toThrow(/it is a folder/)
    expect(() => new SearchIndex('/dev/null')).toThrow(/got a device/)
  })
})

describe('documents', () => {
  it.skipIf(process.platform === 'win32')('come from no pipe and no device: they may never end', async () => {
    const pipe = at('pipe.jsonl')
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    for (const [path, what] of [
      [pipe, 'a pipe'],
      ['/dev/zero', 'something else'],
    ])
      await expect(readDocuments([path]).next()).rejects.toThrow(
        `${path}: expected a file or a folder, got ${what}; name a file; JSON Lines of another command can be read from standard input (-)`,
      )
  })

  const read = async (paths: string[], keys?: Parameters<typeof readDocuments>[1]) => {
    const skipped: string[] = []
    const found: SourceDocument[] = []
    for await (const document of readDocuments(paths, keys, path => skipped.push(path))) found.push(document)
    return { found, skipped }
  }

  it('come from JSON Lines, Markdown and plain text, and folders of them by name', async () => {
    const lib = at('lib')
    mkdirSync(join(lib, 'sub'), { recursive: true })
    writeFileSync(join(lib, 'b.md'), '# Top\none\n## Below\ntwo\n')
    writeFileSync(join(lib, 'a.jsonl'), '{"key": 7, "name": "N", "body": "first"}\n\n{"body": "second"}\n')
    writeFileSync(join(lib, 'sub', 'c.txt'), 'plain')
    writeFileSync(join(lib, 'd.png'), 'no text')
    writeFileSync(join(lib, '.hidden.txt'), 'hidden')
    symlinkSync(lib, join(lib, 'round'))
    const { found, skipped } = await read([lib], { id: 'key', title: 'name', text: 'body' })
    expect(found.map(({ id, title, text }) => [id, title, text])).toEqual([
      ['7', 'N', 'first'],
      [`${join(lib, 'a.jsonl')}:3`, undefined, 'second'],
      [`${join(lib, 'b.md')}#1`, 'Top', 'one'],
      [`${join(lib, 'b.md')}#2`, 'Top > Below', 'two'],
      [join(lib, 'sub', 'c.txt'), 'c.txt', 'plain'],
    ])
    expect(skipped).toEqual([join(lib, 'd.png'), join(lib, 'round')])
    expect(existsSync(join(lib, 'd.png'))).toBe(true)
  })

  it.each([
    ['{"id": 1}', /rows\.jsonl:1: text: expected a text, got an object with id; name the key/],
    ['{"text": 5}', /rows\.jsonl:1: text: expected a text, got 5/],
    ['{"text": "x", "id": {}}', /rows\.jsonl:1: id: expected a text of 1 to 500 characters/],
    ['{"text": "x", "id": ""}', /rows\.jsonl:1: id: expected/],
    ['{"text": "x", "title": 1}', /rows\.jsonl:1: title: expected a text, got 1/],
    ['[]', /rows\.jsonl:1: expected an object, got a list of 0/],
    ['{"__proto__": {"text": "x"}}', /rows\.jsonl:1: text: expected/],
    ['{"text": "x"', /rows\.jsonl:1: expected JSON/],
  ])('a row %s is refused with its place', async (row, words) => {
    writeFileSync(at('rows.jsonl'), `${row}\n`)
    await expect(read([at('rows.jsonl')])).rejects.toThrow(words)
  })
})
