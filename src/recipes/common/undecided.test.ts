import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../rubric/criterion.ts'
import { assertJudged, refuseUndecided } from './undecided.ts'

const verdict = (met: boolean | null, source: Verdict['source'] = 'llm'): { verdicts: Verdict[] } => ({
  verdicts: [{ criterionId: 'a', met, source, explanation: 'no JSON', raw: 'Sure!\u001b[0m' }],
})
const four = (met: boolean | null, source?: Verdict['source']) =>
  Array.from({ length: 4 }, () => verdict(met, source))

describe('refuseUndecided', () => {
  it('stops where no verdict of a judge came, with what it said and what to do', () => {
    expect(() => refuseUndecided(four(null))).toThrow(
      'the judge decided nothing: all of 4 verdicts before the first step are missing. The first: no JSON; it answered: Sure!\\u001b[0m',
    )
  })

  it('goes on where one came, where rules failed, and where so few were asked for that it may be chance', () => {
    refuseUndecided([...four(null), verdict(false)])
    refuseUndecided(four(null, 'rule'))
    refuseUndecided(four(null).slice(1))
  })
})

describe('assertJudged', () => {
  const rewarded = (met: boolean | null, n: number) => [
    Array.from({ length: n }, () => ({ ...verdict(met), reward: 0 })),
  ]

  it('stops where a judge says nothing in a whole step though all is paid', () => {
    expect(() => assertJudged(rewarded(null, 4))).toThrow('expected verdicts on 4 rollouts')
  })

  it('goes on where so few were asked for that it may be chance, and where one came', () => {
    assertJudged(rewarded(null, 3))
    assertJudged([...rewarded(null, 4), ...rewarded(true, 1)])
  })
})
