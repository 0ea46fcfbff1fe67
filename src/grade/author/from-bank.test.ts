import { describe, expect, it } from 'vitest'
import { DataError } from '../../util/errors.ts'
import { type CriterionCandidate, rubricFromBank } from './from-bank.ts'

const GOOD = [true, true, true, false, false, false]
const bits = (text: string) => [...text].map(x => (x === '-' ? null : x === '1'))
const candidate = (id: string, met: string, ...repeats: string[]): CriterionCandidate => ({
  id,
  text: `does ${id}`,
  met: bits(met),
  ...(repeats.length > 0 && { repeats: repeats.map(bits) }),
})
const ids = ({ rubric }: ReturnType<typeof rubricFromBank>) => rubric.criteria.map(({ id }) => id)

describe('rubricFromBank', () => {
  it('proposes what tells good from bad best, with points by phi and a sign', () => {
    const bank = [candidate('noise', '101010'), candidate('perfect', '111000'), candidate('flaw', '000110')]
    const result = rubricFromBank(bank, GOOD, { propose: 3 })
    // phi of noise: 2 of 3 good, 1 of 3 bad: 1/3. phi of flaw: 0 of 3, 2 of 3: -(6) / sqrt(2*4*9) = -.707.
    expect(result.rubric.criteria).toEqual([
      { id: 'perfect', text: 'does perfect', points: 5 },
      { id: 'flaw', text: 'does flaw', points: -4 },
      { id: 'noise', text: 'does noise', points: 2 },
    ])
    expect(result.stopped).toBe('no-change')
    expect(result.separated).toBe(1)
    expect(ids(rubricFromBank(bank, GOOD, { propose: 3, penalties: false }))).toEqual(['perfect', 'noise'])
    expect(ids(rubricFromBank(bank, GOOD, { propose: 3, minDiscrimination: 0.5 }))).toEqual([
      'perfect',
      'flaw',
    ])
  })

  it('leaves out what says nothing', () => {
    expect(ids(rubricFromBank([candidate('all', '111111'), candidate('half', '110110')], GOOD))).toEqual([])
  })

  it('drops the weaker of two that say the same or the opposite', () => {
    const bank = [candidate('a', '111000'), candidate('copy', '111000'), candidate('opposite', '000111')]
    const result = rubricFromBank(bank, GOOD)
    expect(ids(result)).toEqual(['a'])
    expect(result.rounds[0]).toEqual({ missing: [], redundant: ['copy', 'opposite'], ambiguous: [] })
    // phi between 1110000000 and 1111000000 is .80: below .9, both stay.
    const good = bits('1111100000').map(x => x === true)
    const close = [candidate('a', '1111000000'), candidate('b', '1110000000')]
    expect(ids(rubricFromBank(close, good))).toEqual(['a', 'b'])
  })

  it('drops what the judge decides differently each time, and does not take it back', () => {
    const bank = [candidate('wavers', '111000', '110001'), candidate('steady', '110000', '110000')]
    const result = rubricFromBank(bank, GOOD)
    expect(ids(result)).toEqual(['steady'])
    expect(result.rounds.map(({ ambiguous }) => ambiguous)).toEqual([['wavers'], []])
    // 1 of 12 repeats differs: 92% agreement is enough.
    expect(ids(rubricFromBank([candidate('x', '111000', '111000', '111001')], GOOD))).toEqual(['x'])
  })

  it('adds what separates the pairs that are left over, round by round', () => {
    // strong leaves the third good trace level with the bad ones; only rare tells it from them.
    const bank = [candidate('strong', '110000'), candidate('second', '100000'), candidate('rare', '001000')]
    const result = rubricFromBank(bank, GOOD, { propose: 1 })
    expect(ids(result)).toEqual(['strong', 'rare'])
    expect(result.rounds.map(({ missing }) => missing)).toEqual([['rare'], []])
    expect(result.separated).toBe(1)
    expect(ids(rubricFromBank(bank, GOOD, { propose: 1, maxCriteria: 1 }))).toEqual(['strong'])
    expect(rubricFromBank(bank, GOOD, { propose: 1, rounds: 0 }).separated).toBeCloseTo(6 / 9, 12)
  })

  it('does not add what orders as many of the pairs that are left over wrongly as rightly', () => {
    const good = [true, true, true, true, false, false, false, false, false]
    const first = candidate('first', '100000000')
    // Met by one of the three good traces that are left and by two of five bad ones: a coin there, though not over all.
    const coin = candidate('coin', '110011000')
    const telling = candidate('telling', '011010000')
    expect(ids(rubricFromBank([first, coin], good, { propose: 1 }))).toEqual(['first'])
    expect(ids(rubricFromBank([first, coin, telling], good, { propose: 1 }))).toContain('telling')
  })

  it('leaves traces without a verdict out, and refuses verdicts of other traces', () => {
    expect(ids(rubricFromBank([candidate('a', '11-00-')], GOOD))).toEqual(['a'])
    expect(() => rubricFromBank([candidate('a', '110')], GOOD)).toThrow(DataError)
    expect(() => rubricFromBank([candidate('a', '111000', '1')], GOOD)).toThrow(
      'expected verdicts of 6 traces',
    )
  })
})
