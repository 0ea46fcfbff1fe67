import { describe, expect, it } from 'vitest'
import { wordTokenizerJson } from './word-tokenizer.ts'

const make = (tokens: string[], special: string[]) => () =>
  wordTokenizerJson({ tokens, special, pattern: '\\w+', normalizers: [], leads: true, fused: false })

describe('wordTokenizerJson', () => {
  it('refuses a token that stands there twice, and a special token that is missing', () => {
    const special = ['<pad>', '<s>', '</s>', '<unk>']
    expect(make([...special, 'a', 'b'], special)).not.toThrow()
    expect(make([...special, 'a', 'b', 'a'], special)).toThrow('token "a" stands there twice, as 4 and 6')
    expect(make(['<pad>', '<s>', '<unk>', 'a'], special)).toThrow('special token "</s>" is not among')
  })
})
