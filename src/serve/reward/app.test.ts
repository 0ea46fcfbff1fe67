import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { testService } from './service.fixture.ts'

const GOOD = { items: [{ response: 'yes' }] }

describe('requests that cannot be answered', () => {
  it.each([
    ['no JSON', '{"items": [', 400, 'expected JSON'],
    ['nothing', '', 400, 'expected JSON, got nothing'],
    ['another shape', { items: [{ answer: 'x' }] }, 400, 'items[0].response: expected a string, got nothing'],
    ['an unknown key', { items: [{ response: 'x', refrence: 'y' }] }, 400, 'did you mean reference?'],
    [
      'too many items',
      { items: [GOOD.items[0], GOOD.items[0], GOOD.items[0]] },
      400,
      'at most 2 items, got 3',
    ],
    ['too many bytes', { items: [{ response: 'x'.repeat(500) }] }, 413, 'at most 400 bytes'],
  ])('%s', async (_, body, status, message) => {
    const { post } = testService({ limits: { batch: 2, bodyBytes: 400 } })
    const answer = await post('/v1/grade', body)
    expect(answer.status).toBe(status)
    expect(answer.json.error.message).toContain(message)
  })

  it('a body without a stated length is counted as it comes', async () => {
    const { post } = testService({ limits: { bodyBytes: 400 } })
    // Without a content-length header the body is read in pieces.
    expect((await post('/v1/grade', GOOD)).status).toBe(200)
    const long = await post('/v1/grade', `{"items": [${' '.repeat(1000)}]}`)
    expect([long.status, long.json.error.type]).toEqual([413, 'too_large'])
  })

  it('another path, with the paths that there are', async () => {
    const { json, status } = await testService().post('/grade', GOOD)
    expect(status).toBe(404)
    expect(json.error.message).toContain('POST /v1/grade')
  })
})

describe('the token', () => {
  const config = { server: { tokenEnv: 'TOKEN' } }
  const service = () => testService(config, { env: { TOKEN: 's3cret' } })

  it.each([
    ['Bearer s3cret', 200],
    // What aiohttp and requests send for http://any:s3cret@host, all that OpenRLHF and slime can do.
    [`Basic ${Buffer.from('any:s3cret').toString('base64')}`, 200],
    ['Bearer wrong', 401],
    ['Bearer ', 401],
    ['s3cret', 401],
    [`Basic ${Buffer.from('s3cret').toString('base64')}`, 401],
  ])('%s: %i', async (authorization, status) => {
    expect((await service().post('/v1/grade', GOOD, { authorization })).status).toBe(status)
  })

  it('is not needed to see whether the service lives, but for all else', async () => {
    const { get, post } = service()
    expect((await get('/healthz')).json).toEqual({ ok: true })
    expect((await get('/readyz')).status).toBe(200)
    for (const path of ['/metrics', '/openapi.json', '/reverify_mode'])
      expect((await get(path)).status).toBe(401)
    const { status, headers, text } = await post('/v1/grade', GOOD)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer, Basic'])
    expect(text).not.toContain('s3cret')
  })

  it('must be there when it is named, and when others can reach the service', () => {
    expect(() => testService(config, { env: {} })).toThrow('the environment variable TOKEN is empty')
    const open = (server: object) => () => testService({ server }, { env: {} })
    expect(open({ host: '0.0.0.0' })).toThrow('can be reached from other machines')
    for (const server of [{ host: '127.0.0.1' }, { host: '::1' }, { host: '0.0.0.0', openToAnyone: true }])
      expect(open(server)).not.toThrow()
  })
})

describe('what watches the service', () => {
  it('is told when it is not ready, and why', async () => {
    const down = { name: 'judge.main', check: async () => 'ECONNREFUSED' }
    const { get } = testService({}, { probes: [down, { name: 'cache', check: async () => null }] })
    const { status, json } = await get('/readyz')
    expect(status).toBe(503)
    expect(json).toEqual({
      ready: false,
      checks: { 'judge.main': 'ECONNREFUSED', cache: 'ok', accepting: 'ok' },
    })
  })

  it('reads metrics: requests, verdicts, null rates by sign, cache, queue', async () => {
    const { get, post, metrics } = testService()
    await post('/v1/grade', {
      items: [{ response: 'yes' }, { response: 'yes' }, { response: 'no' }, { response: '?' }],
    })
    await post('/slime', { prompt: 'p', response: '?' })
    await post('/slime', {})
    metrics.judged('main', 'answered', 30)
    const { text, headers } = await get('/metrics')
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const lines = text.split('\n')
    for (const line of [
      'gradus_requests_total{route="/v1/grade",status="200"} 1',
      'gradus_requests_total{route="/slime",status="200"} 1',
      'gradus_requests_total{route="/slime",status="400"} 1',
      'gradus_items_total{route="/v1/grade"} 4',
      'gradus_verdicts_total{source="llm",sign="positive",outcome="met"} 2',
      'gradus_verdicts_total{source="llm",sign="negative",outcome="met"} 1',
      'gradus_verdicts_total{source="llm",sign="negative",outcome="null"} 2',
      'gradus_null_rate{sign="positive"} 0.4',
      'gradus_null_rate{sign="negative"} 0.4',
      'gradus_no_reward_total 2',
      'gradus_cache_lookups_total{result="hit"} 3',
      'gradus_cache_lookups_total{result="miss"} 1',
      'gradus_judge_seconds_bucket{le="0.05",judge="main",outcome="answered"} 1',
      'gradus_queue_depth 0',
    ])
      expect(lines).toContain(line)
    // Totals that are kept elsewhere are not added up with every look.
    expect((await get('/metrics')).text).toContain('gradus_cache_lookups_total{result="hit"} 3')
  })
})

describe('the access log', () => {
  it('has a line a request without a word of prompt or response', async () => {
    const { post, lines } = testService()
    const body = { items: [{ prompt: 'PROMPT', response: 'RESPONSE?', reference: 'REFERENCE' }] }
    await post('/v1/grade', body, { 'x-request-id': 'abc-1' })
    await post('/v1/grade', { items: [{ PROMPT: 'RESPONSE' }] }, { 'x-request-id': 'bad id\n' })
    await post('/PROMPT', {})
    expect(lines[0]).toMatchObject({
      event: 'request',
      id: 'abc-1',
      route: '/v1/grade',
      status: 200,
      items: 1,
      nulls: 2,
    })
    expect(lines[1]).toMatchObject({ status: 400, error: 'invalid_request' })
    expect(lines[1].id).toMatch(/^[0-9a-f-]{36}$/)
    expect(lines[2]).toMatchObject({ route: 'unknown', status: 404 })
    expect(JSON.stringify(lines)).not.toMatch(/PROMPT|RESPONSE|REFERENCE/)
  })

  it('has them when asked', async () => {
    const { post, lines } = testService({ log: { text: true } })
    await post('/slime', { prompt: 'Is it?', response: 'yes' })
    expect(lines[0].samples).toEqual([
      { prompt: [{ role: 'user', content: 'Is it?' }], response: 'yes', reward: 1 },
    ])
  })
})

describe('/openapi.json', () => {
  it('is valid OpenAPI 3.1 and describes what is really checked', async () => {
    const { get } = testService({ server: { tokenEnv: 'TOKEN' } }, { env: { TOKEN: 'x' } })
    const { json } = await get('/openapi.json', { authorization: 'Bearer x' })
    const { valid, errors } = await new Validator().validate(json)
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(json.openapi).toBe('3.1.0')
    expect(Object.keys(json.paths)).toEqual([
      '/v1/grade',
      '/openrlhf',
      '/slime',
      '/verify',
      '/seed_session',
      '/reverify_mode',
      '/aggregate_metrics',
      '/healthz',
      '/readyz',
      '/metrics',
    ])
    const references = [...JSON.stringify(json).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(references.length).toBeGreaterThan(20)
    for (const name of references) expect(json.components.schemas).toHaveProperty([name])
    const { required, properties } = json.components.schemas.PostOpenrlhfRequest
    expect([required, Object.keys(properties)]).toEqual([['query'], ['query', 'prompts', 'labels']])
  })
})
