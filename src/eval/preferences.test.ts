import { describe, expect, it } from 'vitest'
import { Rng } from '../util/rng.ts'
import {
  type CandidatePair,
  fitPoints,
  fittedPoints,
  heldOutOrder,
  type LabelledPair,
  nextPair,
  orderAgreement,
  pairMargin,
} from './preferences.ts'

type Points = Record<string, number>
const PRESENT: Points = { a: 8, b: 1, c: 4, d: 1, e: -2 }
const TRUE: Points = { a: 1, b: 8, c: 4, d: 4, e: -6 }
const ids = Object.keys(PRESENT)

const credits = (rng: Rng): Points => Object.fromEntries(ids.map(id => [id, rng.int(2)]))

/** Pairs of which a person says by points of their own which is better, at random in some share of the cases. */
const pairsBy = (points: Points | null, count: number, seed: string, noise = 0.1): LabelledPair[] => {
  const rng = new Rng(seed)
  return Array.from({ length: count }, (_, i) => {
    const pair = {
      problemId: `p${i % 20}`,
      points: PRESENT,
      a: { credits: credits(rng) },
      b: { credits: credits(rng) },
    }
    const margin = points === null ? rng.next() - 0.5 : pairMargin(pair, points)
    const says = rng.next() < noise ? rng.next() < 0.5 : margin > 0
    return { ...pair, choice: margin === 0 ? 'alike' : says ? 'a' : 'b' }
  })
}

const cosine = (a: Points, b: Points): number => {
  const sum = (of: (id: string) => number) => ids.reduce((total, id) => total + of(id), 0)
  return sum(id => a[id] * b[id]) / Math.sqrt(sum(id => a[id] ** 2) * sum(id => b[id] ** 2))
}

describe('points from preferences', () => {
  it('come back to those that people prefer by', () => {
    expect(cosine(PRESENT, TRUE)).toBeLessThan(0.52)
    const pairs = pairsBy(TRUE, 200, 'recover')
    expect(cosine(fittedPoints(PRESENT, fitPoints(pairs)), TRUE)).toBeGreaterThan(0.97)
    const order = heldOutOrder(pairs)!
    expect(order.gain.low).toBeGreaterThan(0.05)
    expect(order.fitted.estimate).toBeGreaterThan(0.85)
  })

  it('stay about where they were when choices are random', () => {
    const fits = Array.from({ length: 40 }, (_, i) => fitPoints(pairsBy(null, 40, `random ${i}`)))
    const near = fits.map(fit => cosine(fittedPoints(PRESENT, fit), PRESENT)).sort((a, b) => a - b)
    expect(near[20]).toBeGreaterThan(0.99)
    expect(near[4]).toBeGreaterThan(0.95)
    expect(fits.filter(({ moved }) => moved > 0.75).length).toBeLessThanOrEqual(4)
    expect(heldOutOrder(pairsBy(null, 60, 'random'))!.gain.low).toBeLessThan(0.05)
  })

  it('stay where they were when people prefer by them, and with one choice', () => {
    const fit = fitPoints(pairsBy(PRESENT, 300, 'same'))
    expect(cosine(fittedPoints(PRESENT, fit), PRESENT)).toBeGreaterThan(0.99)
    expect(cosine(fittedPoints(PRESENT, fitPoints(pairsBy(TRUE, 1, 'one'))), PRESENT)).toBeGreaterThan(0.9)
  })

  it('are the log-odds of the choices where there are many, with their deviations and signs', () => {
    const zero = { j: 0, k: 0, l: 0, m: 0 }
    const ofOne = (id: string, wins: number): LabelledPair[] =>
      Array.from({ length: 1000 }, (_, i) => ({
        ...{ problemId: 'p', points: { j: 1, k: 1, l: -1, m: 1 }, choice: i < wins ? 'a' : 'b' },
        ...{ a: { credits: { ...zero, [id]: 1 } }, b: { credits: zero } },
      }))
    // Chances sigmoid(1), sigmoid(2), sigmoid(-1), and sigmoid(-0.5) where points say the opposite.
    const pairs = [...ofOne('j', 731), ...ofOne('k', 881), ...ofOne('l', 269), ...ofOne('m', 378)]
    const fit = fitPoints(pairs)
    const points = fittedPoints({ j: 1, k: 1, l: -1, m: 1 }, fit)
    expect(points.k / points.j).toBeCloseTo(2, 1)
    expect(points.l / points.j).toBeCloseTo(-1, 1)
    expect(points.m).toBeCloseTo(0.01, 6)
    expect(fit.moved).toBeGreaterThan(0.999)
    // Fisher information of 1000 choices at chance p: 1000 p (1 - p); four points share a sum of sizes of 4, log-odds one of 4.5.
    const deviation = (p: number) => 4 / 4.5 / Math.sqrt(1000 * p * (1 - p))
    const at = (id: string) => fit.deviations[fit.ids.indexOf(id)]
    expect(at('j') / deviation(0.731)).toBeCloseTo(1, 0)
    expect(at('k') / deviation(0.881)).toBeCloseTo(1, 0)
    expect(at('k')).toBeGreaterThan(at('j'))
  })

  it('learn nothing of failed verdicts and of pairs that nobody could decide', () => {
    const pair = { problemId: 'p', points: { k: 2 }, a: { credits: { k: null } }, b: { credits: { k: 0 } } }
    const lost = fitPoints(Array.from({ length: 30 }, () => ({ ...pair, choice: 'b' as const })))
    expect(fittedPoints({ k: 2 }, lost).k).toBeCloseTo(2, 9)
    const unsure = pairsBy(TRUE, 100, 'unsure').map(own => ({ ...own, choice: 'unsure' as const }))
    for (const [id, points] of Object.entries(fittedPoints(PRESENT, fitPoints(unsure))))
      expect(points).toBeCloseTo(PRESENT[id], 9)
    expect([orderAgreement(unsure), heldOutOrder(unsure)]).toEqual([null, null])
  })
})

it('agreement counts what the rubric leaves open half', () => {
  const side = (k: number) => ({ credits: { k } })
  const pair = (a: number, b: number, choice: LabelledPair['choice']): LabelledPair => ({
    ...{ problemId: 'p', points: { k: 1 }, choice },
    ...{ a: side(a), b: side(b) },
  })
  const pairs = [pair(1, 0, 'a'), pair(1, 0, 'b'), pair(0, 1, 'b'), pair(0, 0, 'a'), pair(1, 0, 'alike')]
  expect(orderAgreement(pairs)?.estimate).toBe(2.5 / 4)
})

/** Determinant by its definition. */
const determinant = (m: readonly (readonly number[])[]): number =>
  m.length === 0
    ? 1
    : m[0].reduce(
        (sum, own, j) =>
          sum + (j % 2 ? -1 : 1) * own * determinant(m.slice(1).map(row => row.filter((_, k) => k !== j))),
        0,
      )

describe('the next pair', () => {
  const candidate = (problemId: string, a: Points, b: Points, variance = 0): CandidatePair => ({
    ...{ problemId, points: { u: 3, v: 1 } },
    ...{ a: { credits: a }, b: { credits: b } },
    unsure: variance > 0 ? [{ id: 'u', variance }] : [],
  })
  const candidates = [
    candidate('p', { u: 1, v: 0 }, { u: 0, v: 0 }),
    candidate('p', { u: 1, v: 0 }, { u: 0, v: 1 }),
    candidate('q', { u: 0.5, v: 1 }, { u: 0.5, v: 0 }, 0.25),
    candidate('q', { u: 0, v: 1 }, { u: 0, v: 1 }),
    candidate('r', { u: 1, v: 1 }, { u: 1, v: 0 }),
    candidate('s', { u: 0.5, v: 1 }, { u: 0.5, v: 1 }, 0.25),
  ]

  it('is the one that lowers the determinant of points and verdicts most', () => {
    const labelled = [{ ...candidate('r', { u: 0, v: 1 }, { u: 1, v: 0 }), choice: 'alike' as const }]
    // Points in units of their mean, 2: 1.5 and 0.5, each known to a deviation of 1; the one answer so far leaves its own mode.
    let mode = [0, 0]
    const present = -1
    const loss = ([s, t]: number[]) => {
      const z = present - s + t
      return Math.log1p(Math.exp(z)) - 0.5 * z + (s * s + t * t) / 2
    }
    for (let step = 0; step < 2e4; step++) {
      const h = 1e-5
      const slope = [0, 1].map(i => {
        const moved = (by: number) => loss(mode.map((own, j) => (i === j ? own + by : own)))
        return (moved(h) - moved(-h)) / (2 * h)
      })
      mode = mode.map((own, i) => own - 0.1 * slope[i])
    }
    const weights = [1.5 + mode[0], 0.5 + mode[1]]
    const gains = candidates.map(({ a, b, unsure, problemId }) => {
      const x = ['u', 'v'].map(id => a.credits[id]! - b.credits[id]!)
      const p = (z: number) => 1 / (1 + Math.exp(-z))
      const first = p(present - mode[0] + mode[1])
      // Precision of two points and of an unsure verdict on u.
      const variance = unsure[0]?.variance ?? 1
      const rows = (own: number[], chance: number) =>
        own.map(left => own.map(right => chance * (1 - chance) * left * right))
      const add = (left: number[][], right: number[][]) =>
        left.map((row, i) => row.map((own, j) => own + right[i][j]))
      const before = add(
        [
          [1, 0, 0],
          [0, 1, 0],
          [0, 0, 1 / variance],
        ],
        rows([-1, 1, 0], first),
      )
      const z = weights[0] * x[0] + weights[1] * x[1]
      const after = add(before, rows([...x, unsure.length > 0 ? weights[0] : 0], p(z)))
      const gain = 0.5 * Math.log(determinant(after) / determinant(before))
      return gain / (problemId === 'r' ? 2 : 1)
    })
    const best = gains.indexOf(Math.max(...gains))
    expect(nextPair(candidates, labelled)).toBe(candidates[best])
    for (const [i, own] of candidates.entries()) {
      const rest = candidates.filter((_, j) => j === i)
      // The only one left is chosen unless it tells nothing.
      expect(nextPair(rest, labelled)).toBe(gains[i] > 1e-9 ? own : null)
    }
    const ranked = [...candidates.keys()].filter(i => gains[i] > 1e-9).sort((i, j) => gains[j] - gains[i])
    const chosen: number[] = []
    let left = [...candidates]
    for (let pair = nextPair(left, labelled); pair !== null; pair = nextPair(left, labelled)) {
      chosen.push(candidates.indexOf(pair))
      left = left.filter(own => own !== pair)
    }
    expect(chosen).toEqual(ranked)
  })

  it('goes round the prompts', () => {
    const alike = [candidates[1], ...['s', 't'].map(problemId => ({ ...candidates[1], problemId }))]
    const labelled: LabelledPair[] = []
    for (let i = 0; i < 6; i++) labelled.push({ ...nextPair(alike, labelled)!, choice: 'a' })
    const counts = ['p', 's', 't'].map(id => labelled.filter(({ problemId }) => problemId === id).length)
    expect(counts).toEqual([2, 2, 2])
  })

  it('hangs on points and verdicts: a clear margin tells less, an unsure verdict tells more', () => {
    const near = candidate('p', { u: 0, v: 1 }, { u: 1, v: 0 })
    const far = candidate('p', { u: 1, v: 1 }, { u: 0, v: 0 })
    const unsure = { ...near, unsure: [{ id: 'u', variance: 0.25 }] }
    expect(nextPair([far, near], [])).toBe(near)
    expect(nextPair([far, near, unsure], [])).toBe(unsure)
  })
})
