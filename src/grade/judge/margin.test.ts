import { describe, expect, it } from 'vitest'
import type { TokenLogprob } from '../../chat/chat-model.ts'
import { verdictMargins } from './ask.ts'

const plain = (token: string): TokenLogprob => ({ token, logprob: 0, top: [] })
const token = (text: string, logprob: number, top: Record<string, number>): TokenLogprob => ({
  token: text,
  logprob,
  top: Object.entries(top).map(([other, value]) => ({ token: other, logprob: value })),
})

describe('margin of a verdict', () => {
  it('is the gap to the best token for another verdict', () => {
    const tokens = [
      plain('{"criteria_met": '),
      token('true', -0.5, { true: -0.5, True: -1, ' false': -1.25, false: -2 }),
      plain('}'),
    ]
    expect(verdictMargins(tokens, 'criteria_met')).toEqual([0.75])
  })

  it('finds the verdict in tokens that are cut anywhere', () => {
    const tokens = [
      plain('{"criteria'),
      plain('_met'),
      plain('"'),
      token('":true', -0.1, { '":true': -0.1, '":false': -2.6 }),
    ]
    // The quote before the colon came twice; the key is closed by the first.
    expect(verdictMargins([tokens[0], tokens[1], tokens[3]], 'criteria_met')).toEqual([2.5])
    const split = [plain('{"criteria_met":'), token(' t', -0.2, { ' t': -0.2, ' f': -1.8 }), plain('rue}')]
    expect(verdictMargins(split, 'criteria_met')[0]).toBeCloseTo(1.6, 12)
  })

  it('is at least the gap to the least likely alternative, where no rival is shown', () => {
    const tokens = [plain('{"level": '), token('2', -0.01, { '2': -0.01, ' 2': -5 })]
    expect(verdictMargins(tokens, 'level')[0]).toBeCloseTo(4.99, 12)
  })

  it('is one a verdict of a list, and null where the tokens do not show it', () => {
    const tokens = [
      plain('{"verdicts": [{"criteria_met": '),
      token('true', 0, { true: 0, false: -3 }),
      plain('}, {"criteria_met": '),
      plain('false'),
      plain('}], "note": "\\"criteria_met\\": true"}'),
    ]
    expect(verdictMargins(tokens, 'criteria_met')).toEqual([3, null])
    expect(verdictMargins([plain('no verdict')], 'criteria_met')).toEqual([])
  })

  it('takes any number of tokens and alternatives, and numbers that are none', () => {
    const many = Array.from({ length: 300_000 }, () => ({ token: 'false', logprob: -3 }))
    const tokens = Array.from({ length: 30_000 }, () => plain('"criteria_met": true'))
    tokens.push(plain('"criteria_met": '), { token: 'true', logprob: -1, top: many })
    expect(verdictMargins(tokens, 'criteria_met').at(-1)).toBe(2)
    const odd = [plain('"criteria_met": '), token('true', Number.NaN, { false: -1 })]
    expect(verdictMargins(odd, 'criteria_met')).toEqual([null])
  })
})
