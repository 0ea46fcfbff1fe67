import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { ConfigError, JudgeError } from '../../util/errors.ts'
import type { GradeItem } from '../grader.ts'
import { llmJudge } from './judge.ts'

const item: GradeItem = {
  prompt: [
    { role: 'system', content: 'SECRET HINT' },
    { role: 'user', content: 'Is aspirin safe?' },
  ],
  response: 'Ask a doctor.',
  reference: 'REFERENCE',
}
const criteria: Criterion[] = [
  { id: 'a', text: 'Advises to see a doctor', points: 5 },
  { id: 'b', text: 'Names a dose', points: -3 },
  { id: 'c', text: 'Is polite', points: 1 },
]
const yes = '{"explanation": "it does", "criteria_met": true}'
const no = '{"explanation": "it does not", "criteria_met": false}'
const prompt = (request: { messages: readonly { content: string }[] }) =>
  request.messages.map(({ content }) => content).join('\n')

describe('a criterion a call', () => {
  it('gives verdicts in the order of the criteria, whichever answer comes first', async () => {
    const model = scriptedModel(async request => {
      const penalty = prompt(request).includes('Names a dose')
      await new Promise(resolve => setTimeout(resolve, penalty ? 1 : 15))
      return penalty ? no : yes
    })
    const verdicts = await llmJudge({ model }).grade(item, criteria)
    expect(verdicts).toEqual([
      { criterionId: 'a', met: true, explanation: 'it does', source: 'llm', attempts: 1 },
      { criterionId: 'b', met: false, explanation: 'it does not', source: 'llm', attempts: 1 },
      { criterionId: 'c', met: true, explanation: 'it does', source: 'llm', attempts: 1 },
    ])
  })

  it('puts what the calls share first, the criterion last, and asks by its sign', async () => {
    const seen: string[] = []
    const model = scriptedModel(request => {
      seen.push(request.messages.at(-1)?.content ?? '')
      return yes
    })
    await llmJudge({ model }).grade(item, criteria)
    const shared = seen[0].slice(0, seen[0].indexOf('The criterion'))
    expect(shared).toContain('Ask a doctor.')
    expect(seen.every(text => text.startsWith(shared))).toBe(true)
    expect(seen[0]).toContain('desirable: a merit')
    expect(seen[1]).toContain('Is this flaw in the reply?')
    expect(seen[0]).not.toContain('flaw')
  })

  it('hides system messages and the reference unless asked to show them', async () => {
    const seen: string[] = []
    const model = scriptedModel(request => {
      seen.push(prompt(request))
      return yes
    })
    await llmJudge({ model }).grade(item, [criteria[0]])
    await llmJudge({ model, showSystem: true, showReference: true }).grade(item, [criteria[0]])
    expect([/SECRET/, /REFERENCE/].map(text => text.test(seen[0]))).toEqual([false, false])
    expect([/SECRET/, /REFERENCE/].map(text => text.test(seen[1]))).toEqual([true, true])
  })

  it('asks for a structure in which the verdict follows the reasoning', async () => {
    const model = scriptedModel(({ answerSchema }) => {
      expect(Object.keys(answerSchema?.schema.properties as object)).toEqual(['explanation', 'criteria_met'])
      expect(answerSchema?.schema.required).toEqual(['explanation', 'criteria_met'])
      return yes
    })
    await llmJudge({ model }).grade(item, criteria)
    expect(model.calls).toBe(3)
  })

  it('repairs once, with the reason, then says null and keeps the raw text', async () => {
    const prompts: string[] = []
    const healed = scriptedModel((request, call) => {
      prompts.push(prompt(request))
      return call === 0 ? '{"explanation": "ok", "criteria_met": "true"}' : yes
    })
    const [verdict] = await llmJudge({ model: healed }).grade(item, [criteria[0]])
    expect(verdict).toMatchObject({ met: true, attempts: 2 })
    expect(prompts[1]).toContain('expected true or false, got "true"')

    const stubborn = scriptedModel(() => 'I would say yes.')
    const judge = llmJudge({ model: stubborn })
    expect(await judge.grade(item, [criteria[1]])).toEqual([
      {
        criterionId: 'b',
        met: null,
        explanation: 'the answer holds no JSON',
        raw: 'I would say yes.',
        source: 'llm',
        attempts: 2,
      },
    ])
    expect(judge.stats()).toMatchObject({
      nulls: { positive: 0, negative: 1 },
      unusableCalls: 1,
      attempts: 2,
    })
    const bare = llmJudge({ model: stubborn, repairs: 0, nullsKeepRaw: false })
    expect((await bare.grade(item, [criteria[1]]))[0]).not.toHaveProperty('raw')
    expect(stubborn.calls).toBe(3)
  })

  it('asks afresh as often as it is told, each time with another seed', async () => {
    const seeds: (number | undefined)[] = []
    const model = scriptedModel(request => {
      seeds.push(request.seed)
      return seeds.length === 3 ? yes : 'no idea'
    })
    const judge = llmJudge({ model, repairs: 0, retries: 10, seed: 7, sampleIndex: 1 })
    expect((await judge.grade(item, [criteria[0]], { sampleIndex: 2 }))[0]).toMatchObject({
      met: true,
      attempts: 3,
    })
    expect(seeds).toEqual([10, 1010, 2010])
  })

  it('leaves no call behind where the cache fails', async () => {
    const model = scriptedModel(() => yes)
    let looks = 0
    const get = () => {
      if (++looks === 2) throw new Error('the disk failed')
    }
    const judge = llmJudge({ model, cache: { get, put: () => {} } })
    await expect(judge.grade(item, criteria)).rejects.toThrow('the disk failed')
    expect(model.calls).toBe(0)
  })

  it('makes a failed judge null with the reason, never a zero and never an error', async () => {
    const failures = [
      new JudgeError('server', 'HTTP 503'),
      new JudgeError('bad-request', 'prompt too long'),
      new TypeError('fetch failed'),
    ]
    const model = scriptedModel((_request, call) => {
      throw failures[call]
    })
    const judge = llmJudge({ model })
    const verdicts = await judge.grade(item, criteria)
    expect(verdicts.map(({ met }) => met)).toEqual([null, null, null])
    expect(verdicts[0].explanation).toContain('HTTP 503')
    expect(verdicts[2].explanation).toContain('fetch failed')
    expect(judge.stats()).toMatchObject({
      failedCalls: 3,
      unusableCalls: 0,
      nulls: { positive: 2, negative: 1 },
    })
  })

  it('stops on what every call would meet', async () => {
    for (const error of [new JudgeError('auth', 'HTTP 401'), new ConfigError('no such model')]) {
      const model = scriptedModel(() => {
        throw error
      })
      await expect(llmJudge({ model }).grade(item, criteria)).rejects.toBe(error)
    }
    expect(() => llmJudge({ model: scriptedModel(() => yes), shape: { batch: 0 } })).toThrow(ConfigError)
  })

  it('says what a filter or a token limit did', async () => {
    const filtered = scriptedModel(() => ({ text: '', finishReason: 'content_filter' }))
    const [refused] = await llmJudge({ model: filtered }).grade(item, [criteria[0]])
    expect(refused.explanation).toContain('withheld')
    expect(filtered.calls).toBe(1)
    const cut = scriptedModel(() => ({
      text: '{"explanation": "It says "criteria_met": true, and',
      finishReason: 'length',
    }))
    const [verdict] = await llmJudge({ model: cut }).grade(item, [criteria[0]])
    expect(verdict.met).toBeNull()
    expect(verdict.explanation).toContain('cut off')
  })

  it('ends at once when the signal is aborted, and cancels its calls', async () => {
    const controller = new AbortController()
    const signals: AbortSignal[] = []
    const model = scriptedModel(request => {
      signals.push(request.signal as AbortSignal)
      return new Promise<string>(() => {})
    })
    const grading = llmJudge({ model }).grade(item, criteria, { signal: controller.signal })
    await new Promise(resolve => setTimeout(resolve, 5))
    controller.abort(new Error('enough'))
    await expect(grading).rejects.toThrow('enough')
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true])
    await expect(llmJudge({ model }).grade(item, criteria, { signal: controller.signal })).rejects.toThrow(
      'enough',
    )
    expect(model.calls).toBe(3)
  })
})

describe('many responses at a time', () => {
  it('share a signal without a warning, and all end with it', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    const controller = new AbortController()
    const judge = llmJudge({ model: scriptedModel(() => new Promise<string>(() => {})) })
    const grading = Array.from({ length: 50 }, (_, i) =>
      judge.grade({ ...item, response: `${i}` }, criteria, { signal: controller.signal }),
    )
    const ended = Promise.allSettled(grading)
    await new Promise(resolve => setTimeout(resolve, 5))
    controller.abort()
    expect((await ended).map(({ status }) => status)).toEqual(new Array(50).fill('rejected'))
    await new Promise(resolve => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

describe('several criteria a call', () => {
  const list = (entries: unknown[]) => JSON.stringify({ verdicts: entries })
  const entry = (number: number, met: unknown) => ({ number, explanation: 'x', criteria_met: met })

  it('reads the whole rubric from one answer', async () => {
    const model = scriptedModel(() => list([entry(1, true), entry(2, false), entry(3, true)]))
    const verdicts = await llmJudge({ model, shape: 'rubric' }).grade(item, criteria)
    expect(verdicts.map(({ criterionId, met }) => [criterionId, met])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
    ])
    expect(model.calls).toBe(1)
  })

  it.each([
    ['{"judgement": [true, false, true], "final_score": 3}'],
    ['[true, false, true]'],
    ['```json\n[{"criteria_met": true}, {"criteria_met": false}, {"criteria_met": true}]\n```'],
  ])('takes other usual forms of the list: %s', async text => {
    const judge = llmJudge({ model: scriptedModel(() => text), shape: 'rubric' })
    expect((await judge.grade(item, criteria)).map(({ met }) => met)).toEqual([true, false, true])
  })

  it.each([
    ['too short', list([entry(1, true), entry(2, false)]), 'got 2'],
    ['too long', list([1, 2, 3, 4].map(number => entry(number, true))), 'got 4'],
    ['in another order', list([entry(2, true), entry(1, true), entry(3, true)]), 'number 1, got 2'],
    ['with one entry unusable', list([entry(1, true), entry(2, 'false'), entry(3, true)]), 'verdict 2'],
    [
      'with a second opinion',
      `${list([1, 2, 3].map(n => entry(n, true)))} or {"criteria_met": false}`,
      '4 verdicts',
    ],
  ])('makes the whole call unusable when the list is %s', async (_name, text, problem) => {
    const judge = llmJudge({ model: scriptedModel(() => text), shape: 'rubric' })
    const verdicts = await judge.grade(item, criteria)
    expect(verdicts.map(({ met }) => met)).toEqual([null, null, null])
    expect(verdicts[1].explanation).toContain(problem)
    expect(judge.stats()).toMatchObject({ nulls: { positive: 2, negative: 1 }, calls: 1 })
  })

  it('cuts the rubric into batches of at most N', async () => {
    const sizes: number[] = []
    const model = scriptedModel(request => {
      const numbers = [...prompt(request).matchAll(/^(\d+)\. \(/gm)].map(([, n]) => Number(n))
      sizes.push(numbers.length)
      return list(numbers.map(n => entry(n, n === 1)))
    })
    const many = Array.from({ length: 7 }, (_, i) => ({ id: `c${i}`, text: `text ${i}`, points: 1 }))
    const verdicts = await llmJudge({ model, shape: { batch: 3 } }).grade(item, many)
    expect(sizes).toEqual([3, 3, 1])
    expect(verdicts.map(({ met }) => met)).toEqual([true, false, false, true, false, false, true])
    expect(verdicts.map(({ criterionId }) => criterionId)).toEqual(many.map(({ id }) => id))
  })
})

describe('graded criteria', () => {
  it('reads levels 0, 1, 2 as half credits', async () => {
    const model = scriptedModel((_request, call) => `{"explanation": "x", "level": ${call}}`)
    const verdicts = await llmJudge({ model, levels: 'levels' }).grade(item, criteria)
    expect(verdicts.map(({ level, credit, met }) => [level, credit, met])).toEqual([
      [0, 0, false],
      [1, 0.5, false],
      [2, 1, true],
    ])
  })

  it.each(['3', '"2"', '1.5', 'true'])('refuses the level %s', async level => {
    const model = scriptedModel(() => `{"explanation": "x", "level": ${level}}`)
    const [verdict] = await llmJudge({ model, levels: 'levels' }).grade(item, [criteria[0]])
    expect(verdict.met).toBeNull()
  })

  it("scores a criterion on its own scale, apart from the others' list", async () => {
    const scaled: Criterion = {
      ...criteria[0],
      levels: [1, 2, 3, 4, 5].map(low => ({ low, high: low, text: `looks like ${low}` })),
    }
    const model = scriptedModel(request =>
      prompt(request).includes('looks like 3')
        ? '{"verdicts": [{"number": 1, "explanation": "x", "score": 4}]}'
        : '{"verdicts": [{"number": 1, "explanation": "x", "criteria_met": false}]}',
    )
    const verdicts = await llmJudge({ model, shape: 'rubric' }).grade(item, [criteria[1], scaled])
    expect(verdicts.map(({ met, credit }) => [met, credit])).toEqual([
      [false, undefined],
      [true, 0.75],
    ])
    const off = scriptedModel(() => '{"explanation": "x", "score": 6}')
    expect((await llmJudge({ model: off }).grade(item, [scaled]))[0].met).toBeNull()
  })
})

describe('what is remembered and shared', () => {
  const store = () => {
    const entries = new Map<string, string>()
    return {
      entries,
      get: (key: string) => (entries.has(key) ? JSON.parse(entries.get(key) ?? '') : undefined),
      put: (key: string, value: unknown) => {
        entries.set(key, JSON.stringify(value))
      },
    }
  }

  it('asks the same thing once, whatever the ids and the size of the points', async () => {
    const cache = store()
    const model = scriptedModel(() => yes)
    const first = await llmJudge({ model, cache }).grade(item, criteria)
    const renamed = criteria.map(criterion => ({
      ...criterion,
      id: `${criterion.id}2`,
      points: criterion.points * 2,
    }))
    const judge = llmJudge({ model, cache })
    const second = await judge.grade(item, renamed)
    expect(model.calls).toBe(3)
    expect(second).toEqual(
      first.map(verdict => ({ ...verdict, criterionId: `${verdict.criterionId}2`, attempts: 0 })),
    )
    expect(judge.stats()).toMatchObject({ cachedCalls: 3, calls: 0 })
  })

  it('asks again when anything differs that the verdict depends on', async () => {
    const cache = store()
    const ask = async (changes: {
      name?: string
      text?: string
      points?: number
      response?: string
      question?: string
      temperature?: number
      showReference?: boolean
      levels?: 'levels'
      sampleIndex?: number
      shape?: 'rubric'
    }) => {
      const model = scriptedModel(
        () =>
          '{"explanation": "x", "criteria_met": true, "level": 1, "verdicts": [{"number": 1, "explanation": "x", "criteria_met": true}]}',
        changes.name,
      )
      const { temperature, showReference, levels, shape } = changes
      const judge = llmJudge({ model, cache, temperature, showReference, levels, shape, repairs: 0 })
      const { text = 'Is polite', points = 1, response = 'Hello', question = 'Hi' } = changes
      const subject = { prompt: [{ role: 'user' as const, content: question }], response, reference: 'R' }
      await judge.grade(subject, [{ id: 'a', text, points }], { sampleIndex: changes.sampleIndex })
      return model.calls
    }
    expect(await ask({})).toBe(1)
    expect(await ask({})).toBe(0)
    expect(await ask({ points: 4 })).toBe(0)
    for (const change of [
      { name: 'other' },
      { text: 'Is rude' },
      { points: -1 },
      { response: 'Hell' },
      { question: 'Ho' },
      { temperature: 0.5 },
      { showReference: true },
      { levels: 'levels' as const },
      { sampleIndex: 1 },
      { shape: 'rubric' as const },
    ])
      expect(await ask(change), JSON.stringify(change)).toBe(1)
  })

  it('never remembers what could not be judged, nor anything where repeats are wanted', async () => {
    const cache = store()
    await llmJudge({ model: scriptedModel(() => 'no'), cache }).grade(item, criteria)
    const model = scriptedModel(() => yes)
    const judge = llmJudge({ model, cache, fresh: true })
    await Promise.all([judge.grade(item, criteria), judge.grade(item, criteria)])
    expect(model.calls).toBe(6)
    // Text that is quoted in another way is not what the key names.
    await llmJudge({ model, cache, quote: text => text }).grade(item, criteria)
    expect(cache.entries.size).toBe(0)
  })

  it('asks again when the store holds something else under the key', async () => {
    const model = scriptedModel(() => yes)
    const cache = { get: () => [{ met: 'yes' }], put: () => {} }
    expect((await llmJudge({ model, cache }).grade(item, [criteria[0]]))[0].met).toBe(true)
    expect(model.calls).toBe(1)
  })

  it('shares identical calls under way, and cancels one only when nobody waits for it', async () => {
    let cancelled = 0
    const model = scriptedModel(
      ({ signal }) =>
        new Promise(resolve => {
          const timer = setTimeout(() => resolve(yes), 30)
          signal?.addEventListener('abort', () => {
            cancelled++
            clearTimeout(timer)
          })
        }),
    )
    const judge = llmJudge({ model })
    const controller = new AbortController()
    const left = judge.grade(item, criteria, { signal: controller.signal })
    const stays = judge.grade({ ...item }, criteria)
    await new Promise(resolve => setTimeout(resolve, 5))
    controller.abort()
    await expect(left).rejects.toThrow('aborted')
    expect((await stays).map(({ met }) => met)).toEqual([true, true, true])
    expect([model.calls, cancelled, judge.stats().sharedCalls]).toEqual([3, 0, 3])

    const alone = new AbortController()
    const only = judge.grade(item, criteria, { signal: alone.signal })
    await new Promise(resolve => setTimeout(resolve, 5))
    alone.abort()
    await expect(only).rejects.toThrow('aborted')
    expect(cancelled).toBe(3)
  })
})

describe('margins', () => {
  const tokens = (first: number, rival: number) => [
    { token: '{"explanation": "x", "criteria_met":', logprob: 0, top: [] },
    {
      token: ' true',
      logprob: first,
      top: [
        { token: ' true', logprob: first },
        { token: ' false', logprob: rival },
        { token: 'true', logprob: -9 },
      ],
    },
    { token: '}', logprob: 0, top: [] },
  ]

  it('come from the log-probs of the verdict token', async () => {
    const model = scriptedModel(({ topLogprobs }) => ({
      text: '{"explanation": "x", "criteria_met": true}',
      logprobs: topLogprobs ? tokens(-0.2, -1.7) : undefined,
    }))
    const [verdict] = await llmJudge({ model, topLogprobs: 5 }).grade(item, [criteria[0]])
    expect(verdict.margin).toBeCloseTo(1.5, 12)
    const [plain] = await llmJudge({ model }).grade(item, [criteria[0]])
    expect(plain).not.toHaveProperty('margin')
  })
})
