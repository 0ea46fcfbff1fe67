import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../../util/errors.ts'
import { Rng } from '../../../util/rng.ts'
import { cacheKey, digestOf } from './cache-key.ts'
import { linesFrom, outputOf, startChild, verdictOf } from './child.fixture.ts'
import { VerdictCache } from './verdict-cache.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-cache-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const segments = () => readdirSync(folder).filter(name => name.endsWith('.verdicts'))
const folderBytes = () => segments().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
const names = (count: number, prefix = 'n') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const fill = (cache: VerdictCache, list: readonly string[]) => {
  for (const name of list) cache.put(digestOf(name), verdictOf(name))
}
/** Names that are found; throws when one is found with another value than its own. */
const found = (cache: VerdictCache, list: readonly string[]) =>
  list.filter(name => {
    const value = cache.get(digestOf(name))
    if (value !== undefined) expect(value).toEqual(verdictOf(name))
    return value !== undefined
  })

describe('cacheKey', () => {
  const parts = { model: 'm', template: 't1', criterion: 'c', judged: 'text', sampling: '{}', sampleIndex: 0 }

  it('differs when any part does', () => {
    const others = [
      { model: 'n' },
      { template: 't2' },
      { criterion: 'd' },
      { judged: 'texts' },
      { sampling: '{"temperature":1}' },
      { sampleIndex: 1 },
    ].map(change => cacheKey({ ...parts, ...change }))
    expect(new Set([cacheKey(parts), ...others]).size).toBe(7)
    expect(cacheKey({ ...parts })).toBe(cacheKey(parts))
  })

  it('keeps parts apart that run together as text', () => {
    const text = fc.string({ maxLength: 6 })
    const list = fc.record({
      model: text,
      template: text,
      criterion: text,
      judged: text,
      sampling: text,
      sampleIndex: fc.nat(3),
    })
    fc.assert(
      fc.property(list, list, (a, b) => {
        const same = JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())
        expect(cacheKey(a) === cacheKey(b)).toBe(same)
      }),
    )
  })

  it('is the beginning of a SHA-256', () => {
    // FIPS 180-4 example: SHA-256 of "abc".
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223')
  })
})

describe('VerdictCache', () => {
  it('keeps values across openings, and counts hits', () => {
    const first = VerdictCache.open(folder)
    expect(first.get('any text is a key')).toBeUndefined()
    first.put('any text is a key', { met: null, raw: 'ünï\u2028\n"' })
    expect(first.get('any text is a key')).toEqual({ met: null, raw: 'ünï\u2028\n"' })
    first.close()
    const second = VerdictCache.open(folder)
    expect(second.get('any text is a key')).toEqual({ met: null, raw: 'ünï\u2028\n"' })
    expect(second.get('another')).toBeUndefined()
    expect(second.stats()).toMatchObject({ hits: 1, misses: 1, hitRate: 0.5, entries: 1, damaged: 0 })
    second.close()
  })

  it('leaves no file behind when nothing was put', () => {
    VerdictCache.open(folder).close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('the last value of a key counts, also after the table has grown', () => {
    const cache = VerdictCache.open<number>(folder)
    for (let round = 0; round < 2; round++) for (let i = 0; i < 3000; i++) cache.put(`k${i}`, round * i)
    expect(cache.stats().entries).toBe(3000)
    for (let i = 0; i < 3000; i++) expect(cache.get(`k${i}`)).toBe(i)
    cache.close()
  })

  it('sees what another one has added meanwhile', () => {
    const reader = VerdictCache.open(folder, { refreshMs: 0 })
    const writer = VerdictCache.open(folder)
    for (const name of ['a', 'b', 'c']) {
      fill(writer, [name])
      expect(found(reader, [name])).toEqual([name])
    }
    reader.close()
    writer.close()
  })

  it('refuses a folder that cannot be used, and a size that is none', () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    expect(() => VerdictCache.open(file)).toThrow(ConfigError)
    expect(() => VerdictCache.open(folder, { maxBytes: 10 })).toThrow(/maxBytes/)
  })

  it('drops a value that is too large and goes on', () => {
    const cache = VerdictCache.open(folder)
    cache.put('big', 'x'.repeat(2 ** 20))
    cache.put('small', 'x')
    expect([cache.get('big'), cache.get('small')]).toEqual([undefined, 'x'])
    cache.close()
  })
})

describe('damage', () => {
  const written = () => {
    const cache = VerdictCache.open(folder)
    fill(cache, names(200))
    cache.close()
    return join(folder, segments()[0])
  }

  it('ignores a truncated tail, wherever the cut is', () => {
    const path = written()
    const whole = readFileSync(path)
    const rng = new Rng('cuts')
    for (const cut of [0, 1, whole.length - 1, ...Array.from({ length: 30 }, () => rng.int(whole.length))]) {
      writeFileSync(path, whole.subarray(0, cut))
      const cache = VerdictCache.open(folder)
      const wholeLines = whole.subarray(0, cut).toString().split('\n').length - 1
      expect(found(cache, names(200))).toEqual(names(wholeLines))
      fill(cache, ['after'])
      cache.close()
      const again = VerdictCache.open(folder)
      expect(found(again, ['after', ...names(200)])).toEqual(['after', ...names(wholeLines)])
      again.close()
      for (const name of segments()) if (join(folder, name) !== path) rmSync(join(folder, name))
    }
  })

  it('loses no more than the lines in which bits flipped, and never gives a wrong value', () => {
    const path = written()
    const whole = readFileSync(path)
    const rng = new Rng('flips')
    for (let round = 0; round < 60; round++) {
      const bytes = Buffer.from(whole)
      const flips = 1 + rng.int(3)
      for (let i = 0; i < flips; i++) bytes[rng.int(bytes.length)] ^= 1 << rng.int(8)
      writeFileSync(path, bytes)
      const cache = VerdictCache.open(folder)
      // A flip of a newline joins two lines.
      expect(found(cache, names(200)).length).toBeGreaterThanOrEqual(200 - 2 * flips)
      expect(cache.stats().damaged).toBeGreaterThan(0)
      cache.close()
    }
  })

  it('a file that is damaged or cut while it is open gives misses', () => {
    const path = written()
    const cache = VerdictCache.open(folder)
    expect(found(cache, ['n0'])).toEqual(['n0'])
    const bytes = readFileSync(path)
    bytes[60] ^= 4
    writeFileSync(path, bytes.subarray(0, 300))
    expect(found(cache, ['n0', 'n199'])).toEqual([])
    fill(cache, ['n0'])
    expect(found(cache, ['n0'])).toEqual(['n0'])
    cache.close()
  })

  it('passes over foreign bytes of any length', () => {
    const path = written()
    appendFileSync(path, Buffer.concat([Buffer.alloc(9_000_000, 7), Buffer.from('\n')]))
    const line = readFileSync(path).subarray(0, readFileSync(path).indexOf(10) + 1)
    rmSync(path)
    writeFileSync(path, Buffer.concat([Buffer.alloc(9_000_000, 7), Buffer.from('\n'), line]))
    const cache = VerdictCache.open(folder)
    expect(found(cache, ['n0'])).toEqual(['n0'])
    cache.close()
  })
})

describe('damage of any kind', () => {
  /** What can become of a file: cut, overwritten, lines taken out, doubled, or put together of others' halves. */
  const byte = fc.nat(255)
  const harm = fc.oneof(
    fc.record({ kind: fc.constant('cut' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.record({
      kind: fc.constant('set' as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      to: byte,
    }),
    fc.record({
      kind: fc.constant('insert' as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.array(byte, { maxLength: 40 }),
    }),
    fc.record({
      kind: fc.constant('splice' as const),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat(400),
    }),
  )
  type Harm = typeof harm extends fc.Arbitrary<infer T> ? T : never

  const harmed = (bytes: Buffer, each: Harm): Buffer => {
    const at = Math.floor(each.at * bytes.length)
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
    if (each.kind === 'cut') return before
    if (each.kind === 'set') return Buffer.concat([before, Buffer.from([each.to]), after.subarray(1)])
    if (each.kind === 'insert') return Buffer.concat([before, Buffer.from(each.bytes), after])
    const from = Math.floor(each.from * bytes.length)
    return Buffer.concat([before, bytes.subarray(from, from + each.length), after])
  }

  it('never gives a verdict that was not written under its key', () => {
    const written = VerdictCache.open(folder)
    fill(written, names(30))
    written.close()
    const path = join(folder, segments()[0])
    const whole = readFileSync(path)
    fc.assert(
      fc.property(fc.array(harm, { minLength: 1, maxLength: 4 }), harms => {
        writeFileSync(path, harms.reduce(harmed, whole))
        const cache = VerdictCache.open(folder)
        // Throws where a value is another than that of its name.
        found(cache, [...names(30), 'never written'])
        expect(cache.get(digestOf('never written'))).toBeUndefined()
        cache.close()
      }),
      { numRuns: 150 },
    )
  })

  it('never gives one from a file that was harmed while it was open', () => {
    fc.assert(
      fc.property(fc.array(harm, { minLength: 1, maxLength: 4 }), harms => {
        for (const name of readdirSync(folder)) rmSync(join(folder, name))
        const cache = VerdictCache.open(folder, { refreshMs: 0 })
        fill(cache, names(10))
        const path = join(folder, segments()[0])
        writeFileSync(path, harms.reduce(harmed, readFileSync(path)))
        found(cache, [...names(10), 'never written'])
        fill(cache, names(3, 'later'))
        found(cache, [...names(10), ...names(3, 'later')])
        cache.close()
        const again = VerdictCache.open(folder)
        found(again, [...names(10), ...names(3, 'later')])
        again.close()
      }),
      { numRuns: 80 },
    )
  })
})

describe('size', () => {
  it('stays bounded, keeps the newest and what was asked for', () => {
    const maxBytes = 64 * 1024
    const cache = VerdictCache.open(folder, { maxBytes })
    let most = 0
    for (const name of names(3000)) {
      fill(cache, [name])
      // Asked for all the time: survives every eviction.
      if (name !== 'n0') expect(found(cache, ['n0'])).toEqual(['n0'])
      most = Math.max(most, folderBytes())
    }
    expect(most).toBeLessThanOrEqual(1.1 * maxBytes)
    expect(folderBytes()).toBeGreaterThan(maxBytes / 2)
    expect(found(cache, names(3000).slice(-100))).toHaveLength(100)
    expect(found(cache, names(1500).slice(1))).toHaveLength(0)
    expect(cache.stats().evictedSegments).toBeGreaterThan(3)
    expect(cache.stats().entries).toBeLessThan(1000)
    cache.close()
  })

  it('leaves a folder as it is that it may only read', () => {
    const list = names(600)
    const writer = VerdictCache.open(folder)
    fill(writer, list)
    writer.close()
    const before = folderBytes()
    const reader = VerdictCache.open(folder, { maxBytes: 8192, readOnly: true })
    expect(found(reader, list)).toHaveLength(600)
    fill(reader, ['more'])
    expect(found(reader, ['more'])).toEqual([])
    expect(reader.stats().writable).toBe(false)
    reader.close()
    expect([segments().length, folderBytes()]).toEqual([1, before])
    const missing = join(folder, 'missing')
    expect(() => VerdictCache.open(missing, { readOnly: true })).toThrow(ConfigError)
    expect(existsSync(missing)).toBe(false)
  })

  it('brings a folder that is too large within bounds when it is opened', () => {
    const large = VerdictCache.open(folder, { maxBytes: 10_000_000 })
    fill(large, names(3000))
    large.close()
    const small = VerdictCache.open(folder, { maxBytes: 20_000 })
    expect(folderBytes()).toBeLessThanOrEqual(20_000)
    small.close()
  })

  it('merges the small segments of many runs without losing a value', () => {
    const hourAgo = Date.now() / 1000 - 3600
    for (let run = 0; run < 40; run++) {
      const cache = VerdictCache.open(folder)
      fill(cache, [`r${run}`, 'always'])
      cache.close()
      for (const name of segments()) utimesSync(join(folder, name), hourAgo, hourAgo)
    }
    const cache = VerdictCache.open(folder)
    expect(segments().length).toBeLessThan(33)
    expect(found(cache, ['always', ...names(40, 'r')])).toHaveLength(41)
    cache.close()
  })

  it('an evicted own segment is no harm: the writer begins a new one', () => {
    const writer = VerdictCache.open(folder, { refreshMs: 0 })
    fill(writer, ['a'])
    for (const name of segments()) rmSync(join(folder, name))
    expect(found(writer, ['missing'])).toEqual([])
    fill(writer, ['b'])
    const reader = VerdictCache.open(folder)
    expect(found(reader, ['a', 'b'])).toEqual(['b'])
    reader.close()
    writer.close()
  })

  it('a lock of a dead process does not hold; that of a living one does', async () => {
    const large = VerdictCache.open(folder, { maxBytes: 10_000_000 })
    fill(large, names(3000))
    large.close()
    const before = folderBytes()
    const lock = join(folder, 'lock')
    const child = startChild("setInterval(() => {}, 1000); say('up')")
    await linesFrom(child, 1)
    writeFileSync(lock, JSON.stringify({ pid: child.pid, host: hostname(), born: null, since: '' }))
    VerdictCache.open(folder, { maxBytes: 20_000 }).close()
    expect(folderBytes()).toBe(before)
    child.kill('SIGKILL')
    await once(child, 'close')
    VerdictCache.open(folder, { maxBytes: 20_000 }).close()
    expect(folderBytes()).toBeLessThanOrEqual(20_000)
  })

  it('a lock from another host holds for some minutes only', () => {
    const large = VerdictCache.open(folder, { maxBytes: 10_000_000 })
    fill(large, names(3000))
    large.close()
    const lock = join(folder, 'lock')
    writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere', born: null, since: '' }))
    VerdictCache.open(folder, { maxBytes: 20_000 }).close()
    expect(folderBytes()).toBeGreaterThan(20_000)
    const hourAgo = Date.now() / 1000 - 3600
    utimesSync(lock, hourAgo, hourAgo)
    VerdictCache.open(folder, { maxBytes: 20_000 }).close()
    expect(folderBytes()).toBeLessThanOrEqual(20_000)
  })
})

describe('processes', () => {
  const open = (options = '{}') => `const cache = VerdictCache.open(${JSON.stringify(folder)}, ${options})\n`

  it('write at the same time without disturbing one another', async () => {
    const script = (prefix: string) =>
      `${open()}for (let i = 0; i < 2000; i++) cache.put(digestOf('${prefix}' + i), verdictOf('${prefix}' + i)); cache.close()`
    await Promise.all(['a', 'b', 'c'].map(prefix => outputOf(startChild(script(prefix)))))
    const cache = VerdictCache.open(folder)
    for (const prefix of ['a', 'b', 'c']) expect(found(cache, names(2000, prefix))).toHaveLength(2000)
    expect(cache.stats()).toMatchObject({ entries: 6000, damaged: 0, segments: 3 })
    cache.close()
  })

  it('evict at the same time: bounded, and every value found is right', async () => {
    const script = (prefix: string) =>
      `${open('{ maxBytes: 60000, refreshMs: 1 }')}
      for (let i = 0; i < 1500; i++) {
        cache.put(digestOf('${prefix}' + i), verdictOf('${prefix}' + i))
        const name = 'abc'[i % 3] + (i - i % 7), value = cache.get(digestOf(name))
        if (value !== undefined && JSON.stringify(value) !== JSON.stringify(verdictOf(name))) throw new Error(name)
      }
      say(String(cache.stats().writable)); cache.close()`
    const said = await Promise.all(['a', 'b', 'c'].map(prefix => outputOf(startChild(script(prefix)))))
    expect(said).toEqual(['true\n', 'true\n', 'true\n'])
    const cache = VerdictCache.open(folder, { maxBytes: 60_000 })
    expect(folderBytes()).toBeLessThanOrEqual(60_000)
    expect(
      found(cache, [...names(3000, 'a'), ...names(3000, 'b'), ...names(3000, 'c')]).length,
    ).toBeGreaterThan(100)
    expect(cache.stats().damaged).toBe(0)
    cache.close()
  })

  it('killed with -9 in the middle lose nothing that they had put, and spoil nothing', async () => {
    const script = `${open()}
      for (let i = 0; ; i++) { cache.put(digestOf('n' + i), verdictOf('n' + i)); if (i % 50 === 49) say(String(i)) }`
    for (let round = 0; round < 3; round++) {
      const child = startChild(script)
      let said = ''
      child.stdout!.on('data', (chunk: Buffer) => {
        said += chunk
      })
      await linesFrom(child, 20)
      child.kill('SIGKILL')
      await once(child, 'close')
      // The last line may be cut off by the pipe's end.
      const last = Number(said.split('\n').at(-2))
      const cache = VerdictCache.open(folder)
      expect(found(cache, names(last + 1))).toHaveLength(last + 1)
      fill(cache, [`after${round}`])
      cache.close()
    }
    const cache = VerdictCache.open(folder)
    expect(found(cache, names(3, 'after'))).toHaveLength(3)
    cache.close()
  })

  it.skipIf(process.platform === 'win32')(
    'a full disk: one warning, and the run goes on uncached',
    async () => {
      // The size limit of a process cuts a write in the middle just as a full disk does.
      const script = `
      let warnings = 0
      ${open('{ onWarning: () => warnings++ }')}
      for (let i = 0; i < 4000; i++) cache.put(digestOf('n' + i), verdictOf('n' + i))
      const stats = cache.stats(); cache.close()
      say(JSON.stringify({ warnings, writable: stats.writable, puts: stats.puts, first: cache.stats().hits }))`
      const said = JSON.parse(await outputOf(startChild(script, 'ulimit -f 100')))
      expect(said).toMatchObject({ warnings: 1, writable: false })
      expect(said.puts).toBeGreaterThan(100)
      expect(said.puts).toBeLessThan(4000)
      const cache = VerdictCache.open(folder)
      expect(found(cache, names(4000))).toEqual(names(said.puts))
      cache.close()
    },
  )
})
