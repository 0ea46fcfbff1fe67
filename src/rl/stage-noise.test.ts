import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LAMBDA, type StageWeights } from './stage-credit.ts'
import { learnToy, TRAJECTORIES, type Trajectory, truth } from './stage-noise.fixture.ts'

const STAGES = [0, 1, 2, 3]

/** Little of what comes after: the answer says little to the first stages. */
const NEAR: StageWeights = [
  [1, 0.1, 0.1, 0.1],
  [0, 1, 0.1, 0.1],
  [0, 0, 1, 0.1],
  [0, 0, 0, 1],
]

/** Expectation under independent stages that do well with chance p. */
const expected = (p: number, value: (t: Trajectory) => number): number =>
  TRAJECTORIES.reduce(
    (sum, t) => sum + t.reduce((chance: number, bit) => chance * (bit ? p : 1 - p), 1) * value(t),
    0,
  )

/** E[Gamma_k f]: gradient of a stage's logit, its score being bit - p. */
const gradient = (p: number, k: number, f: (t: Trajectory) => number): number =>
  expected(p, t => (t[k] - p) * f(t))

const weighted = (lambda: StageWeights, k: number, of: (j: number) => (t: Trajectory) => number) => {
  return (t: Trajectory) => STAGES.slice(k).reduce((sum, j) => sum + lambda[k][j] * of(j)(t), 0)
}

const Y = (j: number) => (t: Trajectory) => truth(t)[j]

/** What a judge says in the mean that turns round a share f of the rewards of the first three stages. */
const flipped = (f: number) => (j: number) => (t: Trajectory) =>
  j === 3 ? Y(j)(t) : (1 - f) * Y(j)(t) + f * (1 - Y(j)(t))

/** Errors of both signals against the stage-weighted truth, summed over the stages that come before the answer. */
const errors = (lambda: StageWeights, f: number, p = 0.4) => {
  const over = (error: (k: number) => number) => [0, 1, 2].reduce((sum, k) => sum + Math.abs(error(k)), 0)
  const target = (k: number) => gradient(p, k, weighted(lambda, k, Y))
  return {
    stages: over(k => gradient(p, k, weighted(lambda, k, flipped(f))) - target(k)),
    terminal: over(k => gradient(p, k, Y(3)) - target(k)),
  }
}

/** The first flip rate, in hundredths, at which stage credit has the larger error. */
const crossing = (lambda: StageWeights): number => {
  for (let hundredths = 0; hundredths <= 100; hundredths++) {
    const { stages, terminal } = errors(lambda, hundredths / 100)
    if (stages > terminal) return hundredths / 100
  }
  return Number.POSITIVE_INFINITY
}

describe('Theorem 4: errors of the two signals', () => {
  it('keep to its bounds, whatever a judge says', () => {
    const table = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 16, maxLength: 16 })
    const judge = fc.array(table, { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(judge, fc.double({ min: 0.1, max: 0.9, noNaN: true }), (said, p) => {
        const at = (t: Trajectory) => TRAJECTORIES.findIndex(own => own.join() === t.join())
        const R = (j: number) => (t: Trajectory) => said[j][at(t)]
        for (const k of STAGES) {
          const target = gradient(p, k, weighted(DEFAULT_LAMBDA, k, Y))
          const misaligned = (j: number) => Math.abs(gradient(p, k, t => R(j)(t) - Y(j)(t)))
          const bound = STAGES.slice(k).reduce((sum, j) => sum + DEFAULT_LAMBDA[k][j] * misaligned(j), 0)
          const error = Math.abs(gradient(p, k, weighted(DEFAULT_LAMBDA, k, R)) - target)
          expect(error).toBeLessThanOrEqual(bound + 1e-12)
          // What terminal broadcast leaves out: the weighted truth beyond the answer's.
          const omitted = Math.abs(target - gradient(p, k, Y(3)))
          const terminal = Math.abs(gradient(p, k, R(3)) - target)
          expect(terminal).toBeGreaterThanOrEqual(omitted - misaligned(3) - 1e-12)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('cross at a flip rate which moves with the weights', () => {
    expect(errors(DEFAULT_LAMBDA, 0).stages).toBeCloseTo(0, 12)
    expect(errors(DEFAULT_LAMBDA, 0).terminal).toBeGreaterThan(0.1)
    // Written out for p = .4: a stage hears 2f of its own weighted truth less, broadcast lacks all of it but for the answer's
    // share that it has beyond lambda. Var = .24; dY4 = .24 * .064 for each stage, dY_k = .24 only for k itself.
    const answer = 0.24 * 0.064
    const byHand = (last: number) => Math.abs(0.24 + last * answer - answer) / (2 * 0.24)
    expect(crossing(DEFAULT_LAMBDA)).toBeCloseTo(Math.ceil(100 * byHand(0.8)) / 100, 10)
    expect(crossing(NEAR)).toBeCloseTo(Math.ceil(100 * byHand(0.1)) / 100, 10)
    expect(crossing(NEAR)).toBeLessThan(crossing(DEFAULT_LAMBDA))
  })
})

describe('Theorem 4, its prediction: judge noise beyond which stage credit loses to broadcast', () => {
  const learnt = (lambda: StageWeights, mode: 'stages' | 'terminal', flipRate: number) =>
    learnToy({ lambda, mode, flipRate, policies: 30 })
  const RATES = [0, 0.2, 0.3, 0.4, 0.5]

  /** Where the curve falls below a level, between two rates. */
  const crossesAt = (curve: readonly number[], level: number): number => {
    const after = curve.findIndex(score => score < level)
    const share = (curve[after - 1] - level) / (curve[after - 1] - curve[after])
    return RATES[after - 1] + share * (RATES[after] - RATES[after - 1])
  }

  it('is there, and comes earlier where the answer weighs less', () => {
    const broadcast = learnt(DEFAULT_LAMBDA, 'terminal', 0)
    const [byDefault, near] = [DEFAULT_LAMBDA, NEAR].map(lambda =>
      RATES.map(rate => learnt(lambda, 'stages', rate)),
    )
    expect(byDefault[0]).toBeGreaterThan(broadcast + 0.05)
    expect(near[0]).toBeGreaterThan(broadcast + 0.05)
    expect(byDefault.at(-1)).toBeLessThan(broadcast - 0.05)
    expect(near.at(-1)).toBeLessThan(broadcast - 0.05)
    expect(crossesAt(near, broadcast)).toBeGreaterThan(0.2)
    expect(crossesAt(byDefault, broadcast)).toBeGreaterThan(crossesAt(near, broadcast) + 0.03)
    expect(crossesAt(byDefault, broadcast)).toBeLessThan(0.5)
  }, 60_000)
})

describe('Theorem 5: reflection steps raise the task where both gradients point the same way', () => {
  /** Task: chance of the right one of two actions. Reflection: chance of the accepted one of two texts. */
  const chance = (logit: number) => 1 / (1 + Math.exp(-logit))
  const slope = (logit: number) => chance(logit) * (1 - chance(logit))
  const inner = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * b[i], 0)

  it('which is nothing, exactly, where they have no parameter in common', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.double({ min: -3, max: 3, noNaN: true }),
        (a, b) => {
          const task = [slope(a), 0]
          const reflection = [0, slope(b)]
          return inner(task, reflection) === 0
        },
      ),
    )
  })

  it('and a rise at first order where they share one', () => {
    for (const logit of [-2, -0.5, 0, 1.5]) {
      // Both hang on the shared first parameter; the reflection has one of its own as well.
      const task = (theta: readonly number[]) => chance(theta[0])
      const taskGradient = [slope(logit), 0]
      const reflectionGradient = [slope(logit + 0.3), slope(logit + 0.3)]
      const mu = inner(taskGradient, reflectionGradient)
      expect(mu).toBeGreaterThan(0)
      const rate = 1e-4
      const moved = [logit + rate * reflectionGradient[0], 0.3 + rate * reflectionGradient[1]]
      expect((task(moved) - task([logit, 0.3])) / rate).toBeCloseTo(mu, 4)
      // Against it, the task falls.
      expect(task([logit - rate * reflectionGradient[0], 0])).toBeLessThan(task([logit, 0]))
    }
  })
})
