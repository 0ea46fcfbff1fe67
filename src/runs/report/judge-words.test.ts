import { describe, expect, it } from 'vitest'
import type { RolloutRow, RolloutVerdict } from '../rows.ts'
import { callTotals, describeCall, judgeName, rowCallOf } from './judge-words.ts'

const asked = { judge: 'm', raw: 'r', promptTokens: 1812, completionTokens: 64, cost: 0.0003 }
const row = { judgeCalls: [asked, { judge: 'n', reused: 'cache' }] } as unknown as RolloutRow
const verdict = (own: Partial<RolloutVerdict>): RolloutVerdict => ({ criterionId: 'c', met: true, ...own })

describe('a verdict in words', () => {
  it('has a judge, a program, or nobody where an older run does not say', () => {
    const names = [{ call: 0 }, { call: 1 }, { source: 'rule' as const }, { source: 'formal' as const }, {}]
    expect(names.map(own => judgeName(verdict(own), row))).toEqual(['m', 'n', 'rule', 'solver', null])
    // A place that is not there, in a file of strangers.
    expect(judgeName(verdict({ call: 7 }), row)).toBeNull()
    expect(rowCallOf(verdict({ call: 0 }), {} as RolloutRow)).toBeNull()
  })

  it('says what it took, and of a remembered one what it took then', () => {
    expect(describeCall(asked)).toBe('1,812 tokens in, 64 out · cost 0.0003')
    expect(describeCall({ judge: 'n', reused: 'cache' })).toBe('from the cache')
    expect(describeCall({ ...asked, attempts: 2, reused: 'shared' })).toBe(
      'asked for another rollout at the same time; then 1,812 tokens in, 64 out · cost 0.0003 · 2 attempts',
    )
    expect(describeCall({ judge: 'n' })).toBe('')
  })

  it('adds up what was asked for now, and says no sum that is not known', () => {
    expect(callTotals([asked, { ...asked, reused: 'cache' }])).toBe(
      '2 questions to judges, 1 of them not asked anew · 1876 tokens · cost 0.0003',
    )
    expect(callTotals([asked, { judge: 'n' }])).toBe('2 questions to judges')
    expect(callTotals([{ ...asked, reused: 'cache' }])).toBe('1 question to judges, 1 of them not asked anew')
  })
})
