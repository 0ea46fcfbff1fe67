import { describe, expect, it } from 'vitest'
import type { ChatModel, ChatResponse, ChatUsage } from '../../chat/chat-model.ts'
import { judgeFleet } from '../../chat/index.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { JudgeError } from '../../util/errors.ts'
import type { GradeItem } from '../grader.ts'
import { llmJudge } from './judge.ts'
import type { VerdictStore } from './judge-options.ts'
import { isJudgements } from './verdicts.ts'

const item: GradeItem = { prompt: [{ role: 'user', content: 'Is aspirin safe?' }], response: 'Ask a doctor.' }
const criteria: Criterion[] = [
  { id: 'a', text: 'Advises to see a doctor', points: 5 },
  { id: 'b', text: 'Names a dose', points: -3 },
]
const yes = '{"explanation": "it does", "criteria_met": true}'
const both =
  '{"verdicts": [{"number": 1, "explanation": "x", "criteria_met": true}, {"number": 2, "explanation": "y", "criteria_met": false}]}'
const used: ChatUsage = { promptTokens: 100, completionTokens: 10, cachedTokens: 0 }

/** Answers in turn, the last one again and again. */
const answering = (...answers: (Partial<ChatResponse> | Error)[]): ChatModel & { calls: number } => ({
  name: 'configured',
  calls: 0,
  async complete() {
    const answer = answers[Math.min(this.calls++, answers.length - 1)]
    if (answer instanceof Error) throw answer
    return { text: yes, finishReason: 'stop', usage: used, ...answer }
  },
})

const memory = (): VerdictStore & { values: Map<string, unknown> } => {
  const values = new Map<string, unknown>()
  return { values, get: key => values.get(key), put: (key, value) => void values.set(key, value) }
}

describe('a verdict that tells of its call', () => {
  it('is so only where it is asked for', async () => {
    const [silent] = await llmJudge({ model: answering({}) }).grade(item, [criteria[0]])
    expect(silent).not.toHaveProperty('call')
    const [telling] = await llmJudge({ model: answering({ model: 'served-v2' }), tellsCalls: true }).grade(
      item,
      [criteria[0]],
    )
    expect(telling.call).toEqual({ judge: 'served-v2', raw: yes, promptTokens: 100, completionTokens: 10 })
  })

  it('shares it with the other verdicts of the call', async () => {
    const judge = llmJudge({ model: answering({ text: both }), tellsCalls: true, shape: 'rubric' })
    const [a, b] = await judge.grade(item, criteria)
    expect([a.met, b.met]).toEqual([true, false])
    expect(a.call).toBe(b.call)
    expect(a.call?.raw).toBe(both)
  })

  it('adds up what repairs took, and keeps the last answer', async () => {
    const model = answering({ text: 'well', cost: 0.5 }, { cost: 0.25 })
    const [{ call }] = await llmJudge({ model, tellsCalls: true, repairs: 1 }).grade(item, [criteria[0]])
    expect(call).toEqual({
      judge: 'configured',
      raw: yes,
      promptTokens: 200,
      completionTokens: 20,
      cost: 0.75,
      attempts: 2,
    })
  })

  it('says nothing of what is not known: tokens of one attempt, or a call without an answer', async () => {
    const silent = { promptTokens: null, completionTokens: null, cachedTokens: null }
    const model = answering({ text: 'well' }, { usage: silent })
    const [{ call }] = await llmJudge({ model, tellsCalls: true, repairs: 1 }).grade(item, [criteria[0]])
    expect(call).toEqual({ judge: 'configured', raw: yes, attempts: 2 })
    const broken = answering(new JudgeError('server', 'on fire'))
    const [failed] = await llmJudge({ model: broken, tellsCalls: true }).grade(item, [criteria[0]])
    expect([failed.met, failed.call]).toEqual([null, { judge: 'configured' }])
  })

  it('cuts a long answer in its middle and says so', async () => {
    const text = `${'thinking '.repeat(1000)}${yes}`
    const [{ call }] = await llmJudge({ model: answering({ text }), tellsCalls: true }).grade(item, [
      criteria[0],
    ])
    expect(call!.raw!.length).toBeLessThanOrEqual(2000)
    expect(call!.raw).toMatch(/characters are left out here/)
    expect(call!.raw!.endsWith(yes)).toBe(true)
  })

  it('is told with what an endpoint asks for it', async () => {
    const fleet = judgeFleet(
      {
        endpoints: [
          {
            url: 'http://127.0.0.1:1/v1',
            model: 'm',
            price: { inputPerMillion: 2, outputPerMillion: 10 },
          },
        ],
      },
      { connect: () => answering({}) },
    )
    const [{ call }] = await llmJudge({ model: fleet, tellsCalls: true }).grade(item, [criteria[0]])
    await fleet.close()
    // 100 tokens at 2 and 10 at 10 a million.
    expect(call?.cost).toBeCloseTo(0.0003, 12)
  })
})

describe('a remembered verdict', () => {
  it('brings the call that it was asked in', async () => {
    const cache = memory()
    const first = await llmJudge({ model: answering({ model: 'served' }), cache, tellsCalls: true }).grade(
      item,
      [criteria[0]],
    )
    const model = answering({})
    const again = await llmJudge({ model, cache, tellsCalls: true }).grade(item, [criteria[0]])
    expect(model.calls).toBe(0)
    expect(again[0]).toEqual({
      ...first[0],
      attempts: 0,
      call: { ...first[0].call, reused: 'cache' },
    })
  })

  it('of an older version has none, and who does not tell passes over it', async () => {
    const old = memory()
    await llmJudge({ model: answering({}), cache: old }).grade(item, [criteria[0]])
    const [verdict] = await llmJudge({ model: answering({}), cache: old, tellsCalls: true }).grade(item, [
      criteria[0],
    ])
    expect(verdict.call).toEqual({ judge: 'configured', reused: 'cache' })
    const cache = memory()
    await llmJudge({ model: answering({}), cache, tellsCalls: true }).grade(item, [criteria[0]])
    const [value] = cache.values.values()
    // The shape that every version reads.
    expect(isJudgements(value, 1)).toBe(true)
    const [plain] = await llmJudge({ model: answering({}), cache }).grade(item, [criteria[0]])
    expect(plain).toEqual({
      criterionId: 'a',
      met: true,
      explanation: 'it does',
      source: 'llm',
      attempts: 0,
    })
  })

  it('says when another response waited for the same answer', async () => {
    const judge = llmJudge({ model: answering({}), tellsCalls: true, cache: memory() })
    const [[first], [second]] = await Promise.all([
      judge.grade(item, [criteria[0]]),
      judge.grade(item, [criteria[0]]),
    ])
    expect(first.call).not.toHaveProperty('reused')
    expect(second.call).toEqual({ ...first.call, reused: 'shared' })
  })
})
