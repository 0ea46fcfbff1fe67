import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { encodePrompt, encodeResponse } from './format.ts'
import { generateLogicProblems, LOGIC_STYLES, type LogicGeneratorOptions } from './generator.ts'
import {
  assertContext,
  contextNeeded,
  longestPrompt,
  longestProof,
  longestResponse,
  vocabularyFor,
} from './lengths.ts'
import { lookingProof } from './looking.ts'
import { recitationDrill } from './recitation-drill.ts'
import { LOGIC_VOCABULARY, LONG_LOGIC_VOCABULARY, MAX_STEPS, WORD_COUNT } from './vocabulary.ts'

const PHRASED = LONG_LOGIC_VOCABULARY.length

const measured = (options: LogicGeneratorOptions, vocabulary = WORD_COUNT) => {
  const problems = generateLogicProblems(250, options, 'lengths')
  return {
    prompt: Math.max(...problems.map(problem => encodePrompt(problem, vocabulary).length)),
    response: Math.max(...problems.map(problem => encodeResponse(problem, vocabulary).length)),
    steps: Math.max(...problems.map(({ proof }) => proof!.length)),
    tokens: Math.max(...problems.flatMap(problem => [...encodePrompt(problem), ...encodeResponse(problem)])),
  }
}

const options: LogicGeneratorOptions[] = [1, 2, 3, 5, 6, 8, 12, 16].flatMap(hops =>
  LOGIC_STYLES.flatMap(style => (['two-way', 'three-way'] as const).map(labels => ({ hops, style, labels }))),
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

  it.each([...options, ...others])('are so in phrases, too: %j', each => {
    const { prompt, response } = measured(each, PHRASED)
    expect(prompt).toBeLessThanOrEqual(longestPrompt(each, PHRASED))
    expect(prompt).toBeGreaterThan(0.8 * longestPrompt(each, PHRASED) - 6)
    expect(response).toBeLessThanOrEqual(longestResponse(each, PHRASED))
    expect(response).toBeGreaterThan(0.75 * longestResponse(each, PHRASED))
  })

  it.each([...options, ...others].filter(each => longestProof(each, 'looking') <= MAX_STEPS))(
    'are so of proofs that look before they go on: %j',
    each => {
      for (const vocabulary of [WORD_COUNT, PHRASED]) {
        const proofs = generateLogicProblems(150, each, 'looking').map(problem => ({
          ...problem,
          proof: lookingProof({ ...problem, proof: problem.proof! }),
        }))
        const steps = Math.max(...proofs.map(({ proof }) => proof.length))
        const said = Math.max(...proofs.map(problem => encodeResponse(problem, vocabulary).length))
        expect(steps).toBeLessThanOrEqual(longestProof(each, 'looking'))
        expect(steps).toBeGreaterThan(0.75 * longestProof(each, 'looking'))
        expect(said).toBeLessThanOrEqual(longestResponse(each, vocabulary, 'looking'))
      }
    },
  )

  it('refuses proofs of more steps than there are numbers', () => {
    const refusal = () =>
      assertContext({ hops: 16, style: 'shortcut-free' }, 9_999, 'curriculum', PHRASED, 'looking')
    expect(refusal).toThrow('curriculum: expected proofs of at most 45 steps, got up to 63')
    expect(() =>
      assertContext({ hops: 16, style: 'shortcut-free' }, 9_999, 'curriculum', PHRASED),
    ).not.toThrow()
  })

  it.each([
    { hops: 1, recite: 2 },
    { hops: 3, recite: 16, style: 'shortcut-free' },
    { hops: 12, recite: 4, style: 'shortcut-free' },
    { hops: 3, recite: 45, style: 'shortcut-free', kinds: 24, sideKinds: [14, 18] },
    { hops: 3, recite: 45, kinds: 24, nodes: [20, 21] },
    { hops: 1, recite: 2, reciteAsked: 'found' },
    { hops: 1, recite: 4, reciteOnly: 'properties', reciteAsked: 'reached' },
  ] as const)('of recitation drills are bounded, too, by the rules that are said: %j', options => {
    const { recite, reciteOnly, reciteAsked, ...problems } = {
      reciteOnly: undefined,
      reciteAsked: undefined,
      ...options,
    }
    for (const vocabulary of [WORD_COUNT, PHRASED]) {
      const needed = contextNeeded({ ...problems, recite, reciteOnly, reciteAsked }, vocabulary)
      for (const wording of ['canonical', 'as-given'] as const) {
        const lengths = generateLogicProblems(150, problems, 'recitals').map((problem, i) => {
          const said = recitationDrill(
            problem,
            { recite, reciteOnly, reciteAsked },
            wording,
            new Rng(i),
            vocabulary,
          )
          return said.promptTokens.length + said.responseTokens.length
        })
        expect(Math.max(...lengths)).toBeLessThanOrEqual(needed)
        expect(Math.max(...lengths)).toBeGreaterThan(0.7 * needed)
      }
    }
  })

  it('say how much context a recitation drill takes, whatever proofs of its problems would', () => {
    // Two rules of six tokens each behind <bos>; the same behind <reasoning>, with numbers for full stops. In phrases of five.
    const drill = { hops: 12, style: 'shortcut-free', recite: 2 } as const
    expect(contextNeeded(drill)).toBe(26)
    expect(contextNeeded(drill, PHRASED)).toBe(22)
    expect(() => assertContext(drill, 26, '')).not.toThrow()
    expect(() => assertContext(drill, 25, 'curriculum.sources[3]')).toThrow(
      /^curriculum\.sources\[3\]: expected at most 25 tokens, .* got up to 26: 13 of 2 rules, 13 to recite them/,
    )
  })

  it('say how much context a length takes', () => {
    const needed = (hops: number) => contextNeeded({ hops, style: 'shortcut-free' })
    expect([5, 8, 12, 16].map(needed)).toEqual([180, 249, 341, 433])
    expect(() => assertContext({ hops: 12, style: 'shortcut-free' }, 256, 'curriculum.sources[2]')).toThrow(
      /^curriculum\.sources\[2\]: expected at most 256 tokens, .* got up to 341: 198 of the problem, 143 of/,
    )
    expect(() => assertContext({ hops: 12, style: 'shortcut-free' }, 341, '')).not.toThrow()
    const phrased = contextNeeded({ hops: 12, style: 'shortcut-free' }, PHRASED)
    // 198 tokens are 31 rules of six and twelve others. One fewer in each rule, fact, question, and step of the 25.
    expect(phrased).toBe(341 - 31 - 2 - 25)
    expect(() => assertContext({ hops: 12, style: 'shortcut-free' }, phrased, '', PHRASED)).not.toThrow()
  })

  it('and words: the short vocabulary as long as it suffices', () => {
    for (const each of [...options, ...others]) {
      const vocabulary = vocabularyFor([each])
      expect(measured(each).tokens).toBeLessThan(vocabulary.length)
      const long =
        (each.kinds ?? 10) > 10 || each.style === 'varied' || !(each.hops === 1 || Number(each.hops) <= 5)
      expect(vocabulary).toBe(long ? LONG_LOGIC_VOCABULARY : LOGIC_VOCABULARY)
    }
    expect(vocabularyFor([{ hops: 3 }], 23)).toBe(LOGIC_VOCABULARY)
    expect(vocabularyFor([{ hops: 3 }], 25)).toBe(LONG_LOGIC_VOCABULARY)
  })
})
