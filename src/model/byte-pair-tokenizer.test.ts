import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytePairTokenizerFiles, bytePairTokenizerJson } from './byte-pair-tokenizer.ts'
import { createTokenizer } from './tokenizer.ts'

const SPECIAL = ['<|pad|>', '<|begin|>', '<|end|>']
/** The words of the paper's example (Sennrich et al. 2016, section 3.2, algorithm 1), here without ends of words. */
const WORDS = new Map([
  ['low', 5],
  ['lower', 2],
  ['newest', 6],
  ['widest', 3],
])
const learnt = (size: number) =>
  bytePairTokenizerJson({ texts: WORDS, size, special: SPECIAL }) as {
    model: { merges: string[]; vocab: Record<string, number> }
  }

describe('a byte-pair tokenizer', () => {
  it('merges the most frequent pair first, of several the first in order', () => {
    // Counted by hand: es 9, then est 9; lo 7, low 7; of the pairs that stand 6 times in "n e w est": ew, ewest, newest.
    const { merges } = learnt(3 + 256 + 7).model
    expect(merges).toEqual(['e s', 'es t', 'l o', 'lo w', 'e w', 'ew est', 'n ewest'])
  })

  it('stops where nothing stands twice', () => {
    const { merges, vocab } = learnt(2000).model
    expect(merges.length).toBeLessThan(20)
    expect(Object.keys(vocab)).toHaveLength(3 + 256 + merges.length)
  })

  const files = bytePairTokenizerFiles(
    {
      texts: new Map([['the whole text: the cat, the dog, the cat. 12 12', 3]]),
      size: 300,
      special: SPECIAL,
      whole: ['the whole text: '],
      replaced: [{ pattern: '-[0-9a-f]{4}>', content: '>' }],
    },
    { maxLength: 64, chatTemplate: 'x' },
  )
  const tokenizer = createTokenizer(
    JSON.parse(files['tokenizer.json']),
    JSON.parse(files['tokenizer_config.json']),
  )

  it('gives any text back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), text => {
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text)
      }),
    )
    expect(tokenizer.decode(tokenizer.encode('a\n\n  b\tÜber 100% 😀 <b>'))).toBe(
      'a\n\n  b\tÜber 100% 😀 <b>',
    )
  })

  it('has whole texts and special ones as one token, frequent words too, digits one by one', () => {
    expect(tokenizer.encode('the whole text: ')).toEqual([3])
    expect(tokenizer.encode('<|end|>')).toEqual([2])
    expect(tokenizer.encode(' cat')).toHaveLength(1)
    expect(tokenizer.encode('12')).toHaveLength(2)
    expect(tokenizer.eosId).toBe(2)
  })

  it('replaces what it is told to', () => {
    expect(tokenizer.decode(tokenizer.encode('<a-12ef>'))).toBe('<a>')
    expect(tokenizer.decode(tokenizer.encode('<a-12xf>'))).toBe('<a-12xf>')
  })

  it('refuses a size that has no room for the bytes', () => {
    expect(() => learnt(200)).toThrow(/expected room for 259 tokens .* got size 200/)
  })
})
