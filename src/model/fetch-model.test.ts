import { setMaxListeners } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { temporaryPath } from '../util/atomic.ts'
import { DataError } from '../util/errors.ts'
import { COMMIT, type FakeHub, NEXT_COMMIT, startFakeHub } from '../util/fake-hub.fixture.ts'
import { blobPath, cachedName } from '../util/hub-cache.ts'
import { type FetchModelOptions, fetchModel } from './fetch-model.ts'
import { modelNameOf, modelPath } from './model-place.ts'

let hub: FakeHub
let home: string
let said: string[]

beforeEach(async () => {
  hub = await startFakeHub()
  home = mkdtempSync(join(tmpdir(), 'gradus-hub-'))
  vi.stubEnv('HF_HOME', home)
  vi.stubEnv('HF_ENDPOINT', hub.url)
  for (const name of ['HF_TOKEN', 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'HF_HUB_OFFLINE'])
    vi.stubEnv(name, '')
  hub.revisions.set('lab/tiny@main', COMMIT)
  hub.cards.set('lab/tiny', { license: 'apache-2.0' })
  said = []
})
afterEach(async () => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
  await hub.close()
})

/** Large enough for two parts. */
const PART = 8 * 2 ** 20
const WEIGHTS = Buffer.alloc(PART + 100_000, 'weights ')

const put = (path: string, content: string | Uint8Array, commit = COMMIT, repo = 'lab/tiny') =>
  hub.files.set(`${repo}@${commit}/${path}`, Buffer.from(content))

const putModel = (commit = COMMIT) => {
  put('config.json', '{"model_type":"llama"}', commit)
  put('tokenizer.json', '{}', commit)
  put('model.safetensors', WEIGHTS, commit)
  put('pytorch_model.bin', 'not this', commit)
  put('onnx/model.onnx', 'nor this', commit)
  put('README.md', 'nor this', commit)
}

const bring = (place = 'lab/tiny', options: FetchModelOptions = {}) =>
  fetchModel(place, {
    retryMs: 1,
    status: { log: text => said.push(text), renew: () => {}, close: () => {} },
    ...options,
  })

const repo = () => join(home, 'hub', 'models--lab--tiny')
const snapshot = (commit = COMMIT) => join(repo(), 'snapshots', commit)
const namesIn = (folder: string) => readdirSync(folder).sort()
/** What was asked for since, a word a request. */
const asked = () => {
  const paths = hub.seen.map(({ path }) => path.split('?')[0])
  hub.seen.length = 0
  return paths
}

describe('names', () => {
  it.each([
    ['lab/tiny', { repo: 'lab/tiny', revision: null, file: null }],
    ['hf://lab/tiny@v1', { repo: 'lab/tiny', revision: 'v1', file: null }],
    ['lab/tiny@refs%2Fpr%2F3', { repo: 'lab/tiny', revision: 'refs/pr/3', file: null }],
    ['lab/tiny/sub/x.Q4_0.gguf', { repo: 'lab/tiny', revision: null, file: 'sub/x.Q4_0.gguf' }],
    ['hf://lab/tiny@main/x.gguf', { repo: 'lab/tiny', revision: 'main', file: 'x.gguf' }],
    ['package:models/logic-start', null],
    ['models/chat', null],
    ['./lab/tiny', null],
    ['/lab/tiny', null],
    ['lab/tiny/more', null],
    ['tiny', null],
    // This folder's own: `src` is there.
    ['src/nothing', null],
  ])('%s', (place, name) => {
    expect(modelNameOf(place)).toEqual(name)
  })

  it.each([
    'hf://datasets/lab/tiny',
    'hf://lab',
    'hf://lab/tiny/model.safetensors',
    'hf://lab/tiny/../../x.gguf',
    'hf://lab/tiny@..%2F..%2Fx',
  ])('%s is refused', place => {
    expect(() => modelNameOf(place)).toThrow(/expected hf:\/\/OWNER\/NAME\[@REVISION\]/)
  })
})

describe('a model by name', () => {
  it('comes into the cache that others share, with what it needs and no more; size and licence are told before', async () => {
    putModel()
    const path = await bring()
    expect(path).toBe(snapshot())
    expect(modelPath('lab/tiny')).toBe(path)
    expect(cachedName(join(path, 'config.json'))).toEqual({
      repo: 'lab/tiny',
      commit: COMMIT,
      file: 'config.json',
    })
    expect(namesIn(path)).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
    expect(lstatSync(join(path, 'model.safetensors')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(path, 'model.safetensors')).equals(WEIGHTS)).toBe(true)
    expect(readFileSync(join(repo(), 'refs', 'main'), 'utf8')).toBe(COMMIT)
    expect(namesIn(join(repo(), 'blobs'))).toHaveLength(3)
    expect(said).toEqual([
      `lab/tiny: commit 0123456, licence apache-2.0: fetching 3 files, 8 MB, into ${join(home, 'hub')}`,
    ])
  })

  it('is asked for once: then one request names the commit, and none of a commit does', async () => {
    putModel()
    await bring()
    asked()
    await bring()
    expect(asked()).toEqual(['/api/models/lab/tiny/revision/main'])
    expect(await bring(`lab/tiny@${COMMIT}`)).toBe(snapshot())
    expect(asked()).toEqual([])
  })

  it('is that of the commit that its branch names now, or of the one that a run has noted', async () => {
    putModel()
    await bring()
    hub.revisions.set('lab/tiny@main', NEXT_COMMIT)
    putModel(NEXT_COMMIT)
    asked()
    const commits: string[] = []
    const onCommit = (name: string, commit: string) => commits.push(`${name} ${commit}`)
    const pins = new Map([['lab/tiny', COMMIT]])
    expect(await bring('lab/tiny', { pins, onCommit })).toBe(snapshot())
    expect(asked()).toEqual([])
    expect(await bring('lab/tiny', { onCommit })).toBe(snapshot(NEXT_COMMIT))
    expect(commits).toEqual([`lab/tiny ${COMMIT}`, `lab/tiny ${NEXT_COMMIT}`])
    // The same bytes are not fetched again.
    expect(asked().filter(path => path.startsWith('storage'))).toEqual([])
  })

  it('in Xet is read in parts all the same', async () => {
    putModel()
    hub.xet = true
    expect(readFileSync(join(await bring(), 'model.safetensors')).equals(WEIGHTS)).toBe(true)
  })

  it('for a plan is its configuration alone; for words the tokenizer with it', async () => {
    putModel()
    expect(namesIn(await bring('lab/tiny', { only: 'config' }))).toEqual(['config.json'])
    expect(said).toEqual([])
    expect(namesIn(await bring('lab/tiny', { only: 'words' }))).toEqual(['config.json', 'tokenizer.json'])
    expect(namesIn(await bring())).toContain('model.safetensors')
  })

  it('in several files is fetched by its index', async () => {
    put('config.json', '{}')
    put('tokenizer.json', '{}')
    const weight_map = { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' }
    put('model.safetensors.index.json', JSON.stringify({ weight_map }))
    for (const name of Object.values(weight_map)) put(name, name)
    put('model-00003-of-00002.safetensors', 'of another index')
    expect(namesIn(await bring())).toEqual([
      'config.json',
      ...Object.values(weight_map),
      'model.safetensors.index.json',
      'tokenizer.json',
    ])
  })

  it('of an adapter comes with its base, at the revision that it names', async () => {
    putModel()
    hub.revisions.set('lab/skill@main', NEXT_COMMIT)
    const config = { base_model_name_or_path: 'lab/tiny', revision: COMMIT }
    put('adapter_config.json', JSON.stringify(config), NEXT_COMMIT, 'lab/skill')
    put('adapter_model.safetensors', 'adapter', NEXT_COMMIT, 'lab/skill')
    const path = await bring('lab/skill')
    expect(namesIn(path)).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
    expect(existsSync(join(snapshot(), 'model.safetensors'))).toBe(true)
  })
})

describe('a GGUF file', () => {
  it('of several is to be named; the only one is taken', async () => {
    for (const name of ['tiny.Q8_0.gguf', 'tiny.Q4_0.gguf', 'mmproj-tiny.gguf']) put(name, name)
    await expect(bring()).rejects.toThrow(
      /repository of 2 \.gguf files; name one of them, as lab\/tiny\/FILE\.gguf: tiny\.Q4_0\.gguf, tiny\.Q8_0\.gguf/,
    )
    const path = await bring('lab/tiny/tiny.Q4_0.gguf')
    expect(path).toBe(join(snapshot(), 'tiny.Q4_0.gguf'))
    expect(namesIn(snapshot())).toEqual(['tiny.Q4_0.gguf'])
    await expect(bring('lab/tiny/other.gguf')).rejects.toThrow(/no file other\.gguf; it has tiny\.Q4_0\.gguf/)
    hub.files.delete(`lab/tiny@${COMMIT}/tiny.Q8_0.gguf`)
    expect(await bring()).toBe(path)
  })

  it('in a folder of its repository', async () => {
    put('Q4_0/tiny.gguf', 'words')
    expect(readFileSync(await bring('hf://lab/tiny/Q4_0/tiny.gguf'), 'utf8')).toBe('words')
  })
})

describe('what breaks off', () => {
  it.each([['cut'], ['hang up'], [429], [503]] as const)('%s: is tried again', async fault => {
    putModel()
    hub.faults = [null, null, null, null, null, null, fault, fault]
    hub.apiFaults = [429]
    expect(readFileSync(join(await bring(), 'model.safetensors')).equals(WEIGHTS)).toBe(true)
    expect(hub.faults).toEqual([])
  })

  it('goes on where it was, by this process or after it is gone', async () => {
    putModel()
    // Each file asks for its size first; the second part of the weights never comes.
    hub.faults = [null, null, null, null, null, null, ...Array(5).fill('cut')]
    await expect(bring()).rejects.toThrow('5 times; check the network')
    expect(namesIn(snapshot())).toEqual(['config.json', 'tokenizer.json'])
    const [left] = namesIn(join(repo(), 'blobs')).filter(name => name.endsWith('.tmp'))
    const part = join(repo(), 'blobs', left)
    expect(readFileSync(part).equals(WEIGHTS.subarray(0, PART))).toBe(true)
    // As a process would have left it that runs no more.
    const gone = part.replace(/-\d+(-\d+)?\.tmp$/, '-999999.tmp')
    writeFileSync(gone, readFileSync(part))
    rmSync(part)
    hub.seen.length = 0
    expect(readFileSync(join(await bring(), 'model.safetensors')).equals(WEIGHTS)).toBe(true)
    const ranges = hub.seen.filter(({ path }) => path.startsWith('storage')).map(({ range }) => range)
    expect(ranges).toEqual(['bytes=0-0', `bytes=${PART}-${WEIGHTS.length - 1}`])
    expect(existsSync(gone)).toBe(false)
  })

  it('ends at once where it is told to, and goes on from there later', async () => {
    putModel()
    const stop = new AbortController()
    // As who asks a model so many questions at a time has it.
    setMaxListeners(0, stop.signal)
    const reason = new DataError('enough')
    let bytes = 0
    const renew = () => {
      if (++bytes === 3) stop.abort(reason)
    }
    const status = { log: () => {}, renew, close: () => {} }
    // Nothing that is waited for may keep it: here the second part never comes.
    hub.faults = [null, null, null, null, null, null, ...Array(9).fill('cut')]
    await expect(bring('lab/tiny', { status, signal: stop.signal, retryMs: 60_000 })).rejects.toBe(reason)
    expect(namesIn(join(repo(), 'blobs')).some(name => name.endsWith('.tmp'))).toBe(true)
    hub.faults = []
    hub.seen.length = 0
    expect(readFileSync(join(await bring(), 'model.safetensors')).equals(WEIGHTS)).toBe(true)
  })

  it('has room for what is missing still', async () => {
    putModel()
    await bring('lab/tiny', { only: 'words' })
    const { bavail, bsize } = statfsSync(home)
    const size = bavail * bsize + 2 ** 30
    const oid = 'a'.repeat(64)
    hub.listed.set(`lab/tiny@${COMMIT}/model.safetensors`, { lfs: { oid, size, pointerSize: 1 } })
    await expect(bring()).rejects.toThrow(/expected room for/)
    const part = temporaryPath(blobPath('lab/tiny', oid))
    writeFileSync(part, '')
    // All of it but a few bytes, as a file with holes that take no room; nobody waits until it is read.
    truncateSync(part, size - 100)
    const stop = new AbortController()
    const reason = new DataError('there is room')
    const status = { log: () => stop.abort(reason), renew: () => {}, close: () => {} }
    await expect(bring('lab/tiny', { status, signal: stop.signal })).rejects.toBe(reason)
  })

  it('and was damaged meanwhile is fetched anew', async () => {
    putModel()
    await bring('lab/tiny', { only: 'words' })
    const { oid } = await listing('model.safetensors')
    const part = temporaryPath(blobPath('lab/tiny', oid))
    writeFileSync(part, Buffer.alloc(50_000, 'other'))
    expect(readFileSync(join(await bring(), 'model.safetensors')).equals(WEIGHTS)).toBe(true)
  })
})

/** The hash by which the hub lists a file. */
const listing = async (path: string): Promise<{ oid: string }> => {
  const answer = await fetch(`${hub.url}/api/models/lab/tiny/tree/${COMMIT}?recursive=false`)
  const entries = (await answer.json()) as { path: string; oid: string; lfs?: { oid: string } }[]
  const found = entries.find(entry => entry.path === path)!
  return found.lfs ?? found
}

describe('what is not what was listed', () => {
  it('another hash', async () => {
    putModel()
    const oid = 'a'.repeat(64)
    hub.listed.set(`lab/tiny@${COMMIT}/model.safetensors`, {
      lfs: { oid, size: WEIGHTS.length, pointerSize: 1 },
    })
    await expect(bring()).rejects.toThrow(
      /model\.safetensors: expected bytes with the SHA-256 aaaa.*, got [\da-f]{64}/,
    )
    expect(namesIn(join(repo(), 'blobs')).filter(name => name.startsWith('a'.repeat(64)))).toEqual([])
    hub.listed.clear()
    hub.listed.set(`lab/tiny@${COMMIT}/config.json`, { oid: 'b'.repeat(40) })
    rmSync(repo(), { recursive: true })
    await expect(bring()).rejects.toThrow(/config\.json: expected bytes with the git hash bbbb/)
  })

  it('another size', async () => {
    putModel()
    hub.listed.set(`lab/tiny@${COMMIT}/config.json`, { size: 7 })
    await expect(bring()).rejects.toThrow(
      /config\.json: expected 7 bytes, as the repository lists it, got 22/,
    )
  })

  it('more than the disk holds', async () => {
    putModel()
    const lfs = { oid: 'a'.repeat(64), size: 2 ** 50, pointerSize: 1 }
    hub.listed.set(`lab/tiny@${COMMIT}/model.safetensors`, { lfs })
    await expect(bring()).rejects.toThrow(/expected room for 1125899\.9 GB in .*; free some disk space/)
  })

  it('hostile names, hashes and sizes are passed over', async () => {
    putModel()
    const entry = { type: 'file', size: 1, oid: 'c'.repeat(40) }
    for (const [i, more] of [
      { path: '../config.json' },
      { path: '../../../evil' },
      { path: '/etc/passwd' },
      { path: 'generation_config.json', oid: '../../../evil' },
      { path: 'merges.txt', size: -1 },
      { path: 'vocab.json', size: 2 ** 60 },
      { path: 'added_tokens.json', oid: null },
    ].entries()) {
      put(`hostile-${i}`, 'x')
      hub.listed.set(`lab/tiny@${COMMIT}/hostile-${i}`, { ...entry, ...more })
    }
    expect(namesIn(await bring())).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
    expect(namesIn(home)).toEqual(['hub'])
    expect(namesIn(join(repo(), 'snapshots'))).toEqual([COMMIT])
  })

  it('a GGUF file that would lie outside the cache', async () => {
    put('tiny.gguf', 'x')
    hub.listed.set(`lab/tiny@${COMMIT}/tiny.gguf`, { path: '../../../tiny.gguf' })
    await expect(bring()).rejects.toThrow(/or a \.gguf file, got neither/)
  })

  it('a listing whose pages have no end, or lie elsewhere: no token goes there', async () => {
    putModel()
    vi.stubEnv('HF_TOKEN', 'hf_secret')
    const elsewhere = await startFakeHub()
    const listed = `/api/models/lab/tiny/tree/${COMMIT}`
    hub.nextPage = `${elsewhere.url}${listed}`
    elsewhere.nextPage = `${elsewhere.url}${listed}?cursor=1`
    await expect(bring()).rejects.toThrow(/more than 100 pages of files/)
    expect(hub.seen[0].token).toBe('Bearer hf_secret')
    expect(new Set(elsewhere.seen.map(({ token }) => token))).toEqual(new Set([undefined]))
    await elsewhere.close()
  })

  it('an adapter whose revision of its base leads out of the cache', async () => {
    putModel()
    hub.revisions.set('lab/skill@main', COMMIT)
    hub.revisions.set('lab/tiny@../../../evil', COMMIT)
    const config = { base_model_name_or_path: 'lab/tiny', revision: '../../../evil' }
    put('adapter_config.json', JSON.stringify(config), COMMIT, 'lab/skill')
    put('adapter_model.safetensors', 'adapter', COMMIT, 'lab/skill')
    await expect(bring('lab/skill')).rejects.toThrow(
      /adapter_config\.json: revision: expected a branch, a tag or a commit, got "\.\.\/\.\./,
    )
    expect(existsSync(join(home, 'evil'))).toBe(false)
  })

  it('a licence that plays with the terminal', async () => {
    putModel()
    hub.cards.set('lab/tiny', { license: 'other', license_name: `\u001b[2J\nmit${'x'.repeat(1000)}` })
    await bring()
    expect(said[0]).toMatch(/^lab\/tiny: commit 0123456, licence \\u001b\[2J mitx{60,70}: fetching 3 files/)
  })

  it('an index that names files elsewhere', async () => {
    put('config.json', '{}')
    put('model.safetensors.index.json', JSON.stringify({ weight_map: { a: '../../x.safetensors' } }))
    await expect(bring()).rejects.toThrow(/expected file names within the folder/)
  })

  it('no model', async () => {
    put('config.json', '{}')
    put('pytorch_model.bin', 'x')
    await expect(bring()).rejects.toThrow(
      /expected config\.json with weights in safetensors, or a \.gguf file, got pytorch_model\.bin/,
    )
  })
})

describe('what cannot be had', () => {
  it('an unknown name or revision', async () => {
    await expect(bring('lab/tiny@v9')).rejects.toThrow(
      'lab/tiny@v9: cannot be read: the hub knows no such revision (HTTP 404); check owner, name',
    )
    hub.token = 'hf_own'
    await expect(bring()).rejects.toThrow(
      /the hub refuses it \(HTTP 401\); set HF_TOKEN.*does not exist is refused alike \(OWNER.*or a folder of this machine/,
    )
  })

  it('a gated model, until a token comes that may read it; the token goes to the hub alone, and into no message', async () => {
    putModel()
    hub.token = 'hf_secret'
    hub.refusal = 'GatedRepo'
    await expect(bring()).rejects.toThrow(
      /HTTP 401\); agree to its terms on its page at the hub, and set HF_TOKEN/,
    )
    vi.stubEnv('HF_TOKEN', 'hf_other')
    const error = await bring().catch(String)
    expect(error).toContain('HF_TOKEN must be of whoever did')
    vi.stubEnv('HF_TOKEN', 'hf_secret')
    await bring()
    const tokens = hub.seen.filter(({ path }) => path.startsWith('storage')).map(({ token }) => token)
    expect(new Set(tokens)).toEqual(new Set([undefined]))
    expect([error, ...said].join()).not.toMatch(/hf_secret|hf_other/)
  })

  it('a busy hub, in the end', async () => {
    hub.apiFaults = Array(5).fill(429)
    await expect(bring()).rejects.toThrow('lab/tiny: cannot be read: the hub answered HTTP 429, 5 times')
  })

  it('without a network what the cache has is taken, and said', async () => {
    putModel()
    await bring()
    hub.apiFaults = [503]
    said = []
    expect(await bring()).toBe(snapshot())
    expect(said).toEqual([
      expect.stringMatching(/HTTP 503, 1 times.*; going on with what the cache has, commit 0123456/),
    ])
  })

  it('a cache in which no name can be noted', async () => {
    putModel()
    // As one that is mounted to be read: no root is stopped by its permissions.
    mkdirSync(join(repo(), 'refs', 'main'), { recursive: true })
    expect(await bring()).toBe(snapshot())
  })

  it('a token or an address that would be shown by an error', async () => {
    putModel()
    vi.stubEnv('HF_TOKEN', 'hf_secret\nmore')
    const errors = [await bring().catch(String)]
    vi.stubEnv('HF_TOKEN', '')
    vi.stubEnv('HF_ENDPOINT', hub.url.replace('//', '//user:secret@'))
    errors.push(await bring().catch(String))
    expect(errors).toEqual([
      expect.stringContaining('HF_TOKEN: expected a token of the hub, one word that begins with hf_'),
      expect.stringContaining('HF_ENDPOINT: expected an address that begins with https:// and has no user'),
    ])
    expect(errors.join()).not.toContain('secret')
  })

  it('offline the cache alone counts', async () => {
    putModel()
    await bring('lab/tiny', { only: 'config' })
    vi.stubEnv('HF_HUB_OFFLINE', '1')
    asked()
    await expect(bring()).rejects.toThrow(/lacks parts of it, and HF_HUB_OFFLINE forbids fetching it/)
    await expect(bring('lab/other')).rejects.toThrow(/does not have it, and HF_HUB_OFFLINE forbids/)
    expect(await bring('lab/tiny', { only: 'config' })).toBe(snapshot())
    expect(asked()).toEqual([])
  })
})

it('two processes at once leave one whole file; here two calls share one fetch, and another process is waited for', async () => {
  putModel()
  const paths = await Promise.all([bring(), bring()])
  expect(paths).toEqual([snapshot(), snapshot()])
  const parts = hub.seen.filter(({ path, range }) => path.startsWith('storage') && range !== 'bytes=0-0')
  expect(parts).toHaveLength(4)
  rmSync(repo(), { recursive: true })
  await bring('lab/tiny', { only: 'words' })
  const blob = blobPath('lab/tiny', (await listing('model.safetensors')).oid)
  // Of a process that runs: this one's parent.
  const other = temporaryPath(blob).replace(/-\d+(-\d+)?\.tmp$/, `-${process.ppid}.tmp`)
  writeFileSync(other, 'a part')
  hub.seen.length = 0
  const waiting = bring()
  await vi.waitFor(() => expect(said.at(-1)).toBe('lab/tiny: another process fetches it; waiting'))
  writeFileSync(blob, WEIGHTS)
  rmSync(other)
  expect(readFileSync(join(await waiting, 'model.safetensors')).equals(WEIGHTS)).toBe(true)
  expect(hub.seen.filter(({ path }) => path.startsWith('storage'))).toEqual([])
})

it('what the Python client has fetched is taken as it is', async () => {
  putModel()
  // As huggingface_hub 1.x leaves it, its locks included.
  for (const folder of ['blobs', 'refs', join('snapshots', COMMIT)])
    mkdirSync(join(repo(), folder), { recursive: true })
  mkdirSync(join(home, 'hub', '.locks', 'models--lab--tiny'), { recursive: true })
  writeFileSync(join(repo(), 'refs', 'main'), COMMIT)
  for (const [name, content] of [
    ['config.json', '{"model_type":"llama"}'],
    ['tokenizer.json', '{}'],
    ['model.safetensors', WEIGHTS],
    ['.gitattributes', ''],
  ] as const) {
    writeFileSync(join(repo(), 'blobs', `of ${name}`), content)
    symlinkSync(join('..', '..', 'blobs', `of ${name}`), join(snapshot(), name))
  }
  expect(await bring()).toBe(snapshot())
  expect(asked()).toEqual(['/api/models/lab/tiny/revision/main'])
  vi.stubEnv('HF_HUB_OFFLINE', '1')
  expect(await bring()).toBe(snapshot())
})
