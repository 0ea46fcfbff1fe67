import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CheckpointError, ConfigError, DataError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { type BankOptions, RubricBank } from './bank.ts'
import type { Embedder } from './embedder.ts'
import { HashedNgrams } from './hashed.ts'
import { questionHash, type Reflection } from './item.ts'
import { VectorStore } from './vectors.ts'

const reflection = (question: string, more: Partial<Reflection> = {}): Reflection => ({
  question,
  rubrics: `what ${question} needs`,
  takeaways: ['look first'],
  u: 0.5,
  step: 1,
  ...more,
})

/** Vectors by table; counts its calls. */
class Table implements Embedder {
  readonly name: string
  readonly dims: number | null
  calls: string[][] = []
  readonly #vectors: Readonly<Record<string, readonly number[]>>
  /** Resolves when the texts may be embedded. */
  gate: Promise<void> = Promise.resolve()

  constructor(vectors: Readonly<Record<string, readonly number[]>>, name = 'table', dims: number | null = 2) {
    this.#vectors = vectors
    this.name = name
    this.dims = dims
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.calls.push([...texts])
    await this.gate
    return texts.map(text => Float32Array.from(this.#vectors[text]))
  }
}

const PLANE = { east: [1, 0], north: [0, 1], 'north-east': [3, 3], west: [-1, 0], 'also north': [0, 5] }

const bankOf = async (questions: readonly string[], options: Partial<BankOptions> = {}) => {
  const embedder = new Table(PLANE)
  const bank = new RubricBank({ embedder, ...options })
  await bank.add(questions.map(question => reflection(question)))
  return { bank, embedder: bank.embedder as Table }
}

const found = (items: readonly { item: { question: string } }[]) => items.map(({ item }) => item.question)

describe('retrieval', () => {
  it('finds the very question by its hash, which is SHA-256', async () => {
    const { bank } = await bankOf(['east', 'north'])
    expect(bank.within('east')?.question).toBe('east')
    expect(bank.within('East')).toBeNull()
    // sha256sum of "abc", FIPS 180-2.
    expect(questionHash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  it('finds the two most similar others by the angle, never the question itself (11.18)', async () => {
    const { bank } = await bankOf(['east', 'north', 'north-east', 'west'])
    const items = await bank.cross('east')
    expect(found(items)).toEqual(['north-east', 'north'])
    expect(items[0].score).toBeCloseTo(Math.SQRT1_2, 6)
    expect(items.map(({ how }) => how)).toEqual(['cross', 'cross'])
    expect(found(await bank.cross('east', 9))).toEqual(['north-east', 'north', 'west'])
  })

  it('orders equal similarities by hash, whatever the order of adding', async () => {
    const byHash = ['north', 'also north'].sort((a, b) => (questionHash(a) < questionHash(b) ? -1 : 1))
    for (const order of [
      ['north', 'also north', 'west'],
      ['west', 'also north', 'north'],
    ]) {
      const { bank } = await bankOf(order)
      expect(found(await bank.cross('east', 2))).toEqual(byHash)
      expect(found(await bank.cross('east', 1))).toEqual(byHash.slice(0, 1))
    }
  })

  it('gives nothing from an empty bank, and asks the embedder for nothing', async () => {
    const { bank, embedder } = await bankOf([])
    expect(await bank.cross('east')).toEqual([])
    expect(await bank.retrieve(['east'], { mode: 'within' })).toEqual([
      { question: 'east', items: [], fellBack: true },
    ])
    expect(embedder.calls).toEqual([])
  })

  it('embeds the questions of a step by one call, each once, and only those that are searched for', async () => {
    const { bank, embedder } = await bankOf(['east', 'north'])
    embedder.calls = []
    const retrievals = await bank.retrieve(['west', 'east', 'west'], { mode: 'within', top: 1 })
    expect(embedder.calls).toEqual([['west']])
    expect(retrievals.map(({ items }) => found(items))).toEqual([['north'], ['east'], ['north']])
    expect(retrievals.map(({ fellBack }) => fellBack)).toEqual([true, false, true])
    await bank.retrieve(['east', 'north'], { mode: 'within' })
    expect(embedder.calls).toHaveLength(1)
  })

  it('leaves the missing missing where it is told to, and gives both kinds where both are asked for', async () => {
    const { bank } = await bankOf(['east', 'north'])
    const strict = await bank.retrieve(['west'], { mode: 'within', fallback: false })
    expect(strict).toEqual([{ question: 'west', items: [], fellBack: true }])
    const [both] = await bank.retrieve(['east'], { mode: 'both' })
    expect(both.items.map(({ item, how, score }) => [item.question, how, score])).toEqual([
      ['east', 'within', 1],
      ['north', 'cross', 0],
    ])
  })

  it('sees the bank as it was when it was asked, whatever is added, replaced or evicted meanwhile', async () => {
    const { bank, embedder } = await bankOf(['north', 'west'], { maxItems: 2 })
    let open = () => {}
    embedder.gate = new Promise(resolve => {
      open = resolve
    })
    const before = bank.cross('east', 2)
    embedder.gate = Promise.resolve()
    await bank.add([reflection('north', { u: 0.9 }), reflection('north-east')])
    await bank.add([reflection('also north')])
    expect(bank.items().map(({ question }) => question)).toEqual(['north-east', 'also north'])
    open()
    expect((await before).map(({ item, score }) => [item.question, item.u, score])).toEqual([
      ['north', 0.5, 0],
      ['west', 0.5, -1],
    ])
    // The places that were given up are used again afterwards.
    await bank.add([reflection('west')])
    expect(found(await bank.cross('east', 2))).toEqual(['also north', 'west'])
  })

  it('equals a search through everything, over random vectors', async () => {
    const rng = new Rng('nearest')
    for (const dims of [1, 5, 16, 33]) {
      const store = new VectorStore(dims)
      const unit = () => {
        const vector = Float32Array.from({ length: dims }, () => rng.normal())
        const length = Math.hypot(...vector)
        return vector.map(x => x / length)
      }
      const vectors = Array.from({ length: 2500 }, unit)
      // Near copies, which bytes cannot tell apart.
      for (let i = 0; i < 400; i++) vectors[2000 + i] = vectors[i].map(x => x + 1e-4 * rng.normal())
      vectors.forEach((vector, place) => {
        store.set(place, vector)
      })
      for (let i = 0; i < 60; i++) {
        const query = i % 2 === 0 ? unit() : vectors[rng.int(2500)]
        const k = 1 + rng.int(6)
        const isOpen = (place: number) => place % 7 !== i % 7
        const naive = vectors
          .map((vector, place) => ({ place, score: vector.reduce((sum, x, d) => sum + x * query[d], 0) }))
          .filter(({ place }) => isOpen(place))
          .sort((a, b) => b.score - a.score || a.place - b.place)
          .slice(0, k)
        expect(store.nearest(query, k, isOpen, (a, b) => a < b)).toEqual(naive)
      }
    }
  })
})

describe('adding', () => {
  it('keeps one item a question: what is added later replaces it, without embedding it again', async () => {
    const { bank, embedder } = await bankOf(['east', 'north'])
    embedder.calls = []
    const report = await bank.add([reflection('east', { u: 0.1 }), reflection('east', { u: 0.2, step: 4 })])
    expect(report).toEqual({ added: 0, replaced: 1, evicted: 0 })
    expect(embedder.calls).toEqual([])
    expect(bank.within('east')).toMatchObject({ u: 0.2, step: 4 })
    expect(bank.size).toBe(2)
  })

  it('changes nothing when the embedder fails, and goes on afterwards', async () => {
    const { bank, embedder } = await bankOf(['east'])
    embedder.gate = Promise.reject(new Error('down'))
    await expect(bank.add([reflection('north'), reflection('east', { u: 1 })])).rejects.toThrow('down')
    expect(bank.size).toBe(1)
    expect(bank.within('east')?.u).toBe(0.5)
    embedder.gate = Promise.resolve()
    await bank.add([reflection('north')])
    expect(found(await bank.cross('east'))).toEqual(['north'])
  })

  it('changes nothing when the embedder is another one in the middle, and finds what it had', async () => {
    const table = new Table({ a: [1, 0], b: [0, 1], c: [1, 0, 0], q: [1, 1] }, 'table', null)
    const bank = new RubricBank({ embedder: table })
    await bank.add([reflection('a'), reflection('b')])
    const before = JSON.stringify(bank.save())
    await expect(bank.add([reflection('c')])).rejects.toThrow(
      'expected 2 dimensions, as those of the bank have',
    )
    expect(JSON.stringify(bank.save())).toBe(before)
    expect((await bank.cross('q')).map(({ item }) => item.question).toSorted()).toEqual(['a', 'b'])
    expect(await bank.cross('q', Number.NaN)).toEqual([])
  })

  it('refuses vectors of another length, or that are not finite, and reflections that are no JSON', async () => {
    const embedder = new Table({ a: [1, 2], b: [1, 2, 3], c: [Number.NaN, 1] })
    const bank = new RubricBank({ embedder })
    await expect(bank.add([reflection('b')])).rejects.toThrow('expected a vector of 2 numbers, got 3')
    await expect(bank.add([reflection('c')])).rejects.toThrow('expected finite numbers')
    expect(() => bank.add([reflection('a', { u: Number.NaN })])).toThrow(DataError)
    expect(() => bank.add([reflection('a', { step: -1 })])).toThrow('expected a step')
    expect(() => bank.add([reflection('a', { rubrics: new Date() as never })])).toThrow(
      'rubrics: expected JSON',
    )
    expect(bank.size).toBe(0)
  })

  it('holds what it was given, not what becomes of it, with broken characters mended', async () => {
    const { bank } = await bankOf([])
    const takeaways = ['one\ud800']
    await bank.add([reflection('east', { takeaways })])
    takeaways[0] = 'changed'
    expect(bank.within('east')?.takeaways).toEqual(['one\ufffd'])
  })

  it('forgets what was retrieved longest ago when it is full', async () => {
    const { bank } = await bankOf(['east', 'north', 'west'], { maxItems: 3 })
    bank.used(await bank.retrieve(['east'], { mode: 'within' }))
    expect(await bank.add([reflection('north-east')])).toEqual({ added: 1, replaced: 0, evicted: 1 })
    expect(bank.items().map(({ question }) => question)).toEqual(['west', 'east', 'north-east'])
    expect(found(await bank.cross('north', 9))).not.toContain('north')
  })

  it('changes no order by retrieving alone', async () => {
    const { bank } = await bankOf(['east', 'north'])
    await bank.retrieve(['east'], { mode: 'both' })
    expect(bank.items().map(({ question }) => question)).toEqual(['east', 'north'])
  })

  it('refuses a capacity of nothing', () => {
    expect(() => new RubricBank({ embedder: new HashedNgrams(), maxItems: 0 })).toThrow(ConfigError)
  })

  it('is a map that forgets the least recently used, whatever happens (property)', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `question number ${i}`)
    const step = fc.record({ kind: fc.constantFrom('add', 'use'), which: fc.nat({ max: 7 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, most) => {
          const bank = new RubricBank({ embedder: new HashedNgrams({ dims: 16 }), maxItems: most })
          let model: string[] = []
          for (const { kind, which } of steps) {
            const question = names[which]
            const isThere = model.includes(question)
            if (kind === 'add') await bank.add([reflection(question)])
            else bank.used(await bank.retrieve([question], { mode: 'within', fallback: false }))
            if (kind === 'add' || isThere) model = [...model.filter(name => name !== question), question]
            model = model.slice(-most)
            expect(bank.items().map(item => item.question)).toEqual(model)
            const others = found(await bank.cross(question, 99)).sort()
            expect(others).toEqual(model.filter(name => name !== question).sort())
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('in a checkpoint', () => {
  const copy = (value: unknown) => JSON.parse(JSON.stringify(value))

  it('comes back as it was, with its order of use (property)', async () => {
    const anyReflection = fc.record({
      question: fc.string({ unit: 'grapheme', maxLength: 30 }),
      rubrics: fc.string({ unit: 'binary', maxLength: 20 }),
      takeaways: fc.jsonValue().map(value => copy(value)),
      u: fc.double({ noNaN: true, noDefaultInfinity: true }).map(u => u + 0),
      step: fc.nat(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyReflection, { maxLength: 12 }), fc.boolean(), async (all, isStored) => {
        const hashed = new HashedNgrams({ dims: 8 })
        const embedder: Embedder = isStored
          ? { name: 'stored', dims: 8, embed: texts => hashed.embed(texts) }
          : hashed
        const bank = new RubricBank({ embedder, maxItems: 6 })
        await bank.add(all)
        const saved = copy(bank.save())
        const again = new RubricBank({ embedder, maxItems: 6 })
        again.load(saved)
        expect(again.items()).toEqual(bank.items())
        expect(copy(again.save())).toEqual(saved)
        expect(await again.cross('some question', 4)).toEqual(await bank.cross('some question', 4))
        expect(copy(again.save())).toEqual(saved)
      }),
      { numRuns: 60 },
    )
  })

  it('stores vectors only where they are not made again', async () => {
    const { bank } = await bankOf(['east', 'north-east'])
    const saved = bank.save()
    expect(saved).toMatchObject({ embedder: 'table', dims: 2 })
    const bytes = Buffer.from(saved.items[1].embedding!, 'base64')
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([
      Math.fround(Math.SQRT1_2),
      Math.fround(Math.SQRT1_2),
    ])
    const silent = new Table(PLANE)
    const again = new RubricBank({ embedder: silent })
    again.load(copy(saved))
    expect(again.within('east')?.question).toBe('east')
    await again.cross('west')
    expect(silent.calls).toEqual([['west']])
    const hashed = new RubricBank({ embedder: new HashedNgrams() })
    await hashed.add([reflection('east')])
    expect(hashed.save().items[0]).not.toHaveProperty('embedding')
    expect(hashed.save().dims).toBeNull()
  })

  it('refuses a bank of another embedder, or embeds it anew by one call', async () => {
    const { bank } = await bankOf(['east', 'north'])
    const saved = copy(bank.save())
    const other = new Table({ ...PLANE, west: [0, -1] }, 'other')
    const strict = new RubricBank({ embedder: other })
    expect(() => strict.load(saved)).toThrow(
      /expected a bank of the embedder "other", got one of "table".*re-embed/,
    )
    expect(strict.size).toBe(0)
    const lenient = new RubricBank({ embedder: other, otherEmbedder: 're-embed' })
    lenient.load(saved)
    // Not embedded yet, and saved all the same.
    const third = new RubricBank({ embedder: other })
    third.load(copy(lenient.save()))
    expect(third.items()).toEqual(bank.items())
    await Promise.all([lenient.cross('west'), lenient.cross('also north')])
    expect(other.calls.filter(texts => texts.includes('east'))).toEqual([['east', 'north']])
    expect(lenient.save().items[0].embedding).toBe(saved.items[0].embedding)
  })

  it.each<[string, (saved: { items: Record<string, unknown>[] } & Record<string, unknown>) => void, RegExp]>([
    [
      'a hash of another question',
      s => (s.items[0].question = 'other'),
      /items\[0\]: qHash: expected \w{64}/,
    ],
    ['half a vector', s => (s.items[0].embedding = 'AAAA'), /items\[0\]: embedding: expected 2 numbers/],
    ['no base64', s => (s.items[0].embedding = '!!!!AAAAAAAAAAA='), /embedding/],
    [
      'NaN in a vector',
      s => (s.items[0].embedding = Buffer.from([0, 0, 192, 127, 0, 0, 0, 0]).toString('base64')),
      /finite/,
    ],
    ['vectors without dimensions', s => (s.dims = null), /expected no numbers/],
    ['other dimensions', s => (s.dims = 3), /dims: expected 2, as its embedder has, got 3/],
    ['a question twice', s => s.items.push(s.items[0]), /items\[2\]: expected one item a question/],
    ['no utility', s => (s.items[0].u = null), /items\[0\]: u/],
    ['no takeaways', s => delete s.items[0].takeaways, /takeaways/],
    ['something more', s => (s.items[0].extra = 1), /extra/],
    ['another version', s => (s.version = 2), /version/],
    ['another thing', s => (s.gradus = 'run'), /gradus/],
    ['no items', s => (s.items = 'none' as never), /items/],
  ])('refuses %s, and keeps what it has', async (_, spoil, message) => {
    const { bank } = await bankOf(['east', 'north'])
    const saved = copy(bank.save())
    spoil(saved)
    const again = new RubricBank({ embedder: new Table(PLANE) })
    await again.add([reflection('west')])
    expect(() => again.load(saved)).toThrow(CheckpointError)
    expect(() => again.load(saved)).toThrow(message)
    expect(again.items().map(({ question }) => question)).toEqual(['west'])
  })

  it('checks takeaways of a task, and drops what is beyond its capacity', async () => {
    const { bank } = await bankOf(['east', 'north', 'west'])
    const saved = copy(bank.save())
    const keys = new RubricBank<{ key: string }>({
      embedder: new Table(PLANE),
      takeaways: z.strictObject({ key: z.string() }),
    })
    expect(() => keys.load(saved)).toThrow(/items\[0\]: takeaways/)
    const small = new RubricBank({ embedder: new Table(PLANE), maxItems: 2 })
    small.load(saved)
    expect(small.items().map(({ question }) => question)).toEqual(['north', 'west'])
    expect(found(await small.cross('east', 9))).toEqual(['north', 'west'])
  })
})

describe('hashed n-grams', () => {
  it('are unit vectors, alike for alike texts, the same everywhere', async () => {
    const embedder = new HashedNgrams()
    const [a, b, c, again] = await embedder.embed([
      'Who wrote the first symphony of Brahms?',
      'who wrote the FIRST symphony of Bruckner',
      'How tall is the tower of Pisa?',
      'Who wrote the first symphony of Brahms?',
    ])
    const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, each, i) => sum + each * y[i], 0)
    expect(dot(a, a)).toBeCloseTo(1, 6)
    expect(again).toEqual(a)
    expect(dot(a, b)).toBeGreaterThan(0.6)
    expect(Math.abs(dot(a, c))).toBeLessThan(0.4)
    // One word is one place: its hash says which, and its sign. FNV-1a with MurmurHash3's finaliser, by hand.
    const [one] = await new HashedNgrams({ dims: 4, order: 1 }).embed(['a'])
    expect([...one].filter(x => x !== 0).map(Math.abs)).toEqual([1])
  })

  it('weigh a repeated word by 1 + ln n, and signs alone by themselves; nothing is a zero vector', async () => {
    const embedder = new HashedNgrams({ dims: 4096, order: 1 })
    const [twice] = await embedder.embed(['b b a'])
    const [small, large] = [...twice]
      .filter(x => x !== 0)
      .map(Math.abs)
      .sort()
    expect(large / small).toBeCloseTo(1 + Math.LN2, 5)
    const [signs, none] = await embedder.embed(['?!', ' '])
    expect([...signs].some(x => x !== 0)).toBe(true)
    expect([...none].every(x => x === 0)).toBe(true)
    expect(() => new HashedNgrams({ dims: 0 })).toThrow('dims: expected a positive integer')
  })
})
