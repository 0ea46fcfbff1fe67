import { describe, expect, it } from 'vitest'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { checkRubricAsRewardSettings } from './check.ts'
import { rubricAsRewardSchema } from './config.ts'
import { hopSets, problemSet } from './evaluation.ts'
import { goalOf, type LengthSchedule, Lengths, lengthScheduleSchema } from './lengths.ts'
import { problemSource } from './sources.ts'

const scheduleOf = (schedule: Record<string, unknown>): LengthSchedule => lengthScheduleSchema.parse(schedule)
const GROWING = { kind: 'growing', from: 4, to: 6, threshold: 0.75, window: 2, shortest: 2 }

const problem = (id: string) => ({ id }) as LogicTaskExample

/** A step whose rollouts on a problem of so many hops are proved or not; the longest length after it. */
const step = (lengths: Lengths, number: number, proved: (hops: number) => boolean | null, count = 40) => {
  const drawn = new Map<LogicTaskExample, number>()
  const problems = lengths.draw(number, count, (i, hops) => {
    const each = problem(`${number}/${i}`)
    drawn.set(each, hops)
    return each
  })
  const metrics = lengths.learn(
    number,
    problems.map(each => ({ problem: each, proved: proved(drawn.get(each)!) })),
  )
  return { hops: problems.map(each => drawn.get(each)!), metrics }
}

describe('lengths that grow with success', () => {
  it('mix the next one in when the longest is proved often enough over the window, and stop at the goal', () => {
    const lengths = new Lengths(scheduleOf(GROWING), 1)
    const first = step(lengths, 1, () => true)
    expect(new Set(first.hops)).toEqual(new Set([2, 3, 4]))
    expect(first.hops.filter(hops => hops === 4).length / 40).toBeCloseTo(0.5, 0)
    expect(first.metrics).toMatchObject({ longestHops: 4, provedByLength: { '4 hops': 1, '2 hops': 1 } })
    expect(
      Object.values(first.metrics.shareByLength as Record<string, number>).reduce((a, b) => a + b),
    ).toBeCloseTo(1)
    expect(lengths.longestAt(2)).toBe(4)
    step(lengths, 2, () => true)
    expect(lengths.longestAt(3)).toBe(5)
    expect(new Set(step(lengths, 3, hops => hops < 5).hops)).toEqual(new Set([2, 3, 4, 5]))
    step(lengths, 4, hops => hops < 5)
    step(lengths, 5, () => true)
    expect(lengths.longestAt(6)).toBe(5)
    step(lengths, 6, () => true)
    expect(lengths.longestAt(7)).toBe(6)
    for (let i = 7; i < 12; i++) step(lengths, i, () => true)
    expect(lengths.longestAt(12)).toBe(6)
  })

  it('count what could be graded alone, and only rollouts of the present length', () => {
    const lengths = new Lengths(scheduleOf({ ...GROWING, window: 1 }), 1)
    expect(step(lengths, 1, hops => (hops === 4 ? null : true)).metrics.provedByLength).toMatchObject({
      '4 hops': null,
    })
    step(lengths, 2, hops => hops < 4)
    expect(lengths.longestAt(3)).toBe(4)
    // Sampled ahead: problems of before, learnt after the length has moved on.
    const early = lengths.draw(3, 40, i => problem(`early ${i}`))
    step(lengths, 3, () => true)
    expect(lengths.longestAt(4)).toBe(5)
    lengths.learn(
      4,
      early.map(each => ({ problem: each, proved: true })),
    )
    expect(lengths.longestAt(5)).toBe(5)
  })

  it('may move on by what is not the proof, and still tell of proofs', () => {
    const lengths = new Lengths(scheduleOf({ ...GROWING, window: 1, by: 'answered' }), 1)
    const drawn = lengths.draw(1, 8, i => problem(`answered ${i}`))
    const metrics = lengths.learn(
      1,
      drawn.map(each => ({ problem: each, proved: false, passed: true })),
    )
    expect(Object.values(metrics.provedByLength as Record<string, number>).every(share => share === 0)).toBe(
      true,
    )
    expect(lengths.longestAt(2)).toBe(5)
  })

  it('go on from a saved state with the same draws', () => {
    const whole = new Lengths(scheduleOf(GROWING), 7)
    for (let i = 1; i <= 3; i++) step(whole, i, () => true)
    const resumed = new Lengths(scheduleOf(GROWING), 7)
    resumed.state!.load(JSON.parse(JSON.stringify(whole.state!.save())))
    for (let i = 4; i <= 6; i++)
      expect(step(resumed, i, hops => hops < 6)).toEqual(step(whole, i, hops => hops < 6))
    expect(() => resumed.state!.load({ longest: 5 })).toThrow(/state of task\.hops/)
    expect(
      new Lengths(scheduleOf(GROWING), 8).draw(1, 40, (_, hops) => problem(`${hops}`)).map(p => p.id),
    ).not.toEqual(
      new Lengths(scheduleOf(GROWING), 7).draw(1, 40, (_, hops) => problem(`${hops}`)).map(p => p.id),
    )
  })
})

describe('lengths by fixed steps', () => {
  it('grow at their steps, whatever is proved, and need no state', () => {
    const lengths = new Lengths(scheduleOf({ kind: 'steps', from: 3, at: [2, 5], longestShare: 1 }), 1)
    const longest = [1, 2, 4, 5, 9].map(i => step(lengths, i, () => false).hops)
    expect(longest.map(hops => [...new Set(hops)])).toEqual([[3], [4], [4], [5], [5]])
    expect(lengths.state).toBeUndefined()
  })
})

describe('a schedule in the settings', () => {
  const settings = (task: Record<string, unknown>, evaluation = {}) =>
    rubricAsRewardSchema.parse({ task, evaluation })

  it('decides the lengths of training problems, and its goal those of test problems', () => {
    const config = settings(
      { style: 'shortcut-free', hops: { ...GROWING, to: 8 } },
      { hops: [1, 8], hopProblems: 3 },
    )
    const source = problemSource(config)
    expect([source(5, 2).hops, source(5, 7).hops, source(5).hops]).toEqual([2, 7, 8])
    expect(source(5, 7)).toEqual(source(5, 7))
    expect(problemSet(config, 'shortcut-free', 4).map(({ hops }) => hops)).toEqual([8, 8, 8, 8])
    expect(goalOf(config.task.hops)).toBe(8)
    const sets = hopSets(config)
    expect(sets.map(({ title, problems }) => [title, problems().map(({ hops }) => hops)])).toEqual([
      ['1 hop', [1, 1, 1]],
      ['8 hops', [8, 8, 8]],
    ])
    const kinds = new Set(
      hopSets(config, 200)[0]
        .problems()
        .flatMap(({ context }) => context.toLowerCase().match(/\w+pus/g)!),
    )
    expect(kinds.size).toBe(24)
  })

  it('leaves problems of one length as they were', () => {
    const one = problemSource(settings({ hops: 3 }))(9)
    expect(one).toEqual(logicGenerator({ hops: 3 }, 'train:1')(9))
    expect(one.id).toBe('real-train:1-9 (hops 3)')
  })

  it.each([
    [{ hops: { ...GROWING, shortest: 5 } }, {}, /task\.hops\.shortest: expected at most 4/],
    [{ hops: { ...GROWING, to: 3 } }, {}, /task\.hops\.to: expected at least 4/],
    [{ hops: { kind: 'steps', from: 3, at: [5, 5] } }, {}, /task\.hops\.at\[1\]: expected a step after 5/],
    [{ hops: { kind: 'steps', from: 15, at: [5, 9] } }, {}, /task\.hops\.at: expected at most 1 steps/],
    [{ hops: GROWING, file: 'rows.jsonl' }, {}, /task\.hops: expected no schedule with task\.file/],
    [{}, { hopProblems: 5 }, /evaluation\.hopProblems: expected nothing set/],
    [{}, { sets: ['real-shuffled'] }, /evaluation\.realFile: .* test set "real-shuffled"/],
  ])('refuses %j with %j', (task, evaluation, message) => {
    expect(() => checkRubricAsRewardSettings(settings(task, evaluation))).toThrow(message)
  })
})
