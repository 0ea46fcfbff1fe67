import { describe, expect, it } from 'vitest'
import {
  decodeTokens,
  decodeWithOffsets,
  encodePrompt,
  encodeResponse,
  encodeSteps,
  tokenSpan,
} from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY } from './vocabulary.ts'

const stella = {
  id: 'stella',
  premises: ['Every tumpus is not angry.', 'Tumpuses are impuses.', 'Stella is a tumpus.'],
  conclusion: 'Stella is angry.',
  label: 'False' as const,
  proof: ['Stella is a tumpus.', 'Every tumpus is not angry.', 'Stella is not angry.'],
}

describe('logic format', () => {
  it('has a fixed vocabulary of 96 different tokens', () => {
    expect(LOGIC_VOCABULARY).toHaveLength(96)
    expect(new Set(LOGIC_VOCABULARY).size).toBe(96)
    expect(LOGIC_VOCABULARY.slice(0, 5)).toEqual(['<pad>', '<bos>', '<eos>', '<unk>', '<reasoning>'])
    expect(LOGIC_TOKENS.answers).toEqual({ True: 8, False: 9, Unknown: 10 })
  })

  it('decodes a prompt to its sentences and question', () => {
    const tokens = encodePrompt(stella)
    expect(tokens[0]).toBe(LOGIC_TOKENS.bos)
    expect(decodeTokens(tokens)).toBe(
      ' every tumpus is not angry. tumpuses are impuses. stella is a tumpus.\nquestion: stella is angry.',
    )
  })

  it('decodes a response to tags and numbered steps', () => {
    const tokens = encodeResponse(stella)
    expect(tokens.at(-1)).toBe(LOGIC_TOKENS.eos)
    expect(decodeTokens(tokens)).toBe(
      '<reasoning>\n1. stella is a tumpus\n2. every tumpus is not angry\n3. stella is not angry\n</reasoning>\n<answer>false</answer>',
    )
  })

  it('keeps the prompt and proof lengths of the five-hop rows', () => {
    for (const problem of generateLogicProblems(300, { hops: 5 }, 'lengths')) {
      const response = encodeResponse(problem).length
      expect(response).toBeGreaterThanOrEqual(61)
      expect(response).toBeLessThanOrEqual(70)
      expect(encodePrompt(problem).length).toBeLessThanOrEqual(118)
    }
  })

  it('maps character spans to tokens', () => {
    const decoded = decodeWithOffsets(encodeResponse(stella))
    const start = decoded.text.indexOf('2. every')
    const span = tokenSpan(decoded, start, decoded.text.indexOf('\n3.'))!
    expect(decodeTokens(encodeResponse(stella).slice(span.first, span.end))).toBe(
      '\n2. every tumpus is not angry',
    )
    expect(tokenSpan(decoded, decoded.text.length, decoded.text.length + 3)).toBeNull()
  })

  it('refuses words outside the vocabulary and proofs that are too long', () => {
    expect(() => encodePrompt({ ...stella, conclusion: 'Bob is cold.' })).toThrow(
      /stella: "Bob is cold\." has a word/,
    )
    expect(() => encodeSteps(new Array(24).fill('Stella is cold.'), 'True')).toThrow(
      /at most 23 steps, got 24/,
    )
    expect(() => encodeResponse({ id: 'x', label: 'True' })).toThrow(/no gold proof/)
  })
})
