import { describe, expect, it } from 'vitest'
import { JudgeError } from '../../util/errors.ts'
import { testService } from './service.fixture.ts'
import { DeadlineReached } from './service.ts'

const items = (...responses: string[]) => ({ items: responses.map(response => ({ response })) })
const forever = () => new Promise<void>(() => {})

describe('a request under way', () => {
  it('is answered in order, whichever item is ready first', async () => {
    const { post, grader } = testService()
    grader.beforeEach = async ({ response }) => {
      if (response === 'yes') await new Promise(resolve => setTimeout(resolve, 20))
    }
    const { json } = await post('/v1/grade', items('yes', 'no', 'yes'))
    expect(json.results.map(({ reward }: { reward: number }) => reward)).toEqual([1, -0.5, 1])
  })

  it('ends at its deadline with 504, and its work is stopped', async () => {
    const { post, grader } = testService({ limits: { deadlineMs: 30 } })
    grader.beforeEach = forever
    const { status, json, headers } = await post('/v1/grade', items('yes'))
    expect(status).toBe(504)
    expect(json.error).toMatchObject({ type: 'deadline' })
    expect(headers.get('retry-after')).toBe('1')
    expect(grader.seen[0].options?.signal?.aborted).toBe(true)
  })

  it('may leave what is not graded by then without verdicts instead', async () => {
    const { post, grader } = testService({ limits: { deadlineMs: 30, onDeadline: 'nulls' } })
    grader.beforeEach = async ({ response }) => (response === 'slow' ? forever() : undefined)
    const { status, json } = await post('/v1/grade', items('yes', 'slow'))
    expect(status).toBe(200)
    expect(json.results[0].reward).toBe(1)
    expect(json.results[1]).toMatchObject({ reward: null, nulls: { positive: 1, negative: 1 } })
    expect(json.results[1].verdicts[0].explanation).toContain('deadline of 30 ms')
  })

  it('is refused with 429 and retry-after when the queue is full, and accepted again when it is not', async () => {
    const { post, grader, service } = testService({ limits: { concurrency: 1, waiting: 2, batch: 3 } })
    let release = () => {}
    const blocked = new Promise<void>(resolve => {
      release = resolve
    })
    grader.beforeEach = () => blocked
    const first = post('/v1/grade', items('yes', 'yes'))
    while (service.queue.depth < 1) await new Promise(setImmediate)
    const refused = await post('/v1/grade', items('yes', 'yes'))
    expect(refused.status).toBe(429)
    expect(refused.json.error.message).toContain('(limits.concurrency, limits.waiting)')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    const third = post('/v1/grade', items('no'))
    release()
    expect((await first).json.results).toHaveLength(2)
    expect((await third).json.results[0].reward).toBe(-0.5)
    expect((await post('/v1/grade', items('yes', 'yes', 'yes'))).status).toBe(200)
    expect([service.queue.depth, service.queue.active]).toEqual([0, 0])
  })

  it('whose rules have used up their time fails, or leaves the rest without verdicts where a setting says so', async () => {
    const spend = async ({ post, grader }: ReturnType<typeof testService>) => {
      grader.beforeEach = async () => {
        const allowance = grader.seen.at(-1)!.options!.allowance!
        allowance.charge(6)
        if (allowance.signal.aborted && allowance.onSpent === 'error') throw allowance.signal.reason
      }
      return post('/v1/grade', items('yes', 'yes'))
    }
    const failed = await spend(testService({ limits: { rulesMs: 10 } }))
    expect(failed.status).toBe(504)
    expect(failed.json.error.message).toContain('the rules of this request took 10 ms (limits.rulesMs)')
    const nulls = await spend(testService({ limits: { rulesMs: 10, onRulesSpent: 'nulls' } }))
    expect(nulls.status).toBe(200)
  })

  it('has one allowance for the rules of all its items', async () => {
    const { post, grader } = testService()
    await post('/v1/grade', items('yes', 'no'))
    await post('/v1/grade', items('yes'))
    const [first, second, third] = grader.seen.map(({ options }) => options?.allowance)
    expect(first).toBeDefined()
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('with a response that is too long is 422, or has no verdicts on it', async () => {
    const strict = testService({ limits: { responseCharacters: 3 } })
    const refused = await strict.post('/v1/grade', items('yes', 'yes!'))
    expect([refused.status, refused.json.error.type]).toEqual([422, 'response_too_long'])
    expect(refused.json.error.message).toContain('items[1]: the response has 4 characters, more than 3')
    expect(strict.grader.seen).toEqual([])
    const lenient = testService({ limits: { responseCharacters: 3, onLongResponse: 'nulls' } })
    const { status, json } = await lenient.post('/v1/grade', items('yes', 'yes!'))
    expect(status).toBe(200)
    expect(json.results[0].reward).toBe(1)
    expect(json.results[1]).toMatchObject({ reward: null, nulls: { positive: 1, negative: 1 } })
    expect(lenient.grader.seen).toHaveLength(1)
  })

  it('is 502 when judges can answer nothing, and the rest of it is stopped', async () => {
    const { post, grader } = testService()
    grader.beforeEach = async ({ response }) => {
      if (response === 'slow') return forever()
      throw new JudgeError('auth', 'the judge refused the key')
    }
    const { status, json } = await post('/v1/grade', items('slow', 'yes'))
    expect(status).toBe(502)
    expect(json.error).toEqual({ type: 'judge_failed', message: 'the judge refused the key' })
    expect(grader.seen[0].options?.signal?.aborted).toBe(true)
  })

  it('is stopped when the client is gone', async () => {
    const { service, grader } = testService()
    grader.beforeEach = forever
    const client = new AbortController()
    const [route] = service.config.routes
    const item = { prompt: [], response: 'yes', fields: {} }
    const graded = service.grade([item], route, () => 'item', client.signal)
    client.abort()
    await expect(graded).rejects.toThrow('the client is gone')
    expect(grader.seen[0].options?.signal?.reason).not.toBeInstanceOf(DeadlineReached)
  })

  it('is 500 without a word of what went wrong inside, which is in the log', async () => {
    const { post, grader, lines } = testService()
    grader.beforeEach = async () => {
      throw new TypeError('secret prompt')
    }
    const { status, text } = await post('/v1/grade', items('yes'))
    expect(status).toBe(500)
    expect(text).not.toContain('secret prompt')
    expect(lines.find(({ event }) => event === 'error')).toMatchObject({ message: 'secret prompt' })
  })

  it('of a thousand items leaves no listener behind', async () => {
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.name)
    process.on('warning', note)
    const { post } = testService({ limits: { concurrency: 4 } })
    const { json } = await post('/v1/grade', items(...Array.from({ length: 1000 }, () => 'yes')))
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(json.results).toHaveLength(1000)
    expect(warnings).toEqual([])
  })
})

describe('which rubric', () => {
  const only = (text: string) => ({ criteria: [{ id: 'good', text, points: 1 }] })
  const rubrics = { maths: only('a'), prose: only('b') }

  it('is what the item, then the route says', async () => {
    const { post } = testService({
      rubrics,
      routes: [
        {
          kind: 'slime',
          path: '/slime',
          rubric: { from: 'label.topic', map: { gsm8k: 'maths' }, default: 'prose' },
          answer: 'object',
        },
        { kind: 'grade', path: '/v1/grade', rubric: { from: 'metadata.data_source' } },
      ],
    })
    const named = async (item: object) =>
      (await post('/v1/grade', { items: [{ response: 'yes', ...item }] })).json
    expect((await named({ metadata: { data_source: 'maths' } })).results[0].rubric).toBe('maths')
    expect((await named({ metadata: { data_source: 'maths' }, rubric: 'prose' })).results[0].rubric).toBe(
      'prose',
    )
    const none = await named({ metadata: {} })
    expect(none.error.message).toContain('items[0]: expected the name of a rubric at metadata.data_source')
    const wrong = await named({ rubric: 'math' })
    expect(wrong.error.message).toContain('did you mean maths?')
    // A label may be an object, or the text of one.
    const sample = { prompt: 'p', response: 'yes', label: '{"topic": "gsm8k"}' }
    expect((await post('/slime', sample)).status).toBe(200)
  })

  it('must be said where there are several', async () => {
    const { json } = await testService({ rubrics }).post('/slime', { prompt: 'p', response: 'r' })
    expect(json.error.message).toContain('expected a rubric, got none')
  })

  it('may be in the sample, unless the route says no', async () => {
    const routes = (inline: boolean) => [
      { kind: 'nemo-gym' as const, path: '/verify', rubric: { from: 'rubric' }, inline },
    ]
    const body = {
      responses_create_params: { input: 'q' },
      response: { output: [{ role: 'assistant', content: 'yes' }] },
      rubric: only('says yes'),
    }
    expect((await testService({ routes: routes(true) }).post('/verify', body)).json.reward).toBe(1)
    const refused = await testService({ routes: routes(false) }).post('/verify', body)
    expect(refused.json.error.message).toContain('inline: false')
    const broken = { ...body, rubric: { criteria: [{ id: 'x', text: 'y', points: 0 }] } }
    const { status, json } = await testService({ routes: routes(true) }).post('/verify', broken)
    expect(status).toBe(400)
    expect(json.error.message).toContain('criteria[0].points: expected a non-zero number, got 0')
  })

  it('that needs a judge is refused where there is none', async () => {
    const { post } = testService({}, { hasJudge: false })
    const { status, json } = await post('/v1/grade', items('yes'))
    expect(status).toBe(400)
    expect(json.error.message).toContain('criterion good needs a judge')
  })

  it('brings its own scoring, over that of the route', async () => {
    const { post } = testService({
      rubrics: {
        'yes-no': {
          criteria: [
            { id: 'good', text: 'a', points: 4 },
            { id: 'bad', text: 'b', points: -2 },
          ],
          aggregation: { rule: 'mean' },
        },
      },
      routes: [{ kind: 'slime', path: '/slime', aggregation: { rule: 'bounded', scale: 2 } }],
    })
    expect((await post('/slime', { prompt: 'p', response: 'yes no' })).json).toBe(1)
  })
})
