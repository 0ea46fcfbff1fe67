import { describe, expect, it } from 'vitest'
import { testService, YES_NO } from '../service.fixture.ts'
import { responseStart, stripTokens } from './openrlhf.ts'

describe('OpenRLHF', () => {
  // As _fetch_rewards_via_http of openrlhf/utils/agent.py (3c3be623) sends one sample: the query is prompt and response,
  // decoded with special tokens.
  const PROMPT = '<|im_start|>user\nIs water wet?<|im_end|>\n<|im_start|>assistant\n'
  const sample = (response: string, label: unknown = 'yes') => ({
    query: [`${PROMPT}${response}<|im_end|>`],
    prompts: [PROMPT],
    labels: [label],
  })

  it('answers one sample as the client reads it', async () => {
    const { post, grader } = testService()
    const { status, json } = await post('/openrlhf', sample('yes'))
    expect(status).toBe(200)
    // The client takes rewards, scores and extra_logs; all must be numbers, extra_logs with the same keys always.
    expect(json).toEqual({ rewards: [1], scores: [1], extra_logs: { rubric_null_share: [0] } })
    expect(grader.seen[0].item).toMatchObject({
      response: 'yes',
      reference: 'yes',
      prompt: [{ role: 'user', content: PROMPT }],
    })
  })

  it('takes several right answers, of which any will do', async () => {
    const { post, grader } = testService()
    for (const label of [['Paris', 'City of Light'], { target: ['Paris', 'City of Light'] }])
      await post('/openrlhf', sample('yes', label))
    expect(grader.seen.map(({ item }) => item.reference)).toEqual(Array(2).fill('["Paris","City of Light"]'))
  })

  it('answers a batch in its order, and an empty one', async () => {
    const { post } = testService()
    const body = { query: ['a yes', 'b no', 'c'], prompts: ['a ', 'b ', 'c'], labels: [null, null, null] }
    expect((await post('/openrlhf', body)).json.rewards).toEqual([1, -0.5, 0])
    // A batch of one over two addresses: the second gets nothing.
    const empty = await post('/openrlhf', { query: [], prompts: [], labels: [] })
    expect(empty.json).toEqual({ rewards: [], scores: [], extra_logs: { rubric_null_share: [] } })
  })

  it('never sends null: a number that is set, or 503', async () => {
    const route = (onNull: number | 'error') => ({
      routes: [{ kind: 'openrlhf' as const, path: '/openrlhf', onNull }],
    })
    const number = await testService(route(-1)).post('/openrlhf', sample('?'))
    expect(number.json).toEqual({ rewards: [-1], scores: [-1], extra_logs: { rubric_null_share: [1] } })
    const refused = await testService(route('error')).post('/openrlhf', sample('?'))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(refused.json.error).toMatchObject({ type: 'no_reward' })
    expect(refused.json.error.message).toContain('the judge was silent')
  })

  it('scales rewards, not scores', async () => {
    const { post } = testService({ aggregation: { scale: 10, offset: 1, clip: [0, 8] } })
    expect((await post('/openrlhf', sample('yes'))).json).toMatchObject({ rewards: [8], scores: [1] })
    expect((await post('/openrlhf', sample('no'))).json).toMatchObject({ rewards: [0], scores: [-0.5] })
  })

  it('refuses lists of different lengths', async () => {
    const { status, json } = await testService().post('/openrlhf', { query: ['a'], prompts: ['a', 'b'] })
    expect(status).toBe(400)
    expect(json.error.message).toContain('same length')
  })

  it('finds the response behind a prompt that was decoded with a token in front, or cut at the front', () => {
    expect(responseStart('<s>Prompt: answer', 'Prompt: ')).toBe('<s>Prompt: '.length)
    const long = `${'x'.repeat(500)}${'y'.repeat(300)}`
    expect(responseStart(`${long.slice(450)}answer`, long)).toBe(long.slice(450).length)
    expect(responseStart('something else', 'Prompt')).toBe(0)
    // Almost the same everywhere: to compare all with all would take minutes.
    const same = 'a'.repeat(10_000_000)
    expect(responseStart(`${same}b`, `${same}c`)).toBe(0)
    expect(responseStart(same, `b${same.slice(0, 1_000_000)}`)).toBe(1_000_000)
    expect(stripTokens('</s> '.repeat(200_000), ['</s>'])).toBe('')
    expect(stripTokens('<s> yes <|im_end|>\n</s>', ['<|im_end|>', '</s>', '<s>'])).toBe('yes')
  })
})

describe('slime', () => {
  // As remote_rm of slime/rollout/rm_hub/__init__.py (624b824a8) sends a sample; the prompt is a text or messages.
  const sample = (response: string) => ({ prompt: 'Is water wet?', response, label: 'yes' })

  it('answers a bare number', async () => {
    const { post, grader } = testService()
    const { text, headers } = await post('/slime', sample('no'))
    expect(text).toBe('-0.5')
    // aiohttp's resp.json() refuses any other type.
    expect(headers.get('content-type')).toContain('application/json')
    await post('/slime', { ...sample('yes'), prompt: [{ role: 'user', content: 'Is it?' }] })
    const withTools = [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Is it?' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', content: '12 degrees', tool_call_id: '1' },
    ]
    await post('/slime', { ...sample('yes'), prompt: withTools })
    const question = { role: 'user', content: 'Is it?' }
    expect(grader.seen[1].item).toMatchObject({ prompt: [question], reference: 'yes' })
    expect(grader.seen[2].item.prompt).toEqual([{ role: 'system', content: 'Be short.' }, question])
  })

  it('answers an object for --reward-key', async () => {
    const routes = [{ kind: 'slime' as const, path: '/slime', answer: 'object' as const, onNull: 0.25 }]
    const { post } = testService({ routes })
    expect((await post('/slime', sample('yes'))).json).toEqual({
      reward: 1,
      score: 1,
      parts: { good: 1, bad: 0 },
      null_share: 0,
    })
    expect((await post('/slime', sample('?'))).json).toMatchObject({ reward: 0.25, null_share: 1 })
  })
})

describe('NeMo-Gym', () => {
  // As SimpleAgent.run of responses_api_agents/simple_agent/app.py (07d6b0d07) sends a rollout.
  const rollout = (text: string) => ({
    responses_create_params: {
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Is water wet?' }] },
      ],
      temperature: 1,
    },
    response: {
      id: 'resp_1',
      model: 'policy',
      output: [
        { type: 'reasoning', id: 'r', summary: [] },
        { type: 'function_call', name: 'look', arguments: '{}', call_id: 'c' },
        { type: 'function_call_output', call_id: 'c', output: 'no' },
        {
          type: 'message',
          role: 'assistant',
          id: 'm',
          content: [{ type: 'output_text', text, annotations: [] }],
          prompt_token_ids: [1, 2],
          generation_token_ids: [3],
          generation_log_probs: [-0.5],
        },
      ],
    },
    expected_answer: 'yes',
    _ng_task_index: 7,
  })

  it('sends the request back with a reward', async () => {
    const { post, grader } = testService()
    const { json } = await post('/verify', rollout('yes'))
    expect(json).toEqual({
      ...rollout('yes'),
      reward: 1,
      reward_components: { good: 1, bad: 0 },
      rubric_null_share: 0,
    })
    expect(grader.seen[0].item).toMatchObject({
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Is water wet?' },
      ],
      response: 'yes',
      reference: 'yes',
    })
  })

  it.each(['constructor', '__proto__', 'toString'])('a message of the role %s is none', async role => {
    const { post, grader } = testService()
    const body = rollout('yes')
    const stray = { type: 'message', role, content: 'no' }
    const { status } = await post('/verify', {
      ...body,
      responses_create_params: { input: [stray, { role: 'user', content: 'Is water wet?' }] },
      response: { output: [...body.response.output, stray] },
    })
    expect(status).toBe(200)
    expect(grader.seen[0].item.prompt).toEqual([{ role: 'user', content: 'Is water wet?' }])
    expect(grader.seen[0].item.response).toBe('yes')
  })

  // BaseMultiRewardVerifyResponse of nemo_gym/base_resources_server.py (07d6b0d07): floats by name, the same names every time.
  it('says what each criterion adds, a flaw below zero; together they are the signed score', async () => {
    const verify = async (text: string) => (await testService().post('/verify', rollout(text))).json
    const both = await verify('yes and no')
    // 4 points and -2, of 4.
    expect(both).toMatchObject({ reward: 0.5, reward_components: { good: 1, bad: -0.5 } })
    expect((await verify('?')).reward_components).toEqual({ good: 0, bad: 0 })
    const penalties = { criteria: [YES_NO.criteria[1]] }
    const { json } = await testService({ rubrics: { 'yes-no': penalties } }).post('/verify', rollout('no'))
    expect(json.reward_components).toEqual({ bad: -1 })
  })

  it("marks a rollout that judges failed on, with NeMo-Gym's own fields", async () => {
    const { json } = await testService().post('/verify', rollout('?'))
    expect(json).toMatchObject({
      ...rollout('?'),
      reward: 0,
      _ng_failure_class: 'judge_failed',
      mask_sample: true,
    })
    expect(json._ng_failure_judge_error).toContain('2 of 2 criteria have no verdict')
  })

  it('answers what agents ask beside it', async () => {
    const { post, get } = testService()
    expect((await post('/seed_session', rollout('yes'))).json).toEqual({})
    expect((await get('/reverify_mode')).json).toBe('stateless')
    const verify_responses = [
      { _ng_task_index: 0, _ng_rollout_index: 0, reward: 1, passed: true },
      { _ng_task_index: 0, _ng_rollout_index: 1, reward: 0, passed: false },
      { _ng_task_index: 1, _ng_rollout_index: 0, reward: 0.5, passed: true },
    ]
    const { json } = await post('/aggregate_metrics', { verify_responses })
    expect(json.agent_metrics).toMatchObject({
      'mean/reward': 0.5,
      'max/reward': 1,
      'min/reward': 0,
      'median/reward': 0.5,
      'std/reward': 0.5,
    })
    expect(json.key_metrics).toEqual({ 'mean/reward': 0.5, 'mean/passed': 2 / 3 })
    expect(json.group_level_metrics).toMatchObject([
      { _ng_task_index: 0, 'mean/reward': 0.5 },
      { _ng_task_index: 1, 'mean/reward': 0.5 },
    ])
  })
})

describe('/v1/grade', () => {
  it('gives reward, score, parts and verdicts of each item', async () => {
    const { post } = testService()
    const items = [
      { id: 'a', prompt: 'Is it?', response: 'yes and no' },
      { id: 'b', response: '?', metadata: { any: 'thing' } },
    ]
    const { json } = await post('/v1/grade', { items })
    expect(json.results[0]).toEqual({
      id: 'a',
      rubric: 'yes-no',
      reward: 0.5,
      score: 0.5,
      parts: { good: 1, bad: 1 },
      components: { good: 1, bad: -0.5 },
      verdicts: [
        { criterionId: 'good', met: true, source: 'llm' },
        { criterionId: 'bad', met: true, source: 'llm' },
      ],
      nulls: { positive: 0, negative: 0 },
      counts: { positive: 1, negative: 1 },
    })
    expect(json.results[1]).toMatchObject({ id: 'b', reward: null, nulls: { positive: 1, negative: 1 } })
    expect(json.results[1].reason).toContain('the judge was silent')
    expect(json.results[1].verdicts[0]).not.toHaveProperty('raw')
    const withRaw = await post('/v1/grade', { items, raw: true })
    expect(withRaw.json.results[1].verdicts[0].raw).toBe('gibberish')
  })

  it('takes a rubric with the request, for all items or for one', async () => {
    const { post } = testService()
    const rubric = { criteria: [{ id: 'bad', text: 'Says no', points: 1 }] }
    const { json } = await post('/v1/grade', {
      rubric,
      items: [{ response: 'no' }, { response: 'no', rubric: 'yes-no' }],
    })
    expect(json.results.map(({ reward }: { reward: number }) => reward)).toEqual([1, -0.5])
    expect(json.results[0]).not.toHaveProperty('rubric')
  })

  it('passes the repeat on to the grader', async () => {
    const { post, grader } = testService()
    await post('/v1/grade', { items: [{ response: 'yes', sampleIndex: 2 }] })
    expect(grader.seen[0].options?.sampleIndex).toBe(2)
  })
})
