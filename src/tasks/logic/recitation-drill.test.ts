import { describe, expect, it } from 'vitest'
import { parseSentence } from '../../grade/logic/english.ts'
import { Rng } from '../../util/rng.ts'
import { coldStartStream } from './coldstart.ts'
import { decodeTokens } from './format.ts'
import { recitationDrill } from './recitation-drill.ts'
import { readRule } from './rules.ts'
import { LOGIC_TOKENS } from './vocabulary.ts'

const problem = {
  id: 'p',
  premises: [
    'Wumpuses are not bright.',
    'Each zumpus is a wumpus.',
    'Every zumpus is bright.',
    'Rex is a zumpus.',
  ],
  conclusion: 'Rex is bright.',
}

const drawn = (recite: number, seed = 1) => recitationDrill(problem, { recite }, 'canonical', new Rng(seed))

const sentences = (text: string) =>
  text
    .replace('<reasoning>', '')
    .split(/\n?\d+\. |\n/)
    .map(line => line.trim())
    .filter(line => line !== '')

describe('a recitation drill', () => {
  it('says every rule that is shown, and none that is not', () => {
    for (let seed = 0; seed < 50; seed++) {
      const { promptTokens, responseTokens } = drawn(3, seed)
      const shown = decodeTokens(promptTokens)
        .split('.')
        .filter(text => text.trim() !== '')
      const formulas = shown.map(text => JSON.stringify(readRule(parseSentence(`${text.trim()}.`))))
      const said = sentences(decodeTokens(responseTokens))
      expect(said.map(text => JSON.stringify(readRule(parseSentence(`${text}.`)))).sort()).toEqual(
        formulas.sort(),
      )
    }
  })

  it('shows one to so many rules, and no fact', () => {
    const counts = new Set<number>()
    for (let seed = 0; seed < 60; seed++) {
      const text = decodeTokens(drawn(2, seed).promptTokens)
      counts.add(text.split('.').length - 1)
      expect(text).not.toContain('rex')
    }
    expect([...counts].sort()).toEqual([1, 2])
  })

  it('says of a subject its property before its parent', () => {
    for (let seed = 0; seed < 20; seed++) {
      const said = sentences(decodeTokens(drawn(99, seed).responseTokens)).filter(text =>
        /zumpus is/.test(text),
      )
      if (said.length === 2) expect(said).toEqual(['every zumpus is bright', 'every zumpus is a wumpus'])
    }
  })

  it('teaches what a subject is, and neither numbers nor which subject comes next', () => {
    const learnt = Array.from({ length: 20 }, (_, seed) => drawn(99, seed)).flatMap(
      ({ responseTokens, responseWeights }) => responseTokens.filter((_, i) => responseWeights[i] === 1),
    )
    expect(decodeTokens(learnt)).not.toMatch(/\d|every|reasoning|zumpus/)
    expect(learnt).toContain(LOGIC_TOKENS.not)
    expect(decodeTokens(learnt)).toMatch(/bright/)
  })

  describe('with a question', () => {
    const asking = {
      ...problem,
      premises: [...problem.premises, 'Each yumpus is hot.', 'Every vumpus is not shy.'],
    }
    const drawn = (reciteAsked: 'found' | 'reached', seed: number) => {
      const source = { recite: 4, reciteOnly: 'properties', reciteAsked } as const
      const { promptTokens, responseTokens, responseWeights } = recitationDrill(
        asking,
        source,
        'canonical',
        new Rng(seed),
      )
      const [rules, question] = decodeTokens(promptTokens).split('question: rex is')
      const property = (text: string) => text.match(/ (\w+)\.?\s*$/)![1]
      const said = sentences(decodeTokens(responseTokens).replace('</reasoning>', ''))
      const learnt = decodeTokens(responseTokens.filter((_, i) => responseWeights[i] === 1))
      return { rules, asked: property(question), said, property, learnt, last: responseTokens.at(-1) }
    }
    const seeds = Array.from({ length: 60 }, (_, seed) => seed)

    it('says the rules of the property that it asks about', () => {
      for (const seed of seeds) {
        const { rules, asked, said, property, last } = drawn('found', seed)
        expect(said.every(text => text.startsWith('every ') && property(text) === asked)).toBe(true)
        expect(said).toHaveLength(rules.split(` ${asked}.`).length - 1)
        expect(last).toBe(LOGIC_TOKENS.reasoningClose)
      }
    })

    it('or goes from rule to rule until one is of that property, and says what each says of the individual', () => {
      const lengths = new Set<number>()
      for (const seed of seeds) {
        const { rules, asked, said, property, last } = drawn('reached', seed)
        lengths.add(said.length)
        for (const [i, text] of said.entries()) {
          expect(text.startsWith(i % 2 === 0 ? 'every ' : 'rex is ')).toBe(true)
          expect(property(text) === asked).toBe(i >= said.length - 2)
          if (i % 2 === 1) expect(text.replace('rex', '')).toBe(said[i - 1].replace(/every \w+/, ''))
          else expect(rules).toContain(text.match(/ (not )?\w+$/)![0])
        }
        expect(last).toBe(LOGIC_TOKENS.reasoningClose)
      }
      expect([...lengths].sort()).toEqual([2, 4, 6, 8])
    })

    it('teaches what the question decides', () => {
      // The first rule is said of a subject drawn at random; whether it is the last one, is no chance.
      for (const seed of seeds) {
        expect(drawn('found', seed).learnt).toMatch(/^<reasoning> every \w+ is/)
        expect(drawn('reached', seed).learnt).toMatch(/^ is( not)? \w+\n\d+\. rex is/)
        expect(drawn('reached', seed).learnt).not.toMatch(/every \w+us/)
      }
    })
  })

  it('is a source of a cold start like any other, with signs that weigh more if asked for', () => {
    const stream = coldStartStream({
      curriculum: {
        sources: [{ hops: 2, style: 'shortcut-free', recite: 6 }],
        keyframes: [{ at: 0, weights: [1] }],
      },
      seed: 3,
      signWeight: 5,
      numbering: 'random-start',
    })
    for (let i = 0; i < 20; i++) {
      const { promptTokens, responseTokens, responseWeights } = stream(i, 0)
      expect(promptTokens).not.toContain(LOGIC_TOKENS.question)
      expect(responseTokens).not.toContain(LOGIC_TOKENS.reasoningClose)
      for (const [at, token] of responseTokens.entries())
        if (token === LOGIC_TOKENS.not) expect(responseWeights![at]).toBe(5)
      expect(stream(i, 0)).toEqual(stream(i, 0))
    }
  })
})
