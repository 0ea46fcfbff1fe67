import { describe, expect, it } from 'vitest'
import { JOBS } from '../scripts/chaos/jobs.js'
import { FAULTS, faultsOf, planAttempt, planRound } from '../scripts/chaos/plan.js'
import { RECIPES_BY_NAME } from '../src/recipes/by-name.ts'
import { Rng } from '../src/util/rng.ts'

describe('the plan of a round', () => {
  it('is the same for the same seed, and another for another seed or round', () => {
    expect(planRound(1, 1)).toEqual(planRound(1, 1))
    expect(planRound(2, 1)).not.toEqual(planRound(1, 1))
    expect(planRound(1, 2)).not.toEqual(planRound(1, 1))
  })

  it('gives every job each of its faults once', () => {
    const trials = planRound(1, 1).map(({ job, fault }) => `${job.name}: ${fault}`)
    expect(new Set(trials).size).toBe(trials.length)
    expect(trials.length).toBe(JOBS.reduce((sum, job) => sum + faultsOf(job).length, 0))
    expect(new Set(planRound(1, 1).map(({ fault }) => fault))).toEqual(new Set(FAULTS))
  })

  it('leaves out no recipe', () => {
    const names = JOBS.flatMap(({ recipe = [] }) => recipe)
    expect(new Set(names)).toEqual(new Set(Object.keys(RECIPES_BY_NAME)))
  })

  it('keeps to the jobs and faults that were asked for, and plans them as it would among all', () => {
    const some = planRound(1, 1, { recipe: 'ruscarl, judge', fault: 'judge-' })
    expect(some).toHaveLength(9)
    const all = planRound(1, 1)
    for (const trial of some) expect(all).toContainEqual(trial)
  })
})

describe('the plan of an attempt', () => {
  it('knows every kind of fault, with moments within the run', () => {
    for (const fault of FAULTS.filter(name => name !== 'mixed'))
      for (let i = 0; i < 50; i++) {
        const attempt = planAttempt(new Rng(i), fault) as { at?: number; waitMs?: number }
        expect(attempt).toMatchObject({ fault })
        expect(attempt.at ?? 0).toBeGreaterThanOrEqual(0)
        expect(attempt.at ?? 0).toBeLessThanOrEqual(1)
        expect(attempt.waitMs ?? 0).toBeGreaterThanOrEqual(0)
      }
  })

  it('refuses one that there is not', () => {
    expect(() => planAttempt(new Rng(1), 'earthquake')).toThrow('earthquake')
  })
})
