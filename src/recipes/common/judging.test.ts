import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { recentVerdicts } from '../../grade/judge/recent-verdicts.ts'
import { trainingJudgeSchema } from '../options/held-out-judge.ts'
import { openJudging } from './judging.ts'

const judge = trainingJudgeSchema.parse({
  fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody' }] },
  ask: { retries: 0 },
})

const CRITERIA = [{ id: 'kind', text: 'Is kind', points: 1 }]
const item = (response: string) => ({
  id: 'x',
  prompt: [{ role: 'user' as const, content: 'Hello?' }],
  response,
})

describe('a judge without a cache', () => {
  it('says the same again of the same response, whether the calls overlap or not', async () => {
    // Another opinion at every call, as a judge at a temperature may have.
    const moody = scriptedModel((_, call) => `{"explanation": "", "criteria_met": ${call % 2 === 0}}`)
    const { grader, metrics } = openJudging(judge, moody)
    const metBy = async (response: string) => (await grader.grade(item(response), CRITERIA))[0].met
    const together = await Promise.all([metBy('Hi!'), metBy('Hi!')])
    expect([...together, await metBy('Hi!')]).toEqual([true, true, true])
    expect(await metBy('No.')).toBe(false)
    expect(metrics()).toMatchObject({ judgeCallCount: 2, judgeCachedShare: 0.5, judgeFailedCalls: 0 })
    expect(metrics()).toMatchObject({ judgeCallCount: 0, judgeCachedShare: null })
  })

  it('asks again where the answer could not be used', async () => {
    const slow = scriptedModel((_, call) =>
      call === 0 ? 'no idea' : '{"explanation": "", "criteria_met": true}',
    )
    const { grader } = openJudging(judge, slow)
    const [first] = await grader.grade(item('Hi!'), CRITERIA)
    const [second] = await grader.grade(item('Hi!'), CRITERIA)
    expect([first.met, second.met]).toEqual([null, true])
  })
})

it('the latest verdicts are remembered, no more than so many', () => {
  const store = recentVerdicts(2)
  for (const key of ['a', 'b', 'c']) store.put(key, [key])
  expect(['a', 'b', 'c'].map(key => store.get(key))).toEqual([undefined, ['b'], ['c']])
})

it('the latest verdicts are remembered, of no more than so many characters in all', () => {
  const store = recentVerdicts(100, 1000)
  const said = (characters: number) => [{ met: true, explanation: 'x'.repeat(characters) }]
  for (const key of ['a', 'b', 'c']) store.put(key, said(400))
  expect(['a', 'b', 'c'].map(key => store.get(key) !== undefined)).toEqual([false, true, true])
  // What is put again is counted once.
  for (let i = 0; i < 9; i++) store.put('c', said(400))
  expect(store.get('b')).toEqual(said(400))
  store.put('endless', said(5000))
  expect(['a', 'b', 'c', 'endless'].map(key => store.get(key))).toEqual(Array(4).fill(undefined))
  store.put('d', said(10))
  expect(store.get('d')).toEqual(said(10))
})
