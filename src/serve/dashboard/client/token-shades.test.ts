import { describe, expect, it } from 'vitest'
import { shadedTokens } from './token-shades.ts'

const VALUES = { widths: [2, 0, 1, 3], logprobs: [0, -1, -0.5, -9], advantages: [1, 1, 0, -0.5] }

describe('the shades of tokens', () => {
  it('are darker the less likely a token was, and cover the text', () => {
    const shaded = shadedTokens('ab cde', VALUES, 'logprob')
    expect(shaded.map(({ text, shade }) => [text, shade])).toEqual([
      ['ab', 'rare-0'],
      [' ', 'rare-1'],
      ['cde', 'rare-5'],
    ])
    expect(shaded[1].title).toBe('log-prob -0.5 (60.7%), advantage 0')
  })

  it('go by sign and size of the advantage, of the largest in the response', () => {
    expect(shadedTokens('ab cde', VALUES, 'advantage').map(({ shade }) => shade)).toEqual([
      'up-5',
      'up-0',
      'down-3',
    ])
    expect(shadedTokens('ab cde', { ...VALUES, advantages: -2 }, 'advantage')[0].shade).toBe('down-5')
  })

  it('are none where nothing was learnt', () => {
    expect(shadedTokens('ab cde', { ...VALUES, advantages: 0 }, 'advantage')[0].shade).toBe('up-0')
  })
})
