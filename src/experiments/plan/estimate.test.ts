import { describe, expect, it } from 'vitest'
import { fakeRegistration } from '../fake-paper.fixture.ts'
import { estimateSeconds, fitBudget, wallSeconds } from './estimate.ts'
import { jobsOf, workFolders } from './jobs.ts'

const registration = fakeRegistration()
const jobs = jobsOf(registration, workFolders('work', registration), () => ({
  steps: 100,
  evaluation: { every: 30 },
}))

describe('estimates', () => {
  it('come from the same arm, else from the recipe by steps, else from a calibration', () => {
    const known = {
      seconds: new Map([['better/a/1', 30]]),
      paces: new Map([[jobs[0].pace, { fixed: 2, perStep: 0.5, perEvaluation: 3 }]]),
    }
    const estimate = estimateSeconds(jobs, known)
    expect(estimate(jobs.find(({ id }) => id === 'better/b/2')!)).toBe(30)
    expect(estimate(jobs.find(({ id }) => id === 'plain/b/2')!)).toBeCloseTo(30)
    // Evaluated between after 30, 60 and 90 steps.
    expect(estimate(jobs[0])).toBe(2 + 100 * 0.5 + 3 * 3)
    expect(estimateSeconds(jobs, { seconds: new Map(), paces: new Map() })(jobs[1])).toBeNull()
  })

  it('of a cold start come from those of its own recipe and settings', () => {
    const starts = [
      { name: 'a', recipe: 'checklist-cold-start', seed: 1 },
      { name: 'b', recipe: 'checklist-cold-start', seed: 2 },
      { name: 'c', recipe: 'checklist-cold-start', seed: 3, settings: { batch: 64 } },
      { name: 'd', recipe: 'other', seed: 4 },
    ]
    const of = fakeRegistration({ starts })
    const all = jobsOf(of, workFolders('work', of), ({ settings }) =>
      Object.assign({ steps: 9 }, ...settings),
    )
    const estimate = estimateSeconds(all, { seconds: new Map([['start/a', 20]]), paces: new Map() })
    const found = starts.map(({ name }) => estimate(all.find(({ id }) => id === `start/${name}`)!))
    expect(found).toEqual([20, 20, null, null])
  })

  it('fit whole blocks into a budget', () => {
    const cost = () => 10
    // A block of four arms, the first two with their cold start: 50 s each one at a time, then 40.
    expect(fitBudget(jobs, cost, 1, 149)).toMatchObject({ blocks: 3, allBlocks: 10, seconds: 140 })
    expect(fitBudget(jobs, cost, 2, 149).blocks).toBe(6)
    expect(fitBudget(jobs, cost, 1, 10).chosen).toEqual([])
    expect(fitBudget(jobs, cost, 1, Number.POSITIVE_INFINITY).chosen).toHaveLength(jobs.length)
    expect(wallSeconds([5, 5, 60], 2)).toBe(60)
  })
})
