import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { embedderSchema, memorySchema } from '../../memory/config.ts'
import type { Embedder } from '../../memory/embedder.ts'
import { openBank } from '../../memory/open.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { openEmbedder } from '../open-embedder.ts'
import { createEngine } from './engine.ts'

const folder = fileURLToPath(new URL('../../../models/packing-start', import.meta.url))

const open: Embedder[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(each => each.close?.()))
})

const opened = async (settings: object) => {
  const embedder = await openEmbedder(embedderSchema.parse(settings))
  open.push(embedder)
  return embedder
}

describe('embedders by settings', () => {
  it('give the mean hidden states of a checkpoint, with nothing added to it', async () => {
    const embedder = await opened({ kind: 'checkpoint', folder, maxTokens: 5 })
    const tokenizer = loadTokenizer(folder)
    const text = Array.from({ length: 12 }, (_, i) => tokenizer.tokenOf(20 + i)).join(' ')
    const vectors = await embedder.embed([text, ''])
    const engine = createEngine({ folder }, { threads: 1 })
    const expected = await engine.hiddenMeans([
      tokenizer.encode(text, { addSpecialTokens: true }).slice(0, 5),
    ])
    expect(embedder.dims).toBe(engine.parameters.config.hiddenSize)
    vectors[0].forEach((x, d) => {
      expect(x).toBeCloseTo(expected[0][d], 4)
    })
    expect(vectors[1]).toHaveLength(embedder.dims!)
    expect(embedder.recomputed).toBeUndefined()
    const same = await opened({ kind: 'checkpoint', folder, maxTokens: 5 })
    expect(same.name).toBe(embedder.name)
    expect((await opened({ kind: 'checkpoint', folder, maxTokens: 6 })).name).not.toBe(embedder.name)
  })

  it('are named after what changes their vectors, and never after a key', async () => {
    const name = async (settings: object) =>
      (await opened({ kind: 'endpoint', url: 'http://a', model: 'm', ...settings })).name
    const plain = await name({})
    expect(await name({ url: 'http://b/v1', retries: 1, batch: 3, dims: 4, headers: { a: 'b' } })).toBe(plain)
    for (const settings of [
      { model: 'n' },
      { prefix: 'Q: ' },
      { maxTextCharacters: 9 },
      { dims: 4, sendDims: true },
    ])
      expect(await name(settings)).not.toBe(plain)
    expect((await opened({ kind: 'hashed' })).name).toBe('hashed-ngrams-1 dims=256 order=2')
  })

  it('refuse a checkpoint that is not there', async () => {
    await expect(opened({ kind: 'checkpoint', folder: '/nowhere/at/all' })).rejects.toThrow('/nowhere/at/all')
  })
})

describe('the section memory', () => {
  it('is off unless asked for, and has the defaults of the paper', () => {
    expect(memorySchema.parse(undefined)).toEqual({ kind: 'none' })
    expect(memorySchema.parse({ kind: 'bank' })).toEqual({
      kind: 'bank',
      retrieval: 'cross',
      top: 2,
      otherEmbedder: 're-embed',
      writeEverySteps: 10,
      embedder: { kind: 'hashed', dims: 256, order: 2 },
    })
    expect(memorySchema.safeParse({ kind: 'bank', tops: 3 }).success).toBe(false)
    expect(memorySchema.safeParse({ kind: 'none', file: 'x' }).success).toBe(false)
    expect(memorySchema.safeParse({ kind: 'bank', embedder: { kind: 'endpoint', url: 'x' } }).success).toBe(
      false,
    )
    const sendDims = { kind: 'endpoint', url: 'http://x', model: 'm', sendDims: true }
    expect(memorySchema.safeParse({ kind: 'bank', embedder: sendDims }).success).toBe(false)
  })

  it('opens a bank, whose file has to be one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gradus-memory-'))
    try {
      const settings = memorySchema.parse({ kind: 'bank', maxItems: 1 })
      if (settings.kind === 'none') throw new Error('expected a bank')
      const bank = await openBank(settings, await opened(settings.embedder))
      await bank.add(['a', 'b'].map(question => ({ question, rubrics: '', takeaways: [], u: 1, step: 1 })))
      expect(bank.size).toBe(1)
      await expect(openBank({ ...settings, file: dir }, bank.embedder)).rejects.toThrow('it is a folder')
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
