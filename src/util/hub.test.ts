import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMMIT, type FakeHub, NEXT_COMMIT, startFakeHub } from './fake-hub.fixture.ts'
import { openHubFile } from './hub.ts'
import { parseHubAddress } from './hub-address.ts'
import { type RowOptions, streamRows } from './row-stream.ts'

let hub: FakeHub

beforeEach(async () => {
  hub = await startFakeHub()
  hub.revisions.set('lab/words@main', COMMIT).set('lab/words@v2', NEXT_COMMIT)
})
afterEach(() => hub.close())

const bytes = (text: string) => new TextEncoder().encode(text)

const put = (path: string, content: Uint8Array, commit = COMMIT) =>
  hub.files.set(`lab/words@${commit}/${path}`, content)

const read = async (source: string, more: RowOptions = {}) => {
  const rows: { place: string; text: string }[] = []
  for await (const row of streamRows(source, { endpoint: hub.url, retryMs: 1, env: {}, ...more }))
    rows.push(row)
  return rows
}

const ROWS = '{"n":1}\n\n{"n":2}\n'
const FILE = 'hf://datasets/lab/words/rows.jsonl'

describe('addresses', () => {
  it.each([
    ['hf://datasets/lab/words/rows.jsonl', null, 'rows.jsonl'],
    ['hf://datasets/lab/words@v1.2/data/a b.parquet', 'v1.2', 'data/a b.parquet'],
    ['hf://datasets/lab/words@refs/convert/parquet/all/0.parquet', 'refs/convert/parquet', 'all/0.parquet'],
    ['hf://datasets/lab/words@refs%2Fpr%2F3/0.parquet', 'refs/pr/3', '0.parquet'],
  ])('%s', (source, revision, path) => {
    expect(parseHubAddress(source)).toEqual({ repo: 'lab/words', revision, path })
  })

  it.each([
    'hf://lab/words/rows.jsonl',
    'hf://datasets/lab/words',
    'hf://datasets/lab/words/../x.jsonl',
    'hf://datasets/lab/words/',
    'hf://models/lab/words/rows.jsonl',
  ])('%s is refused', source => {
    expect(() => parseHubAddress(source)).toThrow('expected hf://datasets/OWNER/NAME[@REVISION]/PATH')
  })
})

describe('rows', () => {
  it('are those of the commit that the revision names, with the lines of the file as places', async () => {
    put('rows.jsonl', bytes(ROWS))
    put('rows.jsonl', bytes('{"n":3}'), NEXT_COMMIT)
    const commits: string[] = []
    const onCommit = (commit: string) => commits.push(commit)
    expect(await read(FILE, { onCommit })).toEqual([
      { place: `${FILE}:1`, text: '{"n":1}' },
      { place: `${FILE}:3`, text: '{"n":2}' },
    ])
    const next = 'hf://datasets/lab/words@v2/rows.jsonl'
    expect(await read(next, { onCommit })).toEqual([{ place: `${next}:1`, text: '{"n":3}' }])
    expect(await read(next, { pinned: COMMIT, onCommit })).toHaveLength(2)
    expect(commits).toEqual([COMMIT, NEXT_COMMIT, COMMIT])
  })

  it('of a file compressed by gzip; a file that is cut off says so', async () => {
    const packed = gzipSync(ROWS)
    put('rows.jsonl.gz', packed)
    expect(await read(`${FILE}.gz`)).toHaveLength(2)
    put('rows.jsonl.gz', packed.subarray(0, 20))
    await expect(read(`${FILE}.gz`)).rejects.toThrow(
      'expected a file compressed by gzip, got one that cannot',
    )
  })

  it('of a Parquet file, of which only the row groups and columns are fetched that are read', async () => {
    const data = (letter: string) =>
      Array.from({ length: 3000 }, (_, i) => `${letter.repeat(200)} ${i * 7919}`)
    const file = parquetWriteBuffer({
      columnData: [
        { name: 'question', data: data('q'), type: 'STRING' },
        { name: 'unused', data: data('u'), type: 'STRING' },
      ],
      codec: 'UNCOMPRESSED',
      rowGroupSize: 1000,
    })
    put('data/rows.parquet', new Uint8Array(file))
    const rows = streamRows('hf://datasets/lab/words/data/rows.parquet', {
      ...{ endpoint: hub.url, env: {} },
      columns: { prompt: 'question', unused: null },
    })
    const first = await rows.next()
    await rows.return(undefined)
    expect(JSON.parse(first.value!.text)).toEqual({ prompt: `${'q'.repeat(200)} 0` })
    // Probe of the size, end, footer, and the group's one column.
    const fetched = hub.seen
      .filter(({ path }) => path.startsWith('storage'))
      .map(({ range }) => /(\d+)-(\d+)/.exec(range!)!.slice(1).map(Number))
    const ofData = fetched.filter(([, end]) => end < file.byteLength / 3)
    expect(ofData.reduce((sum, [start, end]) => sum + end - start + 1, 0)).toBeLessThan(file.byteLength / 5)
    expect(fetched.length).toBeLessThan(8)
  })
})

describe('the token', () => {
  it('comes from the environment, and goes to the hub alone', async () => {
    put('rows.jsonl', bytes(ROWS))
    hub.token = 'hf_secret'
    await expect(read(FILE)).rejects.toThrow('the hub refuses it (HTTP 401); set HF_TOKEN')
    expect(await read(FILE, { env: { HF_TOKEN: 'hf_secret' } })).toHaveLength(2)
    const [storage, own] = [true, false].map(isStorage =>
      hub.seen.filter(({ path }) => path.startsWith('storage') === isStorage),
    )
    expect(own.at(-1)?.token).toBe('Bearer hf_secret')
    expect(storage.map(({ token }) => token)).toEqual(storage.map(() => undefined))
  })

  it('is never in an error', async () => {
    hub.token = 'hf_other'
    const error = await read(FILE, { env: { HF_TOKEN: 'hf_secret' } }).catch(String)
    expect(error).toContain('check that HF_TOKEN may read it')
    expect(error).not.toContain('hf_secret')
    await expect(read(FILE, { env: { HF_TOKEN: 'secret' } })).rejects.toThrow(
      /HF_TOKEN: expected a token(?!.*"secret")/,
    )
  })
})

describe('what fails for a moment', () => {
  it.each([[429], [503], ['cut'], ['hang up']] as const)('%s is tried again', async fault => {
    put('rows.jsonl', bytes(ROWS))
    hub.faults = [fault, null, fault, fault]
    expect(await read(FILE)).toHaveLength(2)
    expect(hub.faults).toEqual([])
  })

  it.each([
    [500, 'the hub answered HTTP 500, 5 times'],
    ['cut', '5 times; check the network'],
  ] as const)('%s without end is an error', async (fault, words) => {
    put('rows.jsonl', bytes(ROWS))
    hub.always = fault
    await expect(read(FILE)).rejects.toThrow(words)
  })
})

describe('what cannot be had', () => {
  it.each([
    ['hf://datasets/lab/words@v9/rows.jsonl', 'the hub knows no such revision (HTTP 404)'],
    ['hf://datasets/lab/words/other.jsonl', 'the hub knows no such file (HTTP 404)'],
  ])('%s', async (source, words) => {
    await expect(read(source)).rejects.toThrow(`${source}: cannot be read: ${words}`)
  })

  it('an empty file', async () => {
    put('rows.jsonl', bytes(''))
    await expect(read(FILE)).rejects.toThrow('expected at least one row, got an empty file')
  })

  it('a server that gives no parts of a large file', async () => {
    put('rows.jsonl', new Uint8Array(9 * 1024 * 1024))
    hub.always = 'whole'
    await expect(read(FILE)).rejects.toThrow('the server must answer requests for parts of a file')
  })

  it('a server that is no hub, or nothing', async () => {
    hub.always = 'nonsense'
    await expect(read(FILE)).rejects.toThrow('expected an answer of the hub, got another')
    const other = await startFakeHub()
    await other.close()
    await expect(read(FILE, { endpoint: other.url })).rejects.toThrow(
      'nobody listens there (ECONNREFUSED), 5 times; check the network and HF_ENDPOINT, or download the file',
    )
    await expect(read(FILE, { endpoint: 'hub' })).rejects.toThrow('HF_ENDPOINT: expected an address')
    await expect(openHubFile(FILE, { env: { HF_HUB_OFFLINE: '1' } })).rejects.toThrow(
      'HF_HUB_OFFLINE forbids it',
    )
  })
})
