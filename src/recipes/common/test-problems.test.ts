import { describe, expect, it } from 'vitest'
import { testProblems } from './evaluation-config.ts'

describe('problems of an evaluation', () => {
  const evaluation = { problems: 100, problemsAtStart: 30, problemsBetween: 20 }
  const counts = (steps: number, settings = evaluation) =>
    [0, 1, steps].map(step => testProblems({ steps, evaluation: settings }, step, step > 0 && step === steps))

  it('are all of them at the end, and as many at the start unless that is to be shorter', () => {
    expect(counts(5)).toEqual([30, 20, 100])
    expect(counts(5, { problems: 100, problemsBetween: 20 } as typeof evaluation)).toEqual([100, 20, 100])
  })

  it('are all of them where the start is the end', () => {
    expect(testProblems({ steps: 0, evaluation }, 0, false)).toBe(100)
  })
})
