import { describe, expect, it } from 'vitest'
import type { Graded } from '../../rl/rollout.ts'
import { teacherCredit } from './credit.ts'

/** A rollout with these log-probs of its own; `mask` 0 where the environment wrote. */
const sampled = (logprobs: number[], mask = logprobs.map(() => 1)): Graded<string, null> => ({
  ...{ problem: 'p', grade: null, reward: null, parts: {} },
  rollout: {
    ...{ key: '1/1/0/0', role: 'policy', group: '1/1/0', sample: 0, prompt: [1], end: 'stop', turns: [] },
    tokens: Int32Array.from(logprobs, () => 5),
    mask: Uint8Array.from(mask),
    logprobs: Float32Array.from(logprobs),
  },
})

describe('what a teacher pays a token', () => {
  // Teacher less student: 1, -2, then 4 and (masked) 7.
  const groups = [[sampled([-3, -1])], [sampled([-5, -9], [1, 0])]]
  const teacher = [
    [-2, -3],
    [-1, -2],
  ]

  it('is its log-prob less that of the student, and nothing where the environment wrote', () => {
    const { credited, gap } = teacherCredit(groups, teacher, 'none')
    expect(credited.flat().map(({ advantages }) => [...advantages])).toEqual([
      [1, -2],
      [4, 0],
    ])
    // log π - log π_T: (-1 + 2 - 4) / 3; all three are off by more than a factor of two.
    expect(gap).toEqual({ kl: -1, changes: 1 })
  })

  it('is compared with the mean over all tokens that the policy wrote', () => {
    const { credited } = teacherCredit(groups, teacher, 'batch')
    expect(credited.flat().map(({ advantages }) => [...advantages])).toEqual([
      [0, -3],
      [3, 0],
    ])
  })

  it('counts tokens as changed from a factor of two on', () => {
    const own = [[sampled([-1, -1, -1, -1])]]
    const near = [[-1, -1.6, -1.7, -0.2]]
    expect(teacherCredit(own, near, 'none').gap.changes).toBe(0.5)
  })

  it('stops at a teacher that tells no number', () => {
    expect(() =>
      teacherCredit(
        groups,
        [
          [-2, Number.NaN],
          [-1, -2],
        ],
        'batch',
      ),
    ).toThrow(/log-prob of the teacher for token 1, got NaN/)
  })
})
