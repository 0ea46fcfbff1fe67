import { describe, expect, it } from 'vitest'
import { demonstrations } from './demonstrations.ts'
import { decodeTokens } from './format.ts'
import { logicStartSchema } from './start-settings.ts'
import { logicTestSet, startTestSets } from './testsets.ts'
import { WORD_COUNT } from './vocabulary.ts'

const settingsOf = (settings: Record<string, unknown>) =>
  logicStartSchema.parse({ kind: 'logic', ...settings })

/** Demonstrations of a curriculum with one source, as texts. */
const shown = (source: Record<string, unknown>, settings: Record<string, unknown> = {}) => {
  const curriculum = { kind: 'custom', sources: [source], keyframes: [{ at: 0, weights: [1] }] }
  return demonstrations(
    { ...settingsOf({ ...settings, curriculum }), batch: 200, steps: 2, seed: 1 },
    WORD_COUNT,
  )(1).map(({ promptTokens, responseTokens }) => ({
    prompt: decodeTokens(promptTokens),
    response: decodeTokens(responseTokens),
  }))
}

const mentions = (prompt: string) => {
  const adjective = / (\w+)\.$/.exec(prompt)![1]
  return prompt.split('\n')[0].match(new RegExp(` ${adjective}\\.`, 'g'))!.length
}

const factLast = (prompt: string) => !/\. (?:every|each|\w+puses) [^.]*\.\nquestion/.test(prompt)

describe('sources of a curriculum', () => {
  it('say themselves how often the queried adjective is mentioned, with kinds beside the chain or without', () => {
    for (const { prompt } of shown({ hops: 3, style: 'shortcut-free', mentions: 1 })) {
      expect(mentions(prompt)).toBe(1)
      expect(new Set(prompt.match(/\w+pus(?=\b|es)/g)).size).toBeGreaterThan(5)
    }
    for (const { prompt } of shown({ hops: 3, style: 'shortcut-free', distractors: 'none' }))
      expect(mentions(prompt)).toBe(1)
    expect(new Set(shown({ hops: 3, style: 'shortcut-free' }).map(({ prompt }) => mentions(prompt)))).toEqual(
      new Set([2, 4]),
    )
  })

  it('fall back to the settings of the recipe, and override them', () => {
    const ordered = shown({ hops: 2 })
    expect(ordered.every(({ prompt }) => factLast(prompt))).toBe(true)
    expect(shown({ hops: 2 }, { order: 'shuffled' }).every(({ prompt }) => factLast(prompt))).toBe(false)
    expect(shown({ hops: 2, order: 'root-to-leaf' }, { order: 'shuffled' })).toEqual(ordered)
    const negated = { negation: { gold: 1, other: 1 } }
    for (const { response } of shown({ hops: 1, ...negated }))
      expect(response).toMatch(/ not [a-z]+\n<\/reasoning>/)
    expect(shown({ hops: 1, style: 'shortcut-free' }, { style: 'real' })).toEqual(
      shown({ hops: 1 }, { style: 'shortcut-free' }),
    )
  })

  it('word their rules as they say', () => {
    const plural = /\w+puses are/
    expect(shown({ hops: 2 }).some(({ response }) => plural.test(response))).toBe(false)
    expect(shown({ hops: 2, wording: 'as-given' }).some(({ response }) => plural.test(response))).toBe(true)
    expect(shown({ hops: 2, wording: 'canonical' }, { wording: 'as-given' })).toEqual(shown({ hops: 2 }))
  })

  it('of twelve hops number their steps to 25, and short ones as far as they are told', () => {
    const last = (responses: { response: string }[]) =>
      Math.max(
        ...responses.flatMap(({ response }) => [...response.matchAll(/\n(\d+)\./g)].map(m => Number(m[1]))),
      )
    expect(last(shown({ hops: 12, style: 'shortcut-free' }))).toBe(25)
    expect(last(shown({ hops: 3 }))).toBe(11)
    expect(last(shown({ hops: 3, kinds: 24 }, { numberedTo: 25 }))).toBe(25)
  })
})

describe('test sets of a cold start', () => {
  it('are those of the style, or of several by name', () => {
    const titles = (tests: Record<string, unknown>) =>
      startTestSets(settingsOf({ tests: { hops: [1, 8], ...tests } })).map(({ title }) => title)
    expect(titles({})).toEqual(['1 hop', '8 hops'])
    expect(titles({ sets: ['train-distribution-shuffled', 'shortcut-free'] })).toEqual([
      '1 hop, train-distribution-shuffled',
      '8 hops, train-distribution-shuffled',
      '1 hop, shortcut-free',
      '8 hops, shortcut-free',
    ])
  })

  it('shuffled have the problems of the ordered one in another order', () => {
    const [ordered, shuffled] = (['train-distribution', 'train-distribution-shuffled'] as const).map(name =>
      logicTestSet(name, { hops: 4, count: 20 }),
    )
    expect(shuffled.map(({ premises }) => [...premises].sort())).toEqual(
      ordered.map(({ premises }) => [...premises].sort()),
    )
    expect(shuffled.map(({ label }) => label)).toEqual(ordered.map(({ label }) => label))
    expect(shuffled.map(({ context }) => context)).not.toEqual(ordered.map(({ context }) => context))
  })
})
