import { describe, expect, it } from 'vitest'
import { encodePrompt, encodeResponse } from './format.ts'
import { generateLogicProblems, type LogicGeneratorOptions } from './generator.ts'
import {
  assertContext,
  contextNeeded,
  longestPrompt,
  longestProof,
  longestResponse,
  vocabularyFor,
} from './lengths.ts'
import { LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY } from './vocabulary.ts'

const measured = (options: LogicGeneratorOptions) => {
  const problems = generateLogicProblems(250, options, 'lengths')
  return {
    prompt: Math.max(...problems.map(problem => encodePrompt(problem).length)),
    response: Math.max(...problems.map(problem => encodeResponse(problem).length)),
    steps: Math.max(...problems.map(({ proof }) => proof!.length)),
    tokens: Math.max(...problems.flatMap(problem => [...encodePrompt(problem), ...encodeResponse(problem)])),
  }
}

const options: LogicGeneratorOptions[] = [1, 2, 3, 5, 6, 8, 12, 16].flatMap(hops =>
  (['real', 'shortcut-free'] as const).flatMap(style =>
    (['two-way', 'three-way'] as const).map(labels => ({ hops, style, labels })),
  ),
)

const others: LogicGeneratorOptions[] = [
  { hops: 3, nodes: [4, 9] },
  { hops: { 1: 1, 7: 1 }, style: 'shortcut-free' },
  { hops: 3, style: 'shortcut-free', kinds: 24, sideKinds: [6, 14] },
  { hops: 3, style: 'shortcut-free', mentions: 1 },
  { hops: 1, style: 'shortcut-free', mentions: 1, sideKinds: [1, 1] },
  { hops: 4, style: 'shortcut-free', distractors: 'none', labels: 'three-way' },
]

describe('lengths of problems and proofs', () => {
  it.each([...options, ...others])('are bounded from above, and closely: %j', each => {
    const { prompt, response, steps } = measured(each)
    expect(prompt).toBeLessThanOrEqual(longestPrompt(each))
    // Sentences are mostly a token or two shorter than the longest of their sort.
    expect(prompt).toBeGreaterThan(0.8 * longestPrompt(each) - 6)
    expect(response).toBeLessThanOrEqual(longestResponse(each))
    expect(response).toBeGreaterThan(0.75 * longestResponse(each))
    expect(steps).toBeLessThanOrEqual(longestProof(each))
  })

  it('say how much context a length takes', () => {
    const needed = (hops: number) => contextNeeded({ hops, style: 'shortcut-free' })
    expect([5, 8, 12, 16].map(needed)).toEqual([180, 249, 341, 433])
    expect(() => assertContext({ hops: 12, style: 'shortcut-free' }, 256, 'curriculum.sources[2]')).toThrow(
      /^curriculum\.sources\[2\]: expected at most 256 tokens, .* got up to 341: 198 of the problem, 143 of/,
    )
    expect(() => assertContext({ hops: 12, style: 'shortcut-free' }, 341, '')).not.toThrow()
  })

  it('and words: the short vocabulary as long as it suffices', () => {
    for (const each of [...options, ...others]) {
      const vocabulary = vocabularyFor([each])
      expect(measured(each).tokens).toBeLessThan(vocabulary.length)
      const long = (each.kinds ?? 10) > 10 || !(each.hops === 1 || Number(each.hops) <= 5)
      expect(vocabulary).toBe(long ? LONG_LOGIC_VOCABULARY : LOGIC_VOCABULARY)
    }
    expect(vocabularyFor([{ hops: 3 }], 23)).toBe(LOGIC_VOCABULARY)
    expect(vocabularyFor([{ hops: 3 }], 25)).toBe(LONG_LOGIC_VOCABULARY)
  })
})
