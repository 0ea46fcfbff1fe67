import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeInferenceServer } from '../../policy/served/fake-server.fixture.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

const sandbox = new Sandbox()
const EVIL = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>'
/** What each model of the server says. */
const ANSWERS: Record<string, (question: string) => string> = {
  good: question => (question === 'Evil?' ? EVIL : 'Tokyo'),
  poor: question =>
    question === 'Short?' ? 'Tokyo' : 'a very long answer with too many words in it, none of them right',
  judge: () => JSON.stringify({ explanation: 'so it is', criteria_met: true }),
  second: () => JSON.stringify({ explanation: 'not at all', criteria_met: false }),
}
const server = new FakeInferenceServer({
  models: Object.keys(ANSWERS).map(id => ({ id, owned_by: 'vllm' })),
  chat: ({ model, messages }) => ANSWERS[model](messages.at(-1).content),
})
let url: string
let rows: string
let rubric: string

beforeAll(async () => {
  url = await server.listen()
  const right = {
    id: 'right',
    text: 'Says Tokyo.',
    points: 3,
    verifier: { kind: 'rule', fn: 'contains', params: { any: ['Tokyo'] } },
  }
  const prompts = ['Capital?', 'Evil?', 'Short?', 'Which city?', 'Where?', 'Name it.']
  rows = sandbox.write(
    'rows.jsonl',
    prompts.map(prompt => `${JSON.stringify({ prompt, criteria: [right] })}\n`).join(''),
  )
  rubric = sandbox.write('rubric.yaml', {
    criteria: [
      {
        id: 'short',
        text: 'Has at most twelve words.',
        points: 1,
        verifier: { kind: 'rule', fn: 'length', params: { max: 12 } },
      },
    ],
  })
})
afterAll(async () => {
  await server.close()
  sandbox.remove()
})

const evaluate = async (...more: string[]) => {
  const { code, out, err } = await cli(['eval', '--data', rows, '--rubric', rubric, ...more])
  return { code, err, out, json: out.startsWith('{') ? JSON.parse(out) : null }
}
/** The same rows, by a criterion that only a judge can tell. */
const KIND = { id: 'kind', text: 'Is kind.', points: 1 }
const evalKind = () => {
  const judged = sandbox.write('kind.yaml', { criteria: [KIND] })
  return ['eval', '--data', rows, '--rubric', judged]
}
const asked = () => server.seen.filter(({ path }) => path === '/v1/chat/completions').length

describe('gradus eval on rows', { timeout: SLOW_MS }, () => {
  it('gives every criterion its rate, and two models their difference', async () => {
    const { code, json } = await evaluate('--model', `${url}#good`, '--against', `${url}#poor`, '--json')
    expect(code).toBe(0)
    expect(json).toMatchObject({
      task: 'rows',
      problems: 6,
      n: 6,
      primary: 'score',
      nullRate: 0,
      missing: [],
    })
    expect(json.criteria.right.value).toBeCloseTo(5 / 6, 12)
    expect(json.criteria.short.value).toBe(1)
    expect(json.scores.score.value).toBeCloseTo((5 + 1 / 4) / 6, 12)
    expect(json.against.criteria.right.value).toBeCloseTo(1 / 6, 12)
    expect(json.comparison.right).toMatchObject({
      n: 6,
      won: 4,
      lost: 0,
      tied: 2,
      test: 'McNemar',
      p: expect.closeTo(0.125, 9),
    })
    expect(json.comparison.length.difference).toBeLessThan(0)
  })

  it('keeps answers, goes on from them, and compares them later without asking', async () => {
    const [a, b] = [sandbox.path('a.jsonl'), sandbox.path('b.jsonl')]
    await evaluate('--model', `${url}#good`, '--out', a, '--limit', '4')
    const before = asked()
    await evaluate('--model', `${url}#good`, '--out', a)
    expect(asked() - before).toBe(2)
    await evaluate('--model', `${url}#poor`, '--out', b)
    const then = asked()
    const [row] = sandbox
      .read('a.jsonl')
      .split('\n')
      .map(line => line && JSON.parse(line))
    expect(row).toMatchObject({
      id: 'row1',
      response: 'Tokyo',
      scores: { score: 1 },
      settings: { temperature: 0 },
    })
    expect(
      row.verdicts.map(({ criterionId, met }: { criterionId: string; met: boolean }) => [criterionId, met]),
    ).toEqual([
      ['short', true],
      ['right', true],
    ])
    const { json } = await evaluate('--model', a, '--against', b, '--json')
    expect(asked()).toBe(then)
    expect(json.comparison.right).toMatchObject({ won: 4, lost: 0 })
    const other = await evaluate('--model', `${url}#good`, '--out', a, '--max-tokens', '7')
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('--out: expected')])
    expect(existsSync(`${a}.partial`)).toBe(false)
  })

  it('stops at Ctrl+C, says what to do, and takes over what was answered', async () => {
    const out = sandbox.path('stopped.jsonl')
    const slow = new FakeInferenceServer({
      delayMs: 100,
      chat: () => 'Tokyo',
      models: [{ id: 'm', owned_by: 'vllm' }],
    })
    const model = `${await slow.listen()}#m`
    const args = [
      'eval',
      '--data',
      rows,
      '--rubric',
      rubric,
      '--model',
      model,
      '--out',
      out,
      '--concurrency',
      '1',
    ]
    let poll: NodeJS.Timeout | undefined
    const onProgress = (_: string, interrupt: () => void) => {
      poll ??= setInterval(() => {
        if (!existsSync(`${out}.partial`)) return
        clearInterval(poll)
        interrupt()
      }, 20)
    }
    const stopped = await cli(args, { onProgress })
    expect([stopped.code, stopped.err]).toEqual([
      130,
      expect.stringMatching(
        /interrupted after [1-5] of 6 answers; they are kept in .*the same command goes on/,
      ),
    ])
    const kept = readFileSync(`${out}.partial`, 'utf8').trim().split('\n').length
    // As a kill leaves it.
    sandbox.write('stopped.jsonl.partial', `${readFileSync(`${out}.partial`, 'utf8')}{"id":"cut`)
    // The call that was given up may reach the server a little later.
    await new Promise(resolve => setTimeout(resolve, 200))
    const before = slow.seen.length
    expect((await cli(args)).code).toBe(0)
    const again = slow.seen.slice(before).filter(({ path }) => path === '/v1/chat/completions').length
    expect(again).toBe(6 - kept)
    await slow.close()
  })

  it('writes a page in which models and rows say text, never HTML', async () => {
    const page = sandbox.path('page.html')
    await evaluate('--model', `${url}#good`, '--against', `${url}#poor`, '--html', page)
    const text = readFileSync(page, 'utf8')
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('<img')
    expect(text).toContain('&lt;img src=x onerror=alert(2)')
    expect(text).toContain('default-src &#39;none&#39;')
    expect(text).not.toMatch(/(?:src|href)="(?!#)/)
    expect([...text.matchAll(/class="panel answer (\w+)"/g)].map(([, outcome]) => outcome).sort()).toEqual([
      'tied',
      'won',
      'won',
      'won',
      'won',
      'won',
    ])
  })

  it('hears a judge, and apart from it one that training never saw', async () => {
    const alone = [...evalKind(), '--model', `${url}#good`]
    expect(await cli(alone)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--judge: there are criteria'),
    })
    const out = sandbox.path('judged.jsonl')
    const judges = ['--judge', `${url}#judge`, '--held-out-judge', `${url}#second`, '--json']
    const { json, err } = await cli([...alone, ...judges, '--out', out]).then(({ out: text, err }) => ({
      json: JSON.parse(text),
      err,
    }))
    expect(err).toContain('held-out judge: 6 verdicts')
    expect(json.criteria.kind.value).toBe(1)
    expect(json.scores.score.value).toBeCloseTo((5 + 1 / 4) / 6, 12)
    // The rule's three points of five prompts, without the judge's one.
    expect(json.heldOutJudge.heldOutScore.value).toBeCloseTo((5 * 0.75) / 6, 12)
    const before = asked()
    const later = await cli([...evalKind(), '--model', out, '--json'])
    expect([JSON.parse(later.out).criteria.kind.value, asked()]).toEqual([1, before])
    // The same judge is asked again only in another way, and for rows that do not say in which way it was asked.
    const again = [...evalKind(), '--model', out, '--judge', `${url}#judge`]
    await cli(again)
    expect(asked()).toBe(before)
    await cli([...again, '--levels', 'levels'])
    expect(asked()).toBeGreaterThan(before)
    const older = sandbox.write('older.jsonl', readFileSync(out, 'utf8').replace(/"judgeDigest":"\w+",/g, ''))
    const then = asked()
    await cli([...evalKind(), '--model', older, '--judge', `${url}#judge`])
    expect(asked() - then).toBe(6)
    const mixed = await cli([...evalKind(), '--model', out, '--against', older])
    expect([mixed.code, mixed.err]).toEqual([
      2,
      expect.stringMatching(/got those of .*#judge, asked in several/),
    ])
  })

  it('draws several answers a prompt', async () => {
    const { json } = await evaluate(
      '--model',
      `${url}#good`,
      '--samples',
      '3',
      '--temperature',
      '0.7',
      '--limit',
      '2',
      '--json',
    )
    expect(json).toMatchObject({ n: 2, samples: 3, temperature: 0.7 })
    const seeds = server.seen.slice(-6).map(({ body }) => body.seed)
    expect(new Set(seeds).size).toBe(6)
  })
})

describe('files that are written', { timeout: SLOW_MS }, () => {
  it('are none of those that are read, and none that hold something else', async () => {
    const [saved, data] = [sandbox.path('kept.jsonl'), sandbox.path('data.jsonl')]
    const precious = sandbox.write('precious.jsonl', '{"id": "row1", "response": "mine"}\n')
    sandbox.write('data.jsonl', sandbox.read('rows.jsonl'))
    await evaluate('--model', `${url}#good`, '--out', saved)
    const before = [sandbox.read('kept.jsonl'), sandbox.read('data.jsonl'), sandbox.read('precious.jsonl')]
    for (const [option, path, words] of [
      ['--out', data, '--out: '],
      ['--html', data, '--html: '],
      ['--html', rubric, '--html: '],
      ['--out', saved, '--out: '],
      ['--html', saved, '--html: '],
      ['--adapter', precious, '--adapter: expected a model'],
      ['--out', precious, 'to hold graded answers, or not to be there'],
    ]) {
      const args = ['eval', '--data', data, '--rubric', rubric, '--model', saved, '--limit', '1']
      const { code, err } = await cli([...args, option, path])
      expect([code, err], `${option} ${path}`).toEqual([2, expect.stringContaining(words)])
    }
    const both = sandbox.path('both.jsonl')
    const pair = ['--model', saved, '--against', `${url}#poor`]
    const counted = asked()
    expect((await evaluate(...pair, '--out', both, '--against-out', both)).code).toBe(2)
    expect(asked()).toBe(counted)
    expect([sandbox.read('kept.jsonl'), sandbox.read('data.jsonl'), sandbox.read('precious.jsonl')]).toEqual(
      before,
    )
    // Graded again, it is written again.
    for (let i = 0; i < 2; i++) expect((await evaluate('--model', saved, '--out', both)).code).toBe(0)
  })
})

describe('the gate', { timeout: SLOW_MS }, () => {
  it('holds a model back by exit code 100, for scores, criteria and lengths', async () => {
    const [good, poor] = [`${url}#good`, `${url}#poor`]
    const low = await evaluate('--model', poor, '--min-score', 'right=0.5', '--min-score', 'length=1')
    expect([low.code, low.err]).toEqual([
      100,
      expect.stringContaining('right: expected at least 0.5, got 0.1667'),
    ])
    const worse = await evaluate('--model', poor, '--against', good, '--no-worse', 'score=0.05')
    expect([worse.code, worse.err]).toEqual([
      100,
      expect.stringContaining('score: expected to be worse by 0.05 at most'),
    ])
    expect((await evaluate('--model', good, '--against', poor, '--no-worse', 'score=0.05')).code).toBe(0)
  })

  it('knows of which metrics more is worse', async () => {
    const long = { kind: 'rule', fn: 'length', params: { min: 13 } }
    const criteria = [{ id: 'long', text: 'Has more than twelve words.', points: -1, verifier: long }]
    const args = ['eval', '--data', rows, '--rubric', sandbox.write('bad.yaml', { criteria })]
    const [good, poor] = [`${url}#good`, `${url}#poor`]
    const gate = async (model: string, against: string) =>
      (await cli([...args, '--model', model, '--against', against, '--no-worse', 'long=0.1'])).code
    expect([await gate(good, poor), await gate(poor, good)]).toEqual([0, 100])
  })

  it('holds back what its judge has said nothing of', async () => {
    const args = [...evalKind(), '--model', `${url}#good`, '--min-score', 'score=0.1']
    const talking = await cli([...args, '--judge', `${url}#judge`])
    expect(talking.code, talking.err).toBe(0)
    // Never JSON, so that every verdict is missing.
    const silent = await cli([...args, '--judge', `${url}#good`])
    expect([silent.code, silent.err]).toEqual([
      100,
      expect.stringContaining('score: expected verdicts on kind, got none'),
    ])
  })

  it('goes by what can be known: likelihood under a start is nothing that a judge has failed to say', async () => {
    const likely = { kind: 'rule', fn: 'likelihood', params: { min: -2 } }
    const criteria = [KIND, { id: 'language', text: 'Is likely.', points: 1, verifier: likely }]
    const judges = ['--judge', `${url}#judge`, '--held-out-judge', `${url}#second`]
    const args = ['--rubric', sandbox.write('likely.yaml', { criteria }), '--model', `${url}#good`, ...judges]
    const gate = ['--min-score', 'score=0.8', '--json']
    const { code, out, err } = await cli(['eval', '--data', rows, ...args, ...gate])
    expect(code, err).toBe(0)
    // Of the six answers five are right: 3 of the 4 points that are known of, where the second judge denies the fourth.
    expect(JSON.parse(out)).toMatchObject({
      criteria: { language: { value: null, n: 0, nullRate: 1 } },
      heldOutJudge: { heldOutScore: { n: 6, value: 0.625 } },
    })
  })

  it.each([
    [['--min-score', 'rihgt=0.5'], 'its scores are score, short, right, length, tokens, cutOff'],
    [['--no-worse', 'score=0.05'], '--no-worse: there is nothing to compare with'],
    [['--against-out', 'x.jsonl'], '--against-out: there is nothing to compare with'],
    [['--shuffle', '1'], '--shuffle: the task rows has no such option'],
    [['--judge', 'http://127.0.0.1:1/v1#m'], '--judge: every criterion has a rule'],
    [['--samples', '2'], '--samples: greedy samples are all alike'],
    [['--task', 'ifeval'], '--rubric: the task ifeval has no such option'],
  ])('refuses %j before it asks', async (more, words) => {
    const before = asked()
    const { code, err } = await evaluate('--model', `${url}#good`, ...more)
    expect([code, err, asked()]).toEqual([2, expect.stringContaining(words), before])
  })
})

describe('models of this machine', { timeout: SLOW_MS }, () => {
  it('answer in this process, the same again, and judge', async () => {
    const args = [...evalKind(), '--model', 'package:models/chat-start', '--limit', '2']
    const own = ['--judge', 'package:models/chat-start', '--max-tokens', '8', '--threads', '1', '--json']
    const { code, out } = await cli([...args, ...own])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ n: 2, criteria: { kind: { n: 2, nullRate: 0 } } })
    expect(JSON.parse(out).response.tokens.value).toBeLessThanOrEqual(8)
  })

  it('say how likely answers are to the start: what they were compared with finds its own likely, and others not', async () => {
    const likely = { kind: 'rule', fn: 'likelihood', params: { min: -1 } }
    const criteria = [{ id: 'language', text: 'Is likely.', points: 1, verifier: likely }]
    const rubric = sandbox.write('start.yaml', { criteria })
    const start = 'package:models/chat-start'
    const args = ['eval', '--data', rows, '--rubric', rubric, '--against', start, '--threads', '1', '--json']
    const { code, out, err } = await cli([
      ...args,
      '--model',
      `${url}#good`,
      '--max-tokens',
      '8',
      '--limit',
      '3',
    ])
    expect(code, err).toBe(0)
    const found = JSON.parse(out)
    expect(found.criteria.language).toMatchObject({ n: 3, nullRate: 0, value: 0 })
    expect(found.against.criteria.language).toMatchObject({ n: 3, nullRate: 0, value: 1 })
  })
})
