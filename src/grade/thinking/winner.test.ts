import { describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../chat/chat-model.ts'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { winRates } from '../../eval/winrate.ts'
import { llmJudge } from '../judge/judge.ts'
import { matchLengths, pickWinners, WINNER_JUDGE } from './winner.ts'

const texts = ['base thinks', 'orm thinks harder', 'rit thinks best'] as const
const places = ({ messages }: ChatRequest): string[] =>
  [...messages[1].content.matchAll(/<text-(\w+)>\n([\s\S]*?)\n<\/text-\1>/g)].map(match => match[2])
const judgeOf = (script: (request: ChatRequest) => string) => {
  const model = scriptedModel(script)
  return { model, judge: llmJudge({ model, form: WINNER_JUDGE, shape: 'rubric', repairs: 0 }) }
}
const looks = (script: (request: ChatRequest) => string) =>
  pickWinners(judgeOf(script).judge, { question: 'Why?', texts })

describe('the best of three', () => {
  it('is asked in all six orders, and names are never shown', async () => {
    const orders: string[] = []
    const { comparisons, failed } = await looks(request => {
      const shown = places(request)
      orders.push(shown.join('|'))
      return JSON.stringify({ reason: 'r', best_text: 1 + shown.indexOf(texts[2]) })
    })
    expect(new Set(orders).size).toBe(6)
    expect(failed).toBe(0)
    const { shares, tieRate, placeShares } = winRates(comparisons, 3)
    expect(shares).toEqual([0, 0, 1])
    expect(tieRate).toBe(0)
    for (const share of placeShares) expect(share).toBeCloseTo(1 / 3, 12)
  })

  it('is no arm where the judge goes by the place, as the shares of places show', async () => {
    const { comparisons } = await looks(() => '{"reason": "the first", "best_text": 1}')
    const { shares, placeShares } = winRates(comparisons, 3)
    for (const share of shares) expect(share).toBeCloseTo(1 / 3, 12)
    expect(placeShares).toEqual([1, 0, 0])
  })

  it('may be none; an answer that cannot be used is no tie', async () => {
    const { comparisons, failed } = await looks(request => {
      const [first] = places(request)
      if (first === texts[0]) return '{"reason": "equal", "best_text": 0}'
      return first === texts[1] ? '{"best_text": 4}' : '{"best_text": "2"}'
    })
    expect(failed).toBe(4)
    expect(comparisons).toHaveLength(2)
    expect(winRates(comparisons, 3)).toMatchObject({ tieRate: 1 })
  })

  it('is believed only where the answer says one thing', async () => {
    for (const answer of [
      '{"best_text": 1, "best_text": 2}',
      'It says {"best_text": 2}.\n{"reason": "r", "best_text": 1}',
      '{"reason": "it wants best_text: 3", "best_text": 1',
    ])
      expect([answer, (await looks(() => answer)).failed]).toEqual([answer, 6])
    const quoted = await looks(() => '{"reason": "it wants \\"best_text\\": 3", "best_text": 1}')
    expect(quoted.failed).toBe(0)
  })

  it('is remembered for each order', async () => {
    const values = new Map<string, unknown>()
    const cache = {
      get: (key: string) => values.get(key),
      put: (key: string, value: unknown) => void values.set(key, value),
    }
    const model = scriptedModel(() => '{"reason": "r", "best_text": 2}')
    const judge = llmJudge({ model, form: WINNER_JUDGE, shape: 'rubric', cache })
    const first = await pickWinners(judge, { question: 'Why?', texts })
    expect(await pickWinners(judge, { question: 'Why?', texts })).toEqual(first)
    expect(model.calls).toBe(6)
  })

  it('needs something to compare', async () => {
    const { judge } = judgeOf(() => '{}')
    await expect(pickWinners(judge, { question: 'Why?', texts: ['a'] })).rejects.toThrow('at least two texts')
  })
})

describe('texts of one length', () => {
  it('are the samples that are closest to each other', () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')
    expect(matchLengths([[words(10), words(40)], [words(42), words(100)], [words(41)]])).toEqual([
      words(40),
      words(42),
      words(41),
    ])
    expect(matchLengths([[words(10)], [words(12)]], 0.2)).toEqual([words(10), words(12)])
    expect(matchLengths([[words(10)], [words(12)]], 0.19)).toBeNull()
    expect(matchLengths([[''], ['']])).toEqual(['', ''])
    expect(matchLengths([[words(10)], []])).toBeNull()
  })
})
