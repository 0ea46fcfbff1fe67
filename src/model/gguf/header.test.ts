import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CheckpointError } from '../../util/errors.ts'
import { loadConfig } from '../checkpoint.ts'
import { openMerged } from '../merged.ts'
import { loadTokenizer } from '../tokenizer.ts'
import { checkWeights, loadWeights } from '../weights.ts'
import { openTensors } from './config.ts'
import { writeGguf } from './export.ts'
import { ggufJson } from './folder.ts'
import { readGgufHeader } from './header.ts'
import { ropeScalingOf } from './rope.ts'
import { writeTinyModel } from './tiny-model.fixture.ts'
import { type GgufValue, ggufChunks, type WrittenTensor } from './write.ts'

let dir: string
let whole: Buffer
let broken: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-gguf-'))
  const merged = openMerged(writeTinyModel(join(dir, 'model'), 'llama'))
  const file = join(dir, 'whole.gguf')
  writeGguf(file, merged, 'f16', 'tiny')
  merged.close()
  whole = readFileSync(file)
  broken = join(dir, 'broken.gguf')
})
afterAll(() => rmSync(dir, { recursive: true }))

/** Everything that opening a model reads. */
const open = () => {
  const config = loadConfig(broken)
  loadTokenizer(broken)
  checkWeights(broken, config)
  return loadWeights(broken, config)
}

const openBytes = (bytes: Uint8Array) => {
  writeFileSync(broken, bytes)
  return open()
}

/** The whole file with `count` bytes at `at` changed. */
const patched = (at: number, value: bigint, count: 4 | 8) => {
  const bytes = Buffer.from(whole)
  if (count === 4) bytes.writeUInt32LE(Number(value), at)
  else bytes.writeBigUInt64LE(value, at)
  return bytes
}

const keyAt = (key: string) => whole.indexOf(key) + key.length
const HUGE = [2n ** 31n, 2n ** 40n, 2n ** 63n, 2n ** 64n - 1n]

describe('a damaged file', () => {
  it('that ends early is refused, wherever it ends', () => {
    const ends = Array.from({ length: 60 }, (_, i) => Math.floor((i / 60) ** 2 * whole.length))
    for (const end of ends)
      expect(() => openBytes(whole.subarray(0, end)), `${end} bytes`).toThrow(CheckpointError)
    expect(() => openBytes(whole.subarray(0, whole.length - 40))).toThrow(
      /output_norm\.weight: needs 256 bytes from byte \d+ on, but the file ends after \d+.*incomplete: fetch it again/s,
    )
    expect(openBytes(whole).size).toBeGreaterThan(10)
  })

  it.each([
    ['tensors', () => 8],
    ['values', () => 16],
    ['bytes in a key', () => 24],
    ['bytes in a text', () => keyAt('general.name') + 4],
    ['elements in an array', () => keyAt('tokenizer.ggml.token_type') + 8],
    ['texts in an array', () => keyAt('tokenizer.ggml.tokens') + 8],
    ['columns of a tensor', () => keyAt('token_embd.weight') + 4],
    ['bytes before a tensor', () => keyAt('token_embd.weight') + 24],
  ])('that claims ever so many %s is refused at once, and takes no memory for them', (_, at) => {
    for (const count of HUGE) {
      writeFileSync(broken, patched(at(), count, 8))
      const before = process.memoryUsage()
      const started = performance.now()
      expect(open).toThrow(CheckpointError)
      expect(performance.now() - started).toBeLessThan(2000)
      const after = process.memoryUsage()
      expect(after.heapTotal + after.external - before.heapTotal - before.external).toBeLessThan(2 ** 27)
    }
  })

  it('of flipped bytes is refused in words, or opened', () => {
    const header = whole.indexOf('output_norm.weight') + 60
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(header), fc.nat(255)), { minLength: 1, maxLength: 4 }), flips => {
        const bytes = Buffer.from(whole)
        for (const [at, value] of flips) bytes[at] = value
        try {
          openBytes(bytes)
        } catch (error) {
          expect(error, String((error as Error).stack)).toBeInstanceOf(CheckpointError)
        }
      }),
      { numRuns: 150, seed: 1 },
    )
  })

  const unusable: [string, () => Uint8Array, RegExp][] = [
    ['is no GGUF file', () => Buffer.from('PK\x03\x04 and more'), /expected a GGUF file.*"PK/],
    ['is of another version', () => patched(4, 1n, 4), /expected GGUF version 2 or 3.*got version 1/],
    ['is big-endian', () => patched(4, 0x03000000n, 4), /got a big-endian file/],
    [
      'has values of an unknown type',
      () => patched(keyAt('general.name'), 77n, 4),
      /general\.name: unknown type 77/,
    ],
    [
      'has an unknown number format',
      () => patched(keyAt('token_embd.weight') + 20, 23n, 4),
      /token_embd\.weight: its number format is not one that can be read.*Q4_0/,
    ],
    [
      'has tensors of no dimension',
      () => patched(keyAt('token_embd.weight'), 0n, 4),
      /token_embd\.weight: expected 1 to 4 dimensions, got 0/,
    ],
    [
      'has tensors over one another',
      () => patched(keyAt('blk.0.attn_norm.weight') + 16, 0n, 8),
      /blk\.0\.attn_norm\.weight: expected its data at byte \d+ of the data section, got 0/,
    ],
    [
      'has a tensor of an odd place',
      () => patched(keyAt('token_embd.weight') + 24, 7n, 8),
      /token_embd\.weight: expected its data at byte 32 of the data section, got 7/,
    ],
    [
      'has a tensor of another shape',
      () => patched(keyAt('llama.feed_forward_length') + 4, 95n, 4),
      /mlp\.gate_proj\.weight: expected shape \[95, 64\], got \[96, 64\]/,
    ],
    [
      'has half of a token as its end',
      () => {
        const bytes = patched(keyAt('tokenizer.ggml.eos_token_id'), 6n, 4)
        bytes.writeFloatLE(1.5, keyAt('tokenizer.ggml.eos_token_id') + 4)
        return bytes
      },
      /eos_token_id: expected an id below 320, got 1\.5/,
    ],
    [
      'has an end token beyond its vocabulary',
      () => patched(keyAt('tokenizer.ggml.eos_token_id') + 4, 999n, 4),
      /eos_token_id: expected an id below 320, got 999/,
    ],
  ]
  it.each(unusable)('that %s is refused', (_, bytes, message) => {
    const opening = () => openBytes(bytes())
    expect(opening).toThrow(CheckpointError)
    expect(opening).toThrow(message)
  })
})

describe('tensors that', () => {
  /** The tiny model with other tensors, or one more. */
  const rewritten = (change: (tensors: WrittenTensor[]) => WrittenTensor[]) => {
    writeFileSync(broken, whole)
    const { tensors } = readGgufHeader(broken)
    const all = [...tensors].map(
      ([name, { shape, type, offset, bytes }]): WrittenTensor => ({
        ...{ name, shape, type: type.name as WrittenTensor['type'] },
        read: () => {
          const values = new Float32Array(shape.reduce((product, size) => product * size, 1))
          type.read(whole.subarray(offset, offset + bytes), 0, values, 0, values.length / type.elements)
          return values
        },
      }),
    )
    const written = change(all)
    const chunks = [...ggufChunks([], written)]
    // Header of the values as they are, then what the new one has behind its first 24 bytes, without its padding.
    const count = Buffer.alloc(8)
    count.writeBigUInt64LE(BigInt(written.length))
    const valuesEnd = whole.indexOf('rope_freqs.weight') - 8
    const bytes = written.reduce((sum, { name, shape }) => sum + 24 + name.length + 8 * shape.length, 0)
    const entries = chunks[0].subarray(24, 24 + bytes)
    const head = Buffer.concat([whole.subarray(0, 8), count, whole.subarray(16, valuesEnd), entries])
    return Buffer.concat([head, Buffer.alloc((32 - (head.length % 32)) % 32), ...chunks.slice(1)])
  }
  const more = (...added: WrittenTensor[]) => rewritten(tensors => [...tensors, ...added])

  it.each([
    [
      'no model of this kind has',
      () => more(tensor('blk.0.attn_q.bias', 64)),
      /q_proj\.bias: expected tensors of its/,
    ],
    [
      'no layer has',
      () => more(tensor('blk.9.attn_norm.weight', 64)),
      /layers\.9.*: expected tensors of its/,
    ],
    ['are there twice', () => more(tensor('model.norm.weight', 64)), /two tensors have the same name/],
    [
      'are as many rotary frequencies as somebody likes',
      () =>
        rewritten(tensors =>
          tensors.map(own => (own.name === 'rope_freqs.weight' ? tensor(own.name, 300_000) : own)),
        ),
      /rope_freqs\.weight: expected one number for each of 8 pairs of a head, got shape \[300000\]/,
    ],
  ])('%s are refused', (_, bytes, message) => {
    expect(openBytes(more()).size).toBeGreaterThan(10)
    expect(() => openBytes(bytes())).toThrow(message)
    expect(() => openBytes(bytes())).toThrow(CheckpointError)
  })
})

const tensor = (name: string, ...shape: number[]): WrittenTensor => ({
  ...{ name, shape, type: 'F32' },
  read: () => new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(0.5),
})

const write = (values: [string, GgufValue][], tensors: WrittenTensor[] = []) =>
  writeFileSync(broken, Buffer.concat([...ggufChunks(values, tensors)]))

const NORMS = [
  ...['attn_norm', 'post_attention_norm', 'ffn_norm', 'post_ffw_norm', 'attn_q_norm'].map(
    name => `blk.0.${name}.weight`,
  ),
  'output_norm.weight',
]

const GEMMA: [string, GgufValue][] = [
  ['general.architecture', { text: 'gemma3' }],
  ['gemma3.context_length', { u32: 64 }],
  ['gemma3.embedding_length', { u32: 8 }],
  ['gemma3.block_count', { u32: 6 }],
  ['gemma3.feed_forward_length', { u32: 16 }],
  ['gemma3.attention.head_count', { u32: 2 }],
  ['gemma3.attention.head_count_kv', { u32: 1 }],
  ['gemma3.attention.key_length', { u32: 4 }],
  ['gemma3.attention.layer_norm_rms_epsilon', { f32: 1e-6 }],
  ['gemma3.attention.sliding_window', { u32: 16 }],
]

const LAYERS = [tensor('token_embd.weight', 12, 8), ...NORMS.map(name => tensor(name, 8))]

describe('settings', () => {
  it('of Gemma are those of Hugging Face, and its norms lack the one that is added to them', () => {
    write(GEMMA, LAYERS)
    expect(ggufJson(broken, 'config.json')).toMatchObject({
      ...{ model_type: 'gemma3_text', vocab_size: 12, head_dim: 4, tie_word_embeddings: true },
      ...{ rms_norm_eps: 1e-6, sliding_window: 16, rope_local_base_freq: 10_000, query_pre_attn_scalar: 4 },
      layer_types: [...Array(5).fill('sliding_attention'), 'full_attention'],
    })
    const tensors = openTensors(readGgufHeader(broken))
    const values = Object.fromEntries(tensors.names().map(name => [name, tensors.read(name)[0]]))
    tensors.close()
    expect(values).toEqual({
      'model.embed_tokens.weight': 0.5,
      'model.layers.0.input_layernorm.weight': -0.5,
      'model.layers.0.post_attention_layernorm.weight': -0.5,
      'model.layers.0.pre_feedforward_layernorm.weight': -0.5,
      'model.layers.0.post_feedforward_layernorm.weight': -0.5,
      'model.layers.0.self_attn.q_norm.weight': -0.5,
      'model.norm.weight': -0.5,
    })
  })

  it.each([
    ['qwen2moe', {}, /general\.architecture: expected llama, qwen2, qwen3, gemma3, got "qwen2moe"/],
    ['llama', { 'split.count': { u32: 3 } }, /one of 3 files.*llama-gguf-split --merge/],
    ['llama', {}, /llama\.attention\.head_count: expected a number, got nothing/],
  ] as const)('of %s that cannot be used are refused (%#)', (name, more, message) => {
    write([['general.architecture', { text: name }], ...Object.entries(more)])
    expect(() => loadConfig(broken)).toThrow(message)
  })

  it('of other ways of stretching the context are refused', () => {
    const scaled: [string, GgufValue][] = [...GEMMA, ['gemma3.rope.scaling.type', { text: 'yarn' }]]
    write(scaled, LAYERS)
    expect(() => loadConfig(broken)).toThrow(/rope\.scaling\.type: expected linear or none, got yarn/)
  })

  it.each([
    ['linear', { rope_type: 'linear', factor: 8 }],
    // As llama.cpp takes it (src/llama-context.cpp): "never scale if scaling type is none".
    ['none', null],
  ])('of a context that is stretched by the way %s', (type, scaling) => {
    const factor: [string, GgufValue] = ['gemma3.rope.scaling.factor', { f32: 8 }]
    write([...GEMMA, ['gemma3.rope.scaling.type', { text: type }], factor], LAYERS)
    expect(ggufJson(broken, 'config.json').rope_scaling).toEqual(scaling)
    write([...GEMMA, factor], LAYERS)
    expect(ggufJson(broken, 'config.json').rope_scaling).toEqual({ rope_type: 'linear', factor: 8 })
  })

  it('of any number of divisors of the frequencies are refused in words', () => {
    const divisors = new Float32Array(300_000).fill(2, 1)
    expect(() => ropeScalingOf(divisors, 10_000, 'm.gguf')).toThrow(/^m\.gguf: rope_freqs\.weight: expected/)
  })

  it('of more layers than tensors are refused before lists of them are made', () => {
    const layers: [string, GgufValue] = ['gemma3.block_count', { u32: 2 ** 32 - 1 }]
    write(
      GEMMA.map(entry => (entry[0] === layers[0] ? layers : entry)),
      [tensor('token_embd.weight', 12, 8)],
    )
    expect(() => loadConfig(broken)).toThrow(/block_count: expected at most.*1 tensors, got 4294967295/)
  })

  it('of a cutting of words that is not known are refused with those that are', () => {
    write([
      ['general.architecture', { text: 'llama' }],
      ['tokenizer.ggml.model', { text: 'gpt2' }],
      ['tokenizer.ggml.pre', { text: 'poro-chat' }],
      ['tokenizer.ggml.tokens', { texts: ['a', 'b'] }],
      ['tokenizer.ggml.merges', { texts: ['a b'] }],
    ])
    expect(() => ggufJson(broken, 'tokenizer.json')).toThrow(
      /tokenizer\.ggml\.pre: expected one of gpt-2.*got "poro-chat"/,
    )
  })

  it.each([
    [1, 2_000_000],
    [300, 1000],
  ])('of %d tokens of %d characters are refused before all their parts are looked for', (count, length) => {
    const tokens = ['<unk>', '<s>', '</s>', ...Array(count).fill('a'.repeat(length))]
    write([
      ...GEMMA,
      ['tokenizer.ggml.model', { text: 'llama' }],
      ['tokenizer.ggml.tokens', { texts: tokens }],
      ['tokenizer.ggml.scores', { f32s: tokens.map(() => 0) }],
    ])
    expect(() => ggufJson(broken, 'tokenizer.json')).toThrow(
      /tokenizer\.ggml\.tokens: expected words and their parts, got .* together are too long/,
    )
  })

  it('of a value that stands there twice are refused', () => {
    write([...GEMMA, GEMMA[1]])
    expect(() => readGgufHeader(broken)).toThrow(/gemma3\.context_length: stands there twice/)
  })
})
