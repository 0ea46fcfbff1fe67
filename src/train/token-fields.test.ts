import { describe, expect, it } from 'vitest'
import type { Rollout } from '../rl/rollout.ts'
import { tokenFields, tokenWidths } from './token-fields.ts'

const WORDS = ['', 'the ', 'cat', ' sat']
const show = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join('')

/** Bytes as tokens: a character of several bytes is split among them. */
const bytes = (tokens: ArrayLike<number>) => new TextDecoder().decode(Uint8Array.from(tokens))

describe('the place of each token in a text', () => {
  it('is so many characters, none for what is not shown', () => {
    expect(tokenWidths([1, 2, 0, 3], 'the cat sat', show)).toEqual([4, 3, 0, 4])
  })

  it('is that of the last part of a character that is split', () => {
    const text = 'a€😀b'
    expect(tokenWidths(new TextEncoder().encode(text), text, bytes)).toEqual([1, 0, 0, 1, 0, 0, 0, 2, 1])
  })

  it('is not known where text and tokens differ, or more text follows', () => {
    expect(tokenWidths([1, 2], 'the dog', show)).toBeNull()
    expect(tokenWidths([1, 2], 'the cat sat', show)).toBeNull()
    expect(tokenWidths([1, 2], 'the ', show)).toBeNull()
  })
})

describe('the fields of a row', () => {
  const rollout = {
    tokens: Int32Array.of(1, 2),
    logprobs: Float32Array.of(-0.12345, 0),
  } as Partial<Rollout> as Rollout

  it('have one advantage where it is the same for all tokens', () => {
    const item = { rollout, advantages: Float32Array.of(0.5, 0.5) }
    expect(tokenFields(item, 'the cat', show)).toEqual({
      perToken: { widths: [4, 3], logprobs: [-0.123, 0], advantages: 0.5 },
    })
    const own = { rollout, advantages: Float32Array.of(0.5, -1) }
    expect(tokenFields(own, 'the cat', show).perToken?.advantages).toEqual([0.5, -1])
  })

  it('are absent where nothing was said, or it is shown otherwise', () => {
    const empty = { ...rollout, tokens: new Int32Array(0) }
    expect(tokenFields({ rollout: empty, advantages: new Float32Array(0) }, '', show)).toEqual({})
    expect(tokenFields({ rollout, advantages: Float32Array.of(1, 1) }, 'The cat', show)).toEqual({})
  })
})
