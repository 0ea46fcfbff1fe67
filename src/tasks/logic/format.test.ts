import { describe, expect, it } from 'vitest'
import {
  decodeLogicWithOffsets,
  decodeTokens,
  encodePremises,
  encodePrompt,
  encodeResponse,
  encodeStatements,
  encodeSteps,
  isEncodable,
  tokenSpan,
} from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY, PHRASES, WORD_COUNT } from './vocabulary.ts'

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

  it('has a second version with more words, in which the first ones keep their ids', () => {
    expect(LONG_LOGIC_VOCABULARY.slice(0, 96)).toEqual(LOGIC_VOCABULARY)
    expect(LONG_LOGIC_VOCABULARY).toHaveLength(157)
    expect(new Set(LONG_LOGIC_VOCABULARY).size).toBe(157)
    expect(LONG_LOGIC_VOCABULARY.slice(WORD_COUNT)).toEqual([...PHRASES])
    expect(LOGIC_TOKENS.steps).toHaveLength(45)
    expect(LONG_LOGIC_VOCABULARY[LOGIC_TOKENS.steps[23]]).toBe('\n24.')
  })

  it('refuses words that only the second version has for a model of the first', () => {
    const longer = { ...stella, premises: ['Every gorpus is not angry.'] }
    expect(decodeTokens(encodePrompt(longer))).toContain(' every gorpus is not angry.')
    expect(() => encodePrompt(longer, 96)).toThrow(
      /stella: expected words of the model's 96 tokens, got "gorpus"/,
    )
    expect(() => encodePremises(longer, 96)).toThrow(/stella: expected words of the model's 96 tokens/)
    expect(() => encodeStatements(['Every gorpus is angry.'], 'x', 96)).toThrow(/x: .* got "gorpus"/)
    expect(() => encodeStatements(new Array(24).fill('Stella is cold.'), 'x', 96)).toThrow(
      'x: expected at most 23 steps, got 24',
    )
    expect(isEncodable(longer)).toBe(true)
    expect(isEncodable(longer, 96)).toBe(false)
  })

  it('has one token for each phrase where the model has phrases, and the same text', () => {
    const { length } = LONG_LOGIC_VOCABULARY
    const prompt = encodePrompt(stella, length)
    expect(prompt.map(token => LONG_LOGIC_VOCABULARY[token]).slice(1, 11)).toEqual([
      ...[' every', ' tumpus', ' is not', ' angry', '.'],
      ...[' tumpus', 'es are', ' impus', 'es', '.'],
    ])
    expect(decodeTokens(prompt)).toBe(decodeTokens(encodePrompt(stella)))
    for (const problem of generateLogicProblems(100, { style: 'shortcut-free', hops: 7 }, 'phrases')) {
      const tokens = [...encodePrompt(problem, length), ...encodeResponse(problem, length)]
      expect(decodeTokens(tokens)).toBe(decodeTokens([...encodePrompt(problem), ...encodeResponse(problem)]))
      const text = tokens.map(token => LONG_LOGIC_VOCABULARY[token])
      // A subject's joint is one token, and what is said of it the next but an ending.
      for (const word of [' a', ' an', ' not', ' are']) expect(text).not.toContain(word)
    }
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
    const decoded = decodeLogicWithOffsets(encodeResponse(stella))
    const start = decoded.text.indexOf('2. every')
    const span = tokenSpan(decoded, start, decoded.text.indexOf('\n3.'))!
    expect(decodeTokens(encodeResponse(stella).slice(span.start, span.end))).toBe(
      '\n2. every tumpus is not angry',
    )
    expect(tokenSpan(decoded, decoded.text.length, decoded.text.length + 3)).toBeNull()
  })

  it('refuses words outside the vocabulary and proofs that are too long', () => {
    expect(() => encodePrompt({ ...stella, conclusion: 'Bob is cold.' })).toThrow(
      /stella: "Bob is cold\." has a word/,
    )
    expect(() => encodeSteps(new Array(46).fill('Stella is cold.'), 'True')).toThrow(
      /at most 45 steps, got 46/,
    )
    expect(() => encodeResponse({ id: 'x', label: 'True' })).toThrow(/no gold proof/)
  })
})
