import { describe, expect, it } from 'vitest'
import { fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { analyseControl } from './controls.ts'
import { DECISION_RULES } from './rules.ts'

const registration = fakeRegistration()
const runs = fakeRuns(registration)
const { controls } = registration

/** The runs with a random reward that gains on its start all the same. */
const gaining = (gain: number) =>
  runs.map(run =>
    run.arm === 'random'
      ? {
          ...run,
          evals: run.evals.map(row => ({
            ...row,
            scores: { accuracy: { value: row.scores.accuracy.value! + (row.step === 0 ? 0 : gain) } },
          })),
        }
      : run,
  )

const outcome = (of: typeof runs, changes: object = {}, rules: object = {}) =>
  analyseControl(of, { ...controls, ...changes }, 'random-reward', 'random', rules).outcome

describe('negative controls', () => {
  it('pass where a random reward teaches nothing', () => {
    expect(outcome(runs)).toBe('passed')
  })

  it('fail where it gains, although the arm that it controls gains more', () => {
    const wrong = analyseControl(gaining(0.2), controls, 'random-reward', 'random', {
      registeredRule: DECISION_RULES[1],
    })
    expect(wrong.above!.interval[0]).toBeGreaterThan(0)
    expect(wrong.gain!.difference).toBeCloseTo(0.2, 1)
    expect(wrong.outcome).toBe('failed')
    // What it was under the rule before.
    expect(wrong.atRegistration).toEqual({ rule: 2, outcome: 'passed' })
  })

  it('fail where it gains and the arm is not above it, as ever', () => {
    const { outcome: found } = analyseControl(runs, { ...controls, of: 'worse' }, 'random-reward', 'better')
    expect(found).toBe('failed')
  })

  it('are open where a gain of the size that matters is not excluded, for what the start itself may be off', () => {
    // 1.2 points are below the 3 that matter, but the start on 2,048 problems is known to one point only.
    expect(outcome(gaining(0.012))).toBe('open')
    const { gain } = analyseControl(gaining(0.012), controls, 'random-reward', 'random')
    expect(gain!.pairsAlone.interval[1]).toBeLessThan(0.03)
    expect(gain!.margin!.interval[1]).toBeGreaterThan(0.03)
    expect(outcome(runs, { of: 'worse', smallestEffect: 0.005 })).toBe('open')
  })

  it('say that they say nothing where no run made an update, whatever they come to', () => {
    const idle = (isIdle: (run: (typeof runs)[number]) => boolean) =>
      runs.map(run => {
        if (run.arm !== 'random' || !isIdle(run)) return run
        const nothing = { loss: null, gradNorm: null, entropy: null, zeroVarianceGroups: 1 }
        return { ...run, metrics: run.metrics.map(row => ({ ...row, ...nothing })) }
      })
    const found = (of: typeof runs) => {
      const { outcome: own, note } = analyseControl(of, controls, 'random-reward', 'random')
      return [own, note]
    }
    expect(found(runs)).toEqual(['passed', null])
    expect(found(idle(() => true))).toEqual(['passed', 'made no update in 10 of 10 runs: it says nothing'])
    expect(found(idle(({ start }) => start === 'b'))).toEqual(['passed', 'made no update in 5 of 10 runs'])
    // Slim runs have the norm at some steps only; entropy tells of the others.
    const [first, ...rest] = idle(() => true).filter(({ arm }) => arm === 'random')
    const metrics = first.metrics.map(({ step }) =>
      step === 1 ? { step, gradNorm: null } : { step, entropy: step === 2 ? 0.1 : null },
    )
    expect(found([...runs.filter(({ arm }) => arm !== 'random'), { ...first, metrics }, ...rest])[1]).toBe(
      'made no update in 9 of 10 runs',
    )
  })

  it('say nothing before there are six pairs of them, as claims do', () => {
    const of = (seeds: number, all = runs) =>
      outcome(
        all.filter(({ seed }) => Number(seed) <= seeds),
        { smallestEffect: 0.06 },
      )
    expect([1, 2, 3].map(seeds => of(seeds))).toEqual(['open', 'open', 'passed'])
    expect([1, 2, 3].map(seeds => of(seeds, gaining(0.2)))).toEqual(['open', 'open', 'failed'])
  })
})
