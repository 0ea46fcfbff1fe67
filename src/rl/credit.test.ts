import { describe, expect, it } from 'vitest'
import { DataError, NumericError, ShapeError } from '../util/errors.ts'
import {
  broadcastAdvantage,
  checkDatum,
  type Datum,
  gae,
  importanceWeights,
  overlongPenalty,
  policyTokens,
  repetitionPenalty,
  type Schedule,
  scheduleAt,
  scheduleSchema,
  stepwiseCredit,
  thinkFormat,
  warmupSteps,
  whiten,
} from './index.ts'

describe('datum', () => {
  const datum = (changes: Partial<Datum> = {}): Datum => ({
    promptTokens: [1],
    tokens: [2, 3],
    mask: [1, 0],
    oldLogprobs: [-1, Number.NaN],
    advantages: [0.5, 0],
    ...changes,
  })

  it('broadcasts an advantage over policy tokens only', () => {
    expect([...broadcastAdvantage(0.5, [1, 0, 1])]).toEqual([0.5, 0, 0.5])
    expect(() => broadcastAdvantage(Number.NaN, [1])).toThrow(NumericError)
  })

  it("gives each step's tokens that step's advantage", () => {
    const spans = [
      { start: 3, end: 5 },
      { start: 0, end: 2 },
      { start: 5, end: 5 },
    ]
    expect([...stepwiseCredit(spans, [2, -1, 9], [1, 1, 1, 1, 0, 1], 0.25)]).toEqual([
      -1, -1, 0.25, 2, 0, 0.25,
    ])
    expect([...stepwiseCredit([], [], [1, 0])]).toEqual([0, 0])
  })

  it('refuses spans that cannot be', () => {
    const mask = [1, 1, 1]
    const overlap = [
      { start: 0, end: 2 },
      { start: 1, end: 3 },
    ]
    expect(() => stepwiseCredit(overlap, [1, 1], mask)).toThrow(DataError)
    expect(() => stepwiseCredit([{ start: 1, end: 4 }], [1], mask)).toThrow('within 0..3, got 1..4')
    expect(() => stepwiseCredit([{ start: 0, end: 1 }], [], mask)).toThrow(ShapeError)
    expect(() => stepwiseCredit([{ start: 0, end: 1 }], [Number.NaN], mask)).toThrow(NumericError)
  })

  it('is checked before training', () => {
    expect(() => checkDatum(datum())).not.toThrow()
    expect(() => checkDatum(datum({ advantages: [1] }), 'datum 3')).toThrow(
      'datum 3.advantages: expected 2 values',
    )
    expect(() => checkDatum(datum({ oldLogprobs: [Number.NaN, 0] }))).toThrow('datum.oldLogprobs[0]')
    expect(() => checkDatum(datum({ mask: [Number.NaN, 0] }))).toThrow(NumericError)
    expect(policyTokens(datum())).toBe(1)
  })
})

describe('gae', () => {
  it("carries value and advantage over masked tokens, as verl's recursion does", () => {
    const { advantages, returns } = gae([1, 0, 3], [0.5, Number.NaN, 1.5], [1, 0, 1])
    expect([...advantages]).toEqual([3.5, 1.5, 1.5])
    expect([...returns]).toEqual([4, 3, 3])
  })

  it('with lambda 0 is the one-step error', () => {
    const { advantages } = gae([0, 1], [0.2, 0.6], [1, 1], { gamma: 0.5, lambda: 0 })
    expect(advantages[0]).toBeCloseTo(0.5 * 0.6 - 0.2, 12)
    expect(advantages[1]).toBeCloseTo(0.4, 12)
  })

  it('refuses lengths and numbers that cannot be', () => {
    expect(() => gae([1], [1, 2], [1])).toThrow(ShapeError)
    expect(() => gae([1], [Number.NaN], [1])).toThrow(NumericError)
    expect(() => gae([1], [Number.NaN], [0], { masked: 'plain' })).toThrow(NumericError)
  })

  it('whitens over all sequences together', () => {
    const [first, second] = whiten(
      [
        [1, 100],
        [2, 3],
      ],
      [
        [1, 0],
        [1, 1],
      ],
    )
    expect(first[0]).toBeCloseTo(-1, 6)
    expect(second[1]).toBeCloseTo(1, 6)
    expect([...whiten([[5, 1]], [[1, 0]])[0]]).toEqual([0, -4])
    expect([...whiten([[5]], [[0]])[0]]).toEqual([5])
  })
})

describe('penalties', () => {
  it('has the worked overlong vector', () => {
    const spec = { maxLength: 12288, buffer: 4096 }
    expect([8192, 9216, 10240, 12288].map(n => overlongPenalty(n, spec))).toEqual([0, -0.25, -0.5, -1])
  })

  it('differs by project beyond the maximum', () => {
    const spec = { maxLength: 100, buffer: 20 }
    expect(overlongPenalty(110, spec)).toBe(-1)
    expect(overlongPenalty(110, { ...spec, floor: 'verl' })).toBe(-1.5)
    expect(overlongPenalty(110, { ...spec, floor: 'verl', factor: 0.5 })).toBe(-0.75)
    expect(() => overlongPenalty(1, { maxLength: 10, buffer: 0 })).toThrow('overlong.buffer')
  })

  it('refuses a repetition penalty that rewards', () => {
    expect(() => repetitionPenalty([1], { n: 2, maxPenalty: 1 })).toThrow('zero or below')
    expect(() => repetitionPenalty([1], { n: 0 })).toThrow('at least 1')
  })

  it('needs a closing tag behind the opening one', () => {
    expect(thinkFormat('<think>')).toBe(0)
    expect(thinkFormat('')).toBe(0)
  })
})

describe('schedules', () => {
  const schedule = (changes: Partial<Schedule>): Schedule => scheduleSchema.parse({ peak: 2, ...changes })
  const curve = (changes: Partial<Schedule>, total: number) =>
    Array.from({ length: total }, (_, step) => scheduleAt(schedule(changes), step, total))

  it('are constant, linear or cosine', () => {
    expect(curve({}, 3)).toEqual([2, 2, 2])
    expect(curve({ kind: 'linear' }, 4)).toEqual([2, 1.5, 1, 0.5])
    expect(scheduleAt(schedule({ kind: 'cosine' }), 2, 4)).toBeCloseTo(1, 12)
    expect(scheduleAt(schedule({ kind: 'cosine', floor: 0.1 }), 99, 4)).toBeCloseTo(0.2, 12)
  })

  it('warm up by steps or by a share', () => {
    expect(curve({ warmup: 2 }, 4)).toEqual([1, 2, 2, 2])
    expect(curve({ kind: 'linear', warmup: 0.5 }, 4)).toEqual([1, 2, 2, 1])
    expect(warmupSteps({ warmup: 0.1 }, 15)).toBe(2)
    expect(warmupSteps({ warmup: 3 }, 15)).toBe(3)
  })

  it('stay at the peak for a share of the steps behind warm-up, and then fall', () => {
    expect(curve({ kind: 'linear', hold: 0.5 }, 4)).toEqual([2, 2, 2, 1])
    expect(curve({ kind: 'linear', warmup: 2, hold: 0.5 }, 6)).toEqual([1, 2, 2, 2, 2, 1])
    expect(curve({ kind: 'cosine', hold: 1, floor: 0.1 }, 3)).toEqual([2, 2, 2])
    expect(scheduleAt(schedule({ kind: 'cosine', hold: 0.5, floor: 0.1 }), 6, 8)).toBeCloseTo(1.1, 12)
    expect(scheduleAt(schedule({ kind: 'linear', hold: 0.5, floor: 0.1 }), 8, 8)).toBeCloseTo(0.2, 12)
    expect(scheduleSchema.safeParse({ peak: 1, hold: 1.1 }).success).toBe(false)
  })

  it('survive a run of one step or none', () => {
    for (const kind of ['constant', 'linear', 'cosine'] as const) {
      expect(scheduleAt(schedule({ kind }), 0, 1)).toBe(2)
      expect(scheduleAt(schedule({ kind, warmup: 1 }), 0, 1)).toBe(2)
      expect(Number.isFinite(scheduleAt(schedule({ kind }), 0, 0))).toBe(true)
    }
  })
})

describe('importance weights', () => {
  const weigh = (options: Parameters<typeof importanceWeights>[3]) => [
    ...importanceWeights([0, 0, 0], [-Math.log(4), Math.log(2), Number.NaN], [1, 1, 0], options),
  ]
  const close = (actual: number[], expected: number[]) => {
    for (const [i, x] of expected.entries()) expect(actual[i]).toBeCloseTo(x, 12)
  }

  it('truncate or mask by token', () => {
    close(weigh({}), [2, 0.5, 0])
    close(weigh({ max: 5 }), [4, 0.5, 0])
    close(weigh({ action: 'mask' }), [0, 0.5, 0])
    close(weigh({ action: 'mask', min: 0.6, max: 5 }), [4, 0, 0])
  })

  it('truncate or mask by sequence', () => {
    close(weigh({ level: 'sequence', max: 3 }), [2, 2, 0])
    close(weigh({ level: 'sequence', max: 1.5 }), [1.5, 1.5, 0])
    close(weigh({ level: 'sequence', max: 1.5, action: 'mask' }), [0, 0, 0])
    expect(() => importanceWeights([0], [0, 0], [1, 1])).toThrow(ShapeError)
  })
})
