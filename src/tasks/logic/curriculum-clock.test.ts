import { describe, expect, it } from 'vitest'
import { curriculumProgress } from './curriculum-clock.ts'

const WAIT = { loss: 0.1, window: 10, atMost: 0.6 }
const keyframes = [{ at: 0 }, { at: 0.2, until: WAIT }, { at: 1 }]
const of = (count: number, loss: number) => Array<number>(count).fill(loss)
const at = (
  step: number,
  losses: readonly number[],
  own: Parameters<typeof curriculumProgress>[0] = keyframes,
) => curriculumProgress(own, 100, step, losses)

describe('progress of a curriculum', () => {
  it('is the share of the steps where no keyframe waits', () => {
    for (const step of [1, 26, 100])
      expect(at(step, [], [{ at: 0 }, { at: 1 }])).toBeCloseTo((step - 1) / 100)
  })

  it('stays at a keyframe until the mean loss of the window is below, counted from where the keyframe was reached', () => {
    // Low before the keyframe says nothing of it: its own drills have not been seen.
    expect(at(21, of(20, 0.01))).toBeCloseTo(0.2)
    expect(at(30, [...of(20, 0.01), ...of(9, 0.05)])).toBe(0.2)
    expect(at(31, [...of(20, 0.01), ...of(10, 0.05)])).toBeCloseTo(0.2)
    expect(at(31, [...of(20, 0.01), ...of(10, 0.05)])).toBe(0.2)
    // Passed after step 30: the remaining .8 over the remaining 70 steps.
    expect(at(66, [...of(20, 0.01), ...of(45, 0.05)])).toBeCloseTo(0.2 + (35 / 70) * 0.8)
    expect(at(101, [...of(20, 0.01), ...of(80, 0.05)])).toBe(1)
  })

  it('waits on while the loss is high, and no longer than it may', () => {
    expect(at(59, of(58, 0.5))).toBe(0.2)
    expect(at(61, of(60, 0.5))).toBe(0.2)
    expect(at(81, of(80, 0.5))).toBeCloseTo(0.2 + (20 / 40) * 0.8)
    // A fall ends it: nine of .05 and one of .5 have a mean of .095.
    const fallen = [...of(40, 0.5), ...of(20, 0.05)]
    expect(at(49, fallen.slice(0, 48))).toBe(0.2)
    expect(at(61, fallen)).toBeCloseTo(0.2 + (11 / 51) * 0.8)
  })

  it('counts the window anew behind a loss that is not known', () => {
    const unknown = [...of(24, 0.5), Number.POSITIVE_INFINITY, ...of(10, 0.05)]
    expect(at(35, unknown.slice(0, 34))).toBe(0.2)
    expect(at(37, [...unknown, 0.05])).toBeGreaterThan(0.2)
  })

  it('goes from one waiting keyframe to the next, and never back', () => {
    const two = [{ at: 0 }, { at: 0.2, until: WAIT }, { at: 0.5, until: { ...WAIT, atMost: 0.9 } }, { at: 1 }]
    const losses = Array.from({ length: 100 }, (_, i) => (i < 35 || (i > 50 && i < 70) ? 0.5 : 0.01))
    const seen = losses.map((_, i) => at(i + 1, losses.slice(0, i), two))
    for (let i = 1; i < seen.length; i++) expect(seen[i]).toBeGreaterThanOrEqual(seen[i - 1])
    expect(new Set(seen.filter(value => value === 0.2)).size).toBe(1)
    expect(seen.filter(value => value === 0.5).length).toBeGreaterThan(3)
    expect(seen.at(-1)).toBeLessThan(1)
    expect(seen.at(-1)).toBeGreaterThan(0.5)
  })
})
