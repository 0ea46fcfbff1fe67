import { Tokenizer } from '@huggingface/tokenizers'
import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { decodeTokens, encodePrompt, encodeResponse } from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { buildLogicTokenizerConfig, buildLogicTokenizerJson } from './tokenizer-json.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY } from './vocabulary.ts'

const tokenizer = new Tokenizer(buildLogicTokenizerJson(), buildLogicTokenizerConfig())
const decode = (ids: number[]) => tokenizer.decode(ids, { skip_special_tokens: true })
const problems = (['real', 'shortcut-free'] as const).flatMap(style =>
  generateLogicProblems(300, { style, labels: 'three-way', hops: { 1: 1, 3: 1, 5: 2 } }, 'tokenizer'),
)

describe('tokenizer.json of the logic task', () => {
  it('encodes the shown text of a problem to the direct prompt tokens', () => {
    for (const problem of problems) {
      expect(tokenizer.encode(`${problem.context} ${problem.question}`).ids).toEqual(encodePrompt(problem))
    }
  })

  it('round-trips prompts and responses', () => {
    for (const problem of problems) {
      const prompt = encodePrompt(problem)
      expect(decode(prompt)).toBe(decodeTokens(prompt))
      expect(tokenizer.encode(decode(prompt)).ids).toEqual(prompt)
      const response = encodeResponse(problem)
      expect(decode(response)).toBe(decodeTokens(response))
      const again = tokenizer.encode(decode(response), { add_special_tokens: false }).ids
      expect([...again, LOGIC_TOKENS.eos]).toEqual(response)
    }
  })

  it('encodes a response as written by hand: capitals, full stops, spaces, line ends', () => {
    for (const problem of problems.slice(0, 100)) {
      const steps = problem.proof!.map((step, i) => `${i + 1}. ${step}`).join('\n')
      const text = `<reasoning>\n${steps}\n</reasoning>\n<answer> ${problem.label} </answer>\n`
      const ids = tokenizer.encode(text, { add_special_tokens: false }).ids
      expect([...ids, LOGIC_TOKENS.eos]).toEqual(encodeResponse(problem))
    }
  })

  it('decodes any tokens like the direct decoder', () => {
    const rng = new Rng('any tokens')
    for (let i = 0; i < 300; i++) {
      const ids = Array.from({ length: 1 + rng.int(60) }, () => rng.int(LOGIC_VOCABULARY.length))
      expect(decode(ids)).toBe(decodeTokens(ids))
    }
  })

  it('of the long vocabulary says longer problems, with phrases as one token', () => {
    const long = new Tokenizer(buildLogicTokenizerJson(LONG_LOGIC_VOCABULARY), buildLogicTokenizerConfig(512))
    const vocabulary = LONG_LOGIC_VOCABULARY.length
    const longer = generateLogicProblems(
      100,
      { style: 'shortcut-free', labels: 'three-way', hops: { 6: 1, 12: 1, 16: 1 } },
      'tokenizer',
    )
    for (const problem of [...problems, ...longer]) {
      const response = encodeResponse(problem, vocabulary)
      const text = long.decode(response, { skip_special_tokens: true })
      expect(long.encode(`${problem.context} ${problem.question}`).ids).toEqual(
        encodePrompt(problem, vocabulary),
      )
      expect(text).toBe(decodeTokens(response))
      const again = long.encode(text, { add_special_tokens: false }).ids
      expect([...again, LOGIC_TOKENS.eos]).toEqual(response)
    }
  })

  it('gives <unk> for other words and knows its special tokens', () => {
    expect(tokenizer.encode('Bob is bright.').ids).toEqual([
      LOGIC_TOKENS.bos,
      LOGIC_TOKENS.unk,
      LOGIC_VOCABULARY.indexOf(' is'),
      LOGIC_VOCABULARY.indexOf(' bright'),
      LOGIC_TOKENS.period,
    ])
    expect(tokenizer.encode('<bos> Sam is red.<eos>', { add_special_tokens: false }).ids.at(-1)).toBe(
      LOGIC_TOKENS.eos,
    )
  })
})
