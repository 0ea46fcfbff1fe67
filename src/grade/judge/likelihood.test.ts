import { describe, expect, it } from 'vitest'
import type { ChatModel, ChatRequest, TokenLogprob } from '../../chat/chat-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { verdictDemonstration } from './demonstrations.ts'
import { llmJudge } from './judge.ts'
import type { JudgeOptions } from './judge-options.ts'

const MERIT: Criterion = { id: 'polite', text: 'Is polite.', points: 1 }
const FLAW: Criterion = { id: 'long', text: 'Is long.', points: -1 }
const SCORED: Criterion = {
  ...{ id: 'grade', text: 'How good?', points: 2 },
  levels: [
    { low: 0, high: 0, text: 'bad' },
    { low: 1, high: 1, text: 'good' },
  ],
}
const ITEM = { prompt: [{ role: 'user' as const, content: 'hello' }], response: 'good day' }

const words = (chances: Record<string, number>): TokenLogprob => {
  const top = Object.entries(chances).map(([token, chance]) => ({ token, logprob: Math.log(chance) }))
  return { ...top[0], top }
}

const judge = (first: TokenLogprob | null, options: Partial<JudgeOptions> = {}) => {
  const asked: ChatRequest[] = []
  const model: ChatModel = {
    name: 'm',
    async complete(request) {
      asked.push(request)
      const json = request.answerSchema ? '{"explanation": "e", "score": 1}' : (first?.token ?? 'Yes')
      const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: null }
      return { text: json, finishReason: 'length', usage, ...(first && { logprobs: [first] }) }
    },
  }
  const grader = llmJudge({ model, levels: 'likelihood', retries: 3, ...options })
  return { asked, grader, grade: (...criteria: Criterion[]) => grader.grade(ITEM, criteria) }
}

describe('a verdict by the likelihood of a word', () => {
  it('asks for one token with its alternatives, and adds up spellings', async () => {
    const { asked, grade } = judge(words({ No: 0.4, Yes: 0.3, ' yes': 0.2, YES: 0.05, Maybe: 0.05 }))
    const [verdict] = await grade(MERIT)
    expect(asked).toMatchObject([{ maxTokens: 1, temperature: 0, topLogprobs: 20 }])
    expect(asked[0].answerSchema).toBeUndefined()
    expect(asked[0].messages.map(({ content }) => content).join()).toMatch(
      /good day[\s\S]*Is polite[\s\S]*Answer Yes or No/,
    )
    expect(verdict).toMatchObject({ criterionId: 'polite', met: true })
    expect(verdict.logOdds).toBeCloseTo(Math.log(0.55 / 0.4), 12)
    expect(verdict.margin).toBeCloseTo(Math.log(0.55 / 0.4), 12)
  })

  it('is demonstrated in the very words that it is asked with', async () => {
    const { asked, grade } = judge(words({ No: 0.6, Yes: 0.4 }))
    await grade(FLAW)
    const { messages } = verdictDemonstration({ ...ITEM, criterion: FLAW, label: false })
    expect(messages.slice(0, -1)).toEqual(asked[0].messages)
    expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'No' })
    expect(() => verdictDemonstration({ ...ITEM, criterion: SCORED, label: true })).toThrow(/with levels/)
  })

  it('takes the least likely alternative for a word that is not among them', async () => {
    const { grade } = judge(words({ No: 0.9, Not: 0.06, '"': 0.01 }))
    const [{ met, logOdds }] = await grade(FLAW)
    expect(met).toBe(false)
    expect(logOdds).toBeCloseTo(Math.log(0.01 / 0.9), 12)
  })

  it('keeps chances that are too small for a number', async () => {
    const top = [
      { token: 'Yes', logprob: 0 },
      { token: 'No', logprob: -9999 },
    ]
    const [{ met, logOdds }] = await judge({ ...top[0], top }).grade(MERIT)
    expect([met, logOdds]).toEqual([true, 9999])
  })

  it('is asked without filters that would take alternatives away', async () => {
    const { asked, grade } = judge(words({ Yes: 0.6, No: 0.4 }), {
      topP: 0.8,
      topK: 20,
      presencePenalty: 1.5,
    })
    await grade(MERIT)
    for (const name of ['topP', 'topK', 'presencePenalty'] as const) expect(asked[0][name]).toBeUndefined()
  })

  it('asks about criteria one at a time whatever the shape, and about one with scores of its own as ever', async () => {
    const { asked, grade } = judge(words({ Yes: 0.9, No: 0.1 }), { shape: 'rubric' })
    const verdicts = await grade(MERIT, SCORED, FLAW)
    expect(verdicts.map(({ criterionId }) => criterionId)).toEqual(['polite', 'grade', 'long'])
    expect(verdicts.map(({ met }) => met)).toEqual([true, null, true])
    expect(asked.filter(({ maxTokens }) => maxTokens === 1)).toHaveLength(2)
  })

  it('is calibrated after it is remembered: another calibration needs no call', async () => {
    const store = new Map<string, unknown>()
    const cache = {
      get: (key: string) => store.get(key),
      put: (key: string, value: unknown) => void store.set(key, value),
    }
    const plain = judge(words({ Yes: 0.6, No: 0.4 }), { cache })
    expect((await plain.grade(MERIT))[0].met).toBe(true)
    const other = judge(null, { cache, calibration: { temperature: 2, bias: -1 } })
    const [verdict] = await other.grade(MERIT)
    expect(other.asked).toHaveLength(0)
    expect(verdict.met).toBe(false)
    expect(verdict.logOdds).toBeCloseTo(Math.log(1.5), 12)
    expect(verdict.margin).toBeCloseTo(1 - Math.log(1.5) / 2, 12)
  })

  it('has a calibration, which no other scale has', () => {
    const calibration = { temperature: 1, bias: 0 }
    expect(() => judge(null, { levels: 'yes-no', calibration })).toThrow(
      /judge: calibration: expected levels: likelihood|judge.*calibration.*expected levels: likelihood/,
    )
  })

  it.each([
    [null, /no log-probs/],
    [{ token: 'Yes', logprob: -0.1, top: [] }, /no alternatives/],
    [words({ '<think>': 0.9, Well: 0.1 }), /less likely than 1% .* "<think>", "Well"/],
    [words({ '<think>': 0.99, Yes: 1e-6, No: 1e-8 }), /less likely than 1% .* "<think>", "Yes"/],
    [{ ...words({ Yes: 0.9, No: 0.1 }), top: [{ token: 'Yes', logprob: Number.NaN }] }, /no alternatives/],
  ] as const)(
    'is null with the reason, and not asked for again, where %j is the answer',
    async (first, reason) => {
      const { asked, grade } = judge(first as TokenLogprob | null)
      const [verdict] = await grade(MERIT)
      expect(verdict).toMatchObject({ met: null, explanation: expect.stringMatching(reason) })
      expect(asked).toHaveLength(1)
    },
  )
})
