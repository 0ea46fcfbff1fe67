import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CheckpointError, DataError } from '../util/errors.ts'
import { readJsonl } from '../util/jsonl.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import {
  assertTokenizerFits,
  createTokenizer,
  decodeWithOffsets,
  hasTokenizer,
  loadTokenizer,
  TextStream,
} from './tokenizer.ts'

// GPT-2 writes each byte as one printable character: itself where printable, else the next free one from U+0100 on.
const printable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
let nextFree = 256
const byteChars = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(printable(byte) ? byte : nextFree++),
)
const spell = (latin1: string) => [...latin1].map(char => byteChars[char.charCodeAt(0)]).join('')

/** Ranks list only the results of merges: each token's two parts are what merging by lower ranks leaves of it. */
const splitOf = (token: string, ranks: ReadonlyMap<string, number>): string[] => {
  const rank = ranks.get(token)!
  const parts = [...token]
  while (parts.length > 2) {
    let best = -1
    let bestRank = rank
    for (let i = 0; i + 1 < parts.length; i++) {
      const merged = ranks.get(parts[i] + parts[i + 1]) ?? rank
      if (merged < bestRank) [best, bestRank] = [i, merged]
    }
    if (best < 0) return []
    parts.splice(best, 2, parts[best] + parts[best + 1])
  }
  return parts
}

const gpt2FromRanks = (path: string) => {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const ranks = new Map(
    lines.map(line => {
      const [base64, rank] = line.split(' ')
      return [Buffer.from(base64, 'base64').toString('latin1'), Number(rank)]
    }),
  )
  const multi = [...ranks.keys()].filter(token => token.length > 1)
  const merges = multi.map(token => splitOf(token, ranks).map(spell))
  expect(merges.every(parts => parts.length === 2)).toBe(true)
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
  const special = { id: 50256, content: '<|endoftext|>', special: true }
  const vocab = Object.fromEntries([...ranks].map(([token, rank]) => [spell(token), rank]))
  const json = {
    added_tokens: [{ ...special, normalized: false, single_word: false, lstrip: false, rstrip: false }],
    pre_tokenizer: byteLevel,
    post_processor: byteLevel,
    decoder: byteLevel,
    model: { type: 'BPE', vocab, merges },
  }
  return createTokenizer(json, { eos_token: '<|endoftext|>', bos_token: { content: '<|endoftext|>' } })
}

describe('byte-level BPE (GPT-2)', () => {
  const ranks = sharedData('tokenizer/r50k_base.tiktoken')
  const vectors = sharedData('tokenizer/vectors.jsonl')
  const gpt2 = ranks === null ? null : gpt2FromRanks(ranks)
  const rows =
    vectors === null
      ? []
      : readJsonl<{ tokenizer: string; text: string; ids: number[] }>(vectors).filter(
          row => row.tokenizer !== 'cl100k_base',
        )

  it('gives the ids that llama.cpp and gpt-tokenizer give', context => {
    if (!gpt2 || rows.length === 0) return context.skip('shared data not here')
    expect(rows.length).toBe(110)
    const wrong = rows.filter(row => JSON.stringify(gpt2.encode(row.text)) !== JSON.stringify(row.ids))
    expect(wrong.map(row => row.text)).toEqual([])
  })

  it('decodes to the very text, all at once and token by token', context => {
    if (!gpt2 || rows.length === 0) return context.skip('shared data not here')
    for (const { text, ids } of rows) {
      expect(gpt2.decode(ids)).toBe(text)
      const streamed = decodeWithOffsets(gpt2, ids)
      expect(streamed.text).toBe(text)
      expect(streamed.ends).toHaveLength(ids.length)
      expect(streamed.ends.every((end, i) => end >= (streamed.ends[i - 1] ?? 0))).toBe(true)
    }
  })

  it('holds a split character back until it is whole', context => {
    if (!gpt2) return context.skip('shared data not here')
    const stream = new TextStream(gpt2)
    // " this is 🦙.cpp"; the llama takes three tokens, the first of them with the space before it.
    const pieces = [428, 318, 12520, 99, 247, 13, 20322].map(id => stream.push(id))
    expect(pieces).toEqual([' this', ' is', '', '', ' 🦙', '.', 'cpp'])
    expect(stream.flush()).toBe('')
    expect(decodeWithOffsets(gpt2, [428, 12520, 99]).text).toBe(' this \ufffd')
    expect(decodeWithOffsets(gpt2, [428, 12520, 99]).ends).toEqual([5, 5, 7])
  })

  it('knows special tokens: as text, as ids, hidden when decoding', context => {
    if (!gpt2) return context.skip('shared data not here')
    expect(gpt2.encode('Hello<|endoftext|>')).toEqual([15496, 50256])
    expect(gpt2.decode([15496, 50256])).toBe('Hello')
    expect(gpt2.decode([15496, 50256], { keepSpecialTokens: true })).toBe('Hello<|endoftext|>')
    expect([gpt2.eosId, gpt2.bosId, gpt2.padId]).toEqual([50256, 50256, null])
    expect(gpt2.vocabSize).toBe(50257)
    expect(decodeWithOffsets(gpt2, [15496, 50256, 995])).toEqual({ text: 'Hello world', ends: [5, 5, 11] })
  })

  it('ignores ids that have no token', context => {
    if (!gpt2) return context.skip('shared data not here')
    expect(gpt2.decode([15496, 60000, 995])).toBe('Hello world')
    expect(gpt2.decode([])).toBe('')
    expect(gpt2.tokenOf(60000)).toBeUndefined()
    expect(gpt2.tokenOf(995)).toBe('Ġworld')
  })
})

describe('a published tokenizer.json', () => {
  it('loads and round-trips plain letters', context => {
    const path = sharedData('tokenizer/torchtitan-test-tokenizer.json')
    if (!path) return context.skip('shared data not here')
    const tokenizer = createTokenizer(JSON.parse(readFileSync(path, 'utf8')), {
      eos_token: '<|end_of_text|>',
    })
    expect(tokenizer.vocabSize).toBe(2020)
    expect(tokenizer.eosId).toBe(2003)
    // It has no merges: one token a character, and the first 128 ids are ASCII.
    expect(tokenizer.encode('hello')).toEqual([104, 101, 108, 108, 111])
    expect(tokenizer.decode([104, 101, 108, 108, 111])).toBe('hello')
  })
})

const wordLevel = (unknown: string | null) => ({
  added_tokens: [{ id: 1, content: '<eos>', special: true }],
  normalizer: { type: 'Lowercase' },
  pre_tokenizer: { type: 'WhitespaceSplit' },
  model: {
    type: 'WordLevel',
    vocab: { '<unk>': 0, '<eos>': 1, every: 2, cat: 3, is: 4, happy: 5 },
    unk_token: unknown,
  },
})

describe('a word-level tokenizer', () => {
  const tokenizer = createTokenizer(wordLevel('<unk>'), { eos_token: '<eos>', pad_token: '<eos>' })

  it('maps words to ids and unknown words to the unknown token', () => {
    expect(tokenizer.encode('Every cat is happy<eos>')).toEqual([2, 3, 4, 5, 1])
    expect(tokenizer.encode('every dog is')).toEqual([2, 0, 4])
    expect(tokenizer.decode([2, 3, 4, 5, 1])).toBe('every cat is happy')
    expect(tokenizer.padId).toBe(1)
  })

  it('keeps spaces right when decoded word by word', () => {
    const { text, ends } = decodeWithOffsets(tokenizer, [2, 1, 3, 4])
    expect(text).toBe('every cat is')
    expect(ends).toEqual([5, 5, 9, 12])
  })

  it('says which word it cannot encode when there is no unknown token', () => {
    const strict = createTokenizer(wordLevel(null))
    expect(() => strict.encode('every dog')).toThrow(DataError)
    expect(() => strict.encode('every dog')).toThrow(/no token for "dog"/)
  })
})

describe('bad tokenizers', () => {
  it('are refused with the reason', () => {
    expect(() => createTokenizer([])).toThrow(CheckpointError)
    expect(() => createTokenizer({ model: 3 }, {}, 'm/tokenizer.json')).toThrow(/m\/tokenizer\.json: model/)
    expect(() => createTokenizer({ model: { type: 'Mystery' } })).toThrow(/Mystery/)
    expect(() => createTokenizer(wordLevel('<unk>'), { eos_token: 3 })).toThrow(/eos_token/)
    // The library warned on the console, and lost every text.
    const split = { type: 'Split', pattern: null, behavior: 'Isolated', invert: false }
    expect(() => createTokenizer({ ...wordLevel('<unk>'), pre_tokenizer: split })).toThrow(
      /pattern: expected/,
    )
  })

  it('are refused when a file is missing or not JSON', () => {
    const dir = mkdtempSync(join(tmpdir(), 'gradus-tokenizer-'))
    expect(hasTokenizer(dir)).toBe(false)
    expect(() => loadTokenizer(dir)).toThrow(/tokenizer\.json: cannot be read \(ENOENT\)/)
    writeFileSync(join(dir, 'tokenizer.json'), '{"model"')
    expect(() => loadTokenizer(dir)).toThrow(/tokenizer\.json: not JSON/)
    writeFileSync(join(dir, 'tokenizer.json'), JSON.stringify(wordLevel('<unk>')))
    expect(loadTokenizer(dir).eosId).toBeNull()
    rmSync(dir, { recursive: true })
  })

  it('are refused when they do not fit the model', () => {
    const tokenizer = createTokenizer(wordLevel('<unk>'))
    assertTokenizerFits(tokenizer, { vocabSize: 6 })
    assertTokenizerFits(tokenizer, { vocabSize: 64 })
    expect(() => assertTokenizerFits(tokenizer, { vocabSize: 5 })).toThrow(
      /ids go up to 5, but the model's vocab_size is 5/,
    )
  })
})
