import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pearson } from '../util/descriptive.ts'
import { Rng } from '../util/rng.ts'
import {
  bleu,
  bleuWords,
  bradleyTerry,
  chanceOfValidity,
  cosineDistance,
  criterionCorrelation,
  criterionSaturation,
  HashedEmbedder,
  internalisation,
  isValidCriterion,
  judgeGap,
  lexicalDiversity,
  logNovelty,
  mostNovel,
  noveltySummary,
  permutations,
  selfBleu,
  semanticDistance,
  validityRates,
  winRates,
} from './index.ts'

const tokens = (text: string) => text.split(' ')
const PARTY = [
  'It is a guide to action that ensures that the military will forever heed Party commands',
  'It is the guiding principle which guarantees the military forces always being under the command of the Party',
  'It is the practical guide for the army always to heed the directions of the party',
].map(tokens)

describe('BLEU (Papineni et al. 2002)', () => {
  const first = tokens(
    'It is a guide to action which ensures that the military always obeys the commands of the party',
  )
  const second = tokens('It is to insure the troops forever hearing the activity guidebook that party direct')

  it("has the published values of the paper's two candidates", () => {
    expect(bleu(first, PARTY, { order: 1, smoothing: 'none' })).toBeCloseTo(17 / 18, 12)
    expect(bleu(first, PARTY, { smoothing: 'none' })).toBeCloseTo(0.5045666840058485, 12)
    expect(bleu(second, PARTY, { smoothing: 'none' })).toBe(0)
  })

  it('clips counts, as in the example of seven thes', () => {
    const references = [tokens('the cat is on the mat'), tokens('there is a cat on the mat')]
    expect(bleu(tokens('the the the the the the the'), references, { order: 1 })).toBeCloseTo(2 / 7, 12)
  })

  it('punishes brevity by the closest reference, the shorter of two', () => {
    const reference = tokens('the cat sat on the mat')
    expect(bleu(tokens('the cat'), [reference], { order: 1 })).toBeCloseTo(Math.exp(1 - 6 / 2), 12)
    expect(bleu(tokens('a b c d'), [tokens('a b c d e'), tokens('a b c')], { order: 1 })).toBe(1)
  })

  it('smooths as method 1 of Chen and Cherry', () => {
    const value = bleu(tokens('a b x'), [tokens('a b c')], { order: 3, smoothing: 'method1' })
    expect(value).toBeCloseTo(((2 / 3) * (1 / 2) * (0.1 / 1)) ** (1 / 3), 12)
  })
})

describe('self-BLEU and lexical diversity', () => {
  it('is 1 for equal texts and near 0 for texts that share nothing', () => {
    expect(selfBleu(Array(4).fill(tokens('a b c d e')))).toBeCloseTo(1, 12)
    expect(selfBleu([tokens('a b c d'), tokens('e f g h')])).toBeLessThan(1e-6)
    expect(selfBleu([tokens('a')])).toBeNull()
  })

  it('is the mean over responses against the others', () => {
    const texts = [PARTY[0], PARTY[1], PARTY[2]]
    const expected = texts.map((text, i) =>
      bleu(
        text,
        texts.filter((_, j) => j !== i),
      ),
    )
    expect(selfBleu(texts)).toBeCloseTo(expected.reduce((a, b) => a + b) / 3, 12)
  })

  it('has no diversity with fewer than two different responses', () => {
    expect(lexicalDiversity(['x y', 'x y', 'x y'])).toBe(0)
    expect(lexicalDiversity(['one two three four', 'five six seven eight'])).toBeCloseTo(1, 5)
    expect(bleuWords("It's 3.5, né?")).toEqual(['it', "'", 's', '3', '.', '5', ',', 'né', '?'])
  })
})

describe('semantic distance', () => {
  const corpus = ['the cat sat', 'the dog ran', 'the cat ran far', 'a bird']
  const embedder = new HashedEmbedder(corpus, { seed: 1 })

  it('is 0 for the same words, small for shared rare ones, near 1 for none', () => {
    const distance = (a: string, b: string) => cosineDistance(embedder.embed(a), embedder.embed(b))
    expect(distance('the cat sat', 'The cat sat')).toBeCloseTo(0, 12)
    expect(distance('the cat sat', 'the cat ran')).toBeLessThan(distance('the cat sat', 'the dog ran'))
    expect(distance('the cat sat', 'quite other words')).toBeGreaterThan(0.75)
    expect(cosineDistance(embedder.embed(''), embedder.embed(''))).toBe(0)
  })

  it('depends on the seed and the corpus alone', () => {
    expect([...new HashedEmbedder(corpus, { seed: 1 }).embed('a dog')]).toEqual([...embedder.embed('a dog')])
    expect([...new HashedEmbedder(corpus, { seed: 2 }).embed('a dog')]).not.toEqual([
      ...embedder.embed('a dog'),
    ])
  })

  it('averages over pairs', () => {
    expect(
      semanticDistance([
        [1, 0],
        [0, 1],
        [1, 0],
      ]),
    ).toBeCloseTo(2 / 3, 12)
    expect(semanticDistance([[1, 0]])).toBeNull()
    expect(() => cosineDistance([1], [1, 2])).toThrow('lengths 1 and 2')
  })
})

describe('novelty (RuscaRL Eq. 5)', () => {
  it('is the mean log ratio over tokens', () => {
    expect(logNovelty([-1, -2], [-2, -5])).toBe(2)
    expect(() => logNovelty([-1], [])).toThrow('got 1 and 0')
    expect(() => logNovelty([-1], [Number.NEGATIVE_INFINITY])).toThrow('sum to Infinity')
  })

  it('reports median and counts, which one extreme response does not move', () => {
    const usual = [0, Math.log(3), Math.log(1.5), Math.log(11)]
    const summary = noveltySummary([...usual, Math.log(2.6e6)])
    expect(summary.median).toBeCloseTo(3, 9)
    expect(summary.above).toEqual({ 2: 3, 10: 2, 100: 1 })
    expect(summary.mean).toBeGreaterThan(500_000)
    expect(summary.logMean).toBeLessThan(100)
    expect(summary.n).toBe(5)
  })
})

it('the most novel responses come first, each with what it gained (RuscaRL table 8)', () => {
  const responses = [0.1, 2, -1, 0.5].map((logRho, i) => ({ id: `${i}`, logRho, scoreDifference: i / 10 }))
  expect(mostNovel(responses, 2).map(({ id, scoreDifference }) => [id, scoreDifference])).toEqual([
    ['1', 0.1],
    ['3', 0.3],
  ])
  expect(mostNovel(responses)).toHaveLength(4)
})

it('internalisation keeps prompts above the threshold and reports the self-distance', () => {
  const item = (score: number) => ({
    initial: [0, 1],
    plain: [1, 0],
    again: [1, 0.2],
    scaffolded: [1, 0.1],
    score,
  })
  const { n, initialToPlain, plainToScaffolded, plainToItself } = internalisation([item(0.9), item(0.4)], 0.5)
  expect([n, initialToPlain]).toEqual([1, 1])
  expect(plainToScaffolded!).toBeLessThan(plainToItself!)
  expect(internalisation([item(0.4)], 0.5).plainToItself).toBeNull()
})

describe('validity of criteria (RLCER Eq. 7)', () => {
  const correct = [1, 1, 1, 0, 0, 0, 1, 0].map(Boolean)
  const column = (points: number, met: number[]) => ({ points, met: met.map(Boolean) })
  const k1 = column(3, [1, 1, 0, 0, 0, 0, 1, 0])
  const k2 = column(-4, [0, 0, 0, 1, 1, 0, 0, 0])
  const k3 = column(1, Array(8).fill(1))
  const k4 = column(2, [0, 1, 0, 1, 0, 1, 0, 1])

  it('has the values of the worked example', () => {
    expect(criterionCorrelation(k1, correct)).toBeCloseTo(0.775, 3)
    expect(criterionCorrelation(k2, correct, { signAware: false })).toBeCloseTo(-0.577, 3)
    expect(criterionCorrelation(k3, correct)).toBeNull()
    expect(criterionCorrelation(k4, correct)).toBeCloseTo(-0.5, 12)
    expect([k1, k2, k3, k4].map(k => isValidCriterion(k, correct))).toEqual([true, true, false, false])
    expect(isValidCriterion(k2, correct, { signAware: false })).toBe(false)
  })

  it('leaves out samples without a verdict, and those of which nobody knows', () => {
    const met = [true, null, false, false, true, true]
    const flags = [true, true, false, null, true, false]
    // Known pairs: (1, 1), (0, 0), (1, 1), (1, 0).
    const phi = (4 * 2 - 2 * 3) / Math.sqrt(2 * 2 * 3 * 1)
    expect(criterionCorrelation({ points: 1, met }, flags)).toBeCloseTo(phi, 12)
    expect(criterionCorrelation({ points: -1, met }, flags)).toBeCloseTo(-phi, 12)
    expect(criterionCorrelation({ points: 1, met: [true, null, null] }, [true, false, false])).toBeNull()
    const { constantShare, nullValidRate } = validityRates(
      [{ correct: [true, null, true], criteria: [{ points: 1, met: [true, false, null] }] }],
      { shuffles: 3 },
    )
    expect([constantShare, nullValidRate]).toEqual([1, 0])
    expect(criterionSaturation([{ correct: flags, criteria: [{ points: 1, met: [true, null] }] }])).toEqual({
      constantShare: 1,
      alwaysMetShare: 1,
    })
  })

  it('is Pearson on binary vectors', () => {
    const rng = new Rng('phi')
    for (let i = 0; i < 200; i++) {
      const draw = () => Array.from({ length: 8 }, () => rng.next() < 0.5)
      const [v, z] = [draw(), draw()]
      const expected = pearson(v.map(Number), z.map(Number))
      const phi = criterionCorrelation({ points: 1, met: v }, z)
      if (expected === null) expect(phi).toBeNull()
      else expect(phi).toBeCloseTo(expected, 12)
    }
  })

  it('has the chance floor of the hypergeometric table', () => {
    const table = [
      [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0],
      [0.25, 0.464, 0.107, 0.214, 0.357, 0.536, 0.75],
      [0.375, 0.107, 0.286, 0.5, 0.179, 0.357, 0.625],
      [0.5, 0.214, 0.5, 0.243, 0.5, 0.214, 0.5],
    ]
    for (const [m, row] of table.entries())
      for (const [k, chance] of row.entries()) {
        expect(chanceOfValidity(8, m + 1, k + 1)).toBeCloseTo(chance, 3)
        expect(chanceOfValidity(8, 7 - m, 7 - k)).toBeCloseTo(chance, 3)
      }
    expect(chanceOfValidity(8, 8, 3)).toBe(0)
  })

  it('refuses a correlation of exactly alpha', () => {
    const flags = [1, 1, 1, 0, 0, 1, 0, 0, 1, 0].map(Boolean)
    const met = column(1, [1, 1, 1, 0, 0, 0, 0, 0, 1, 1])
    const phi = criterionCorrelation(met, flags)!
    expect(isValidCriterion(met, flags, { alpha: phi })).toBe(false)
    expect(isValidCriterion(met, flags, { alpha: phi - 1e-6 })).toBe(true)
  })

  it('sets rates beside their permutation null', () => {
    const rng = new Rng('null')
    const flip = (share: number) => rng.next() < share
    const problems = (related: boolean) =>
      Array.from({ length: 150 }, () => {
        const right = Array.from({ length: 8 }, () => flip(0.5))
        const met = right.map(z => (related ? (flip(0.9) ? z : !z) : flip(0.5)))
        return { correct: right, criteria: [{ points: 2, met }] }
      })
    const unrelated = validityRates(problems(false), { shuffles: 30 })
    expect(unrelated.nullValidRate!).toBeCloseTo(0.335, 1)
    expect(Math.abs(unrelated.validRate! - unrelated.nullValidRate!)).toBeLessThan(0.12)
    const related = validityRates(problems(true), { shuffles: 30 })
    expect(related.validRate! - related.nullValidRate!).toBeGreaterThan(0.4)
    expect(related.correlation!).toBeGreaterThan(0.6)
    expect(Math.abs(related.nullCorrelation!)).toBeLessThan(0.1)
    expect(validityRates([], { shuffles: 2 })).toMatchObject({ correlation: null, validRate: null })
  })

  it('counts criteria that have stopped telling samples apart', () => {
    const counted = criterionSaturation([{ correct, criteria: [k1, k2, k3, column(1, Array(8).fill(0))] }])
    expect(counted).toEqual({ constantShare: 0.5, alwaysMetShare: 0.25 })
  })
})

describe('win rates', () => {
  it('lists every order once', () => {
    expect(permutations(3)).toHaveLength(6)
    expect(new Set(permutations(4).map(String)).size).toBe(24)
  })

  it('gives a judge that always takes the first place no favourite, and shows that it does', () => {
    const { shares, placeShares } = winRates(
      permutations(3).map(order => ({ order, chosen: 0 })),
      3,
    )
    expect(shares.map(share => share.toFixed(6))).toEqual(Array(3).fill((1 / 3).toFixed(6)))
    expect(placeShares).toEqual([1, 0, 0])
  })

  it('shares ties and refuses what was not shown', () => {
    const { shares, tieRate } = winRates(
      [
        { order: [0, 1], chosen: null },
        { order: [1, 0], chosen: 0 },
      ],
      2,
    )
    expect([shares, tieRate]).toEqual([[0.25, 0.75], 0.5])
    expect(() => winRates([{ order: [0, 0], chosen: 0 }], 2)).toThrow('each of 2 arms once')
    expect(() => winRates([{ order: [0, 1], chosen: 2 }], 2)).toThrow('place 2')
  })

  it('finds the strengths behind wins (Bradley-Terry)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 3, maxLength: 3 }), strengths => {
        const total = strengths.reduce((a, b) => a + b)
        const wins = strengths.map((a, i) => strengths.map((b, j) => (i === j ? 0 : (1000 * a) / (a + b))))
        bradleyTerry(wins).forEach((found, i) => {
          expect(found).toBeCloseTo(strengths[i] / total, 6)
        })
      }),
    )
    expect(() =>
      bradleyTerry([
        [0, 3],
        [0, 0],
      ]),
    ).toThrow('no chain of wins leads from arm 1 to arm 0')
  })

  it('has no strengths where one half of the arms only ever lost to the other (Bradley-Terry)', () => {
    const halves = [
      [0, 2, 1, 1],
      [2, 0, 1, 1],
      [0, 0, 0, 3],
      [0, 0, 3, 0],
    ]
    expect(() => bradleyTerry(halves)).toThrow('no chain of wins leads from arm 2 to arm 0')
    expect(() => bradleyTerry([[0]])).toThrow('at least two arms, got 1')
    expect(
      bradleyTerry(halves.map((row, a) => row.map((wins, b) => (a === 3 && b === 0 ? 1 : wins)))),
    ).toEqual(halves.map(() => expect.any(Number)))
  })

  it('are refused of no comparisons', () => {
    expect(() => winRates([], 2)).toThrow('at least one comparison')
  })
})

it('judge gap: the gain that only the training judge sees', () => {
  const { trainGain, gap, reversals } = judgeGap(
    [84.4, 85.7],
    [
      [88.97, 85.48],
      [80.57, 78.5],
      [78.66, 79.09],
      [76.3, 72.94],
    ],
  )
  expect(trainGain).toBeCloseTo(1.3, 9)
  expect(gap).toBeCloseTo(1.3 + (3.49 + 2.07 - 0.43 + 3.36) / 4, 9)
  expect(reversals).toBe(3)
  expect(() => judgeGap([0, 1], [])).toThrow('at least one held-out judge')
})
