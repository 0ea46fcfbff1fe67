import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type CliResult, cli, Sandbox } from '../cli.fixture.ts'
import { stopThenQuit } from '../interrupts.ts'
import type { Io } from '../io.ts'
import { gradeCommand } from './grade.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const jsonl = (rows: readonly unknown[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const parse = (out: string) =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

const rules = {
  criteria: [
    {
      id: 'short',
      text: 'At most five words',
      points: 2,
      verifier: { kind: 'rule', fn: 'length', params: { max: 5 } },
    },
    {
      id: 'heat',
      text: 'Mentions heat',
      points: 3,
      verifier: { kind: 'rule', fn: 'contains', params: { all: ['heat'] } },
    },
    {
      id: 'rude',
      text: 'Is rude',
      points: -4,
      verifier: { kind: 'rule', fn: 'contains', params: { any: ['idiot'] } },
    },
  ],
}
const mixed = { criteria: [...rules.criteria, { id: 'kind', text: 'Is kind', points: 5 }] }
const responses = jsonl([
  { id: 'a', response: 'heat it' },
  { id: 7, response: 'boil it, idiot' },
  { response: 'bring to the boil over low heat' },
])

describe('gradus grade, by rules', () => {
  const rubric = sandbox.write('rules.yaml', rules)
  const file = sandbox.write('responses.jsonl', responses)
  const grade = (...more: string[]) => cli(['grade', '--rubric', rubric, '--responses', file, ...more])

  it('prints score, parts and verdicts of every response, in order', async () => {
    const { code, out, err } = await grade('--json')
    expect(code).toBe(0)
    const rows = parse(out)
    expect(rows.map(({ id, score, parts }) => ({ id, score, parts }))).toEqual([
      { id: 'a', score: 1, parts: { short: 1, heat: 1, rude: 0 } },
      // (2 + 0 - 4) / 5
      { id: 7, score: -0.4, parts: { short: 1, heat: 0, rude: 1 } },
      { id: 3, score: 0.6, parts: { short: 0, heat: 1, rude: 0 } },
    ])
    expect(rows[0].verdicts[0]).toEqual({
      criterionId: 'short',
      points: 2,
      met: true,
      explanation: '2 words',
      source: 'rule',
    })
    expect(rows[0].nulls).toEqual({ positive: 0, negative: 0 })
    expect(err).toContain('3 responses by rule signed: mean score 0.4000')
  })

  it('sums up for people', async () => {
    const { code, out } = await grade()
    expect(code).toBe(0)
    expect(out).toContain('null verdicts: 0.0% of 6 rewards, 0.0% of 3 penalties')
    expect(out).toMatch(/rude\s+-4 {2}met {2}33\.3% of 3/)
  })

  it('takes other scoring rules, and thresholds', async () => {
    const { out } = await grade('--json', '--rule', 'mean')
    expect(parse(out).map(({ score }) => score)).toEqual([1, 1 / 3, 2 / 3])
    const { code, err } = await grade('--min-score', '0.41')
    expect(code).toBe(100)
    expect(err).toContain('mean score: expected at least 0.41')
    expect((await grade('--min-score', '0.39')).code).toBe(0)
  })

  it('grades on after rows that cannot be used', async () => {
    const bad = sandbox.write(
      'bad.jsonl',
      `{"response": "heat"}\nnot json\n{"id": "x", "response": 4}\n\n{"response": ""}\n`,
    )
    const { code, out, err } = await cli(['grade', '--rubric', rubric, '--responses', bad, '--json'])
    expect(code).toBe(1)
    const rows = parse(out)
    expect(rows.map(({ score }) => score)).toEqual([1, null, null, 0.4])
    expect(rows[1].error).toContain('bad.jsonl:2')
    expect(rows[2].error).toMatch(/bad\.jsonl:3: response: expected a string, got 4/)
    expect(err).toContain('2 rows unusable')
  })

  it('refuses rubrics with faulty rules before it grades', async () => {
    const faulty = sandbox.write('faulty.yaml', {
      criteria: [{ id: 'x', text: 'x', points: 1, verifier: { kind: 'rule', fn: 'lenght', params: {} } }],
    })
    const { code, out, err } = await cli(['grade', '--rubric', faulty, '--responses', file])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/faulty\.yaml: criteria\[0\] "x": verifier: fn: .*did you mean length/)
  })

  it('lists the rules, and wants both files', async () => {
    const { out } = await cli(['grade', '--rules'])
    expect(out).toMatch(/keyword_overlap\n.*credit/)
    expect(out).toContain('step_validity')
    const { code, err } = await cli(['grade', '--rubric', rubric])
    expect([code, err]).toEqual([2, 'gradus: --responses: expected a file, got none\n'])
    expect((await cli(['grade', '--rubric', rubric, '--responses', sandbox.path('no')])).err).toContain(
      'ENOENT',
    )
  })
})

describe('gradus grade, with a data set', () => {
  const criteria = (text: string) => [
    { id: 'c', text, points: 1, verifier: { kind: 'rule', fn: 'contains', params: { all: [text] } } },
  ]
  const dataSet = sandbox.write(
    'set.jsonl',
    jsonl([
      { id: 'tea', prompt: 'Tea?', rubric: { criteria: criteria('tea') } },
      { id: 'milk', prompt: 'Milk?', rubric: { criteria: criteria('milk') } },
    ]),
  )

  it('finds the rubric by id, else by prompt', async () => {
    const rows = [
      { id: 'milk', response: 'milk' },
      { prompt: 'Tea? ', response: 'milk' },
      { id: 'a', prompt: [{ role: 'user', content: 'Milk?' }], response: 'milk' },
      { id: 'b', prompt: 'Water?', response: 'milk' },
    ]
    const file = sandbox.write('rows.jsonl', jsonl(rows))
    const { code, out } = await cli(['grade', '--rubric', dataSet, '--responses', file, '--json'])
    const graded = parse(out)
    expect(code).toBe(1)
    expect(graded.map(({ id, rubric, score }) => [id, rubric, score])).toEqual([
      ['milk', 'milk', 1],
      ['tea', 'tea', 0],
      ['a', 'milk', 1],
      ['b', undefined, null],
    ])
    expect(graded[3].error).toMatch(
      /rows\.jsonl:4: expected the id or the prompt of one of 2 rubrics, got those of none/,
    )
  })
})

/** Meets what mentions the word `heat`, anywhere; counts its calls. */
const startJudge = async (answer: (body: string) => Promise<string> | string, status = 200) => {
  let calls = 0
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', async () => {
      calls++
      const content = await answer(body)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get calls() {
      return calls
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('gradus grade, with a judge', () => {
  let judge: Awaited<ReturnType<typeof startJudge>>
  beforeAll(async () => {
    judge = await startJudge(body =>
      body.includes('idiot') ? 'I would rather not say' : `{"explanation": "x", "criteria_met": true}`,
    )
  })
  afterAll(() => judge.close())
  const rubric = sandbox.write('mixed.yaml', mixed)
  const file = sandbox.write('responses.jsonl', responses)
  const files = ['--rubric', rubric, '--responses', file]

  it('asks it about judged criteria only; a judge that fails is not a zero', async () => {
    const before = judge.calls
    const args = ['grade', ...files, '--judge', judge.url, '--model', 'm', '--json']
    const { code, out, err } = await cli(args)
    expect(code).toBe(0)
    const rows = parse(out)
    expect(rows.map(({ verdicts }) => verdicts[3].met)).toEqual([true, null, true])
    expect(rows.map(({ score }) => score)).toEqual([1, -0.4, 0.8])
    expect(rows[1].nulls).toEqual({ positive: 1, negative: 0 })
    // Three judged criteria, one of them with a repair attempt.
    expect(judge.calls - before).toBe(4)
    expect(err).toContain('null verdicts: 11.1% of 9 rewards, 0.0% of 3 penalties')
    const asFalse = await cli([...args, '--nulls', 'as-false'])
    expect(parse(asFalse.out)[1].score).toBe(-0.2)
    expect((await cli([...args, '--max-null-rate', '0.1'])).code).toBe(100)
  })

  it('reuses the verdicts of a cache', async () => {
    const args = [
      'grade',
      ...files,
      '--judge',
      judge.url,
      '--model',
      'm',
      '--json',
      '--cache',
      sandbox.path('cache'),
    ]
    const first = await cli(args)
    const before = judge.calls
    const second = await cli(args)
    const verdicts = ({ out }: CliResult) => out.replace(/"attempts":\d+/g, '')
    expect(verdicts(second)).toBe(verdicts(first))
    // What had no verdict is asked again, with its repair.
    expect(judge.calls - before).toBe(2)
    expect(second.err).toContain('2 from the cache')
  })

  it('without one leaves criteria without verdicts, or refuses', async () => {
    const { code, out, err } = await cli(['grade', ...files, '--json'])
    expect(code).toBe(0)
    expect(parse(out)[0].verdicts[3]).toMatchObject({ met: null, explanation: 'no judge configured' })
    expect(err).toContain('without --judge their verdicts are null')
    expect((await cli(['grade', ...files, '--without-judge', 'error'])).code).toBe(2)
    expect((await cli(['grade', ...files, '--judge', judge.url])).err).toContain('give --model NAME')
    expect((await cli(['grade', ...files, '--model', 'm'])).err).toContain('give --judge URL too')
  })

  it('fails where no call of the judge has an answer, and says why', async () => {
    const broken = await startJudge(() => 'no', 400)
    const { code, out, err } = await cli(['grade', ...files, '--judge', broken.url, '--model', 'm'])
    broken.close()
    expect(code).toBe(1)
    expect(out).toMatch(/null verdicts: 33\.3% of 9 rewards.*\nthe first of them, kind: .*400/)
    expect(err).toContain('the judge answered none of its calls')
  })

  it('stops on a judge that refuses every call', async () => {
    const args = [
      'grade',
      ...files,
      '--judge',
      judge.url,
      '--model',
      'm',
      '--api-key-env',
      'GRADUS_NO_SUCH_KEY',
    ]
    const { code, err } = await cli(args)
    expect(code).toBe(1)
    expect(err).toContain('GRADUS_NO_SUCH_KEY is not set')
  })
})

describe('gradus grade, with a judge that refuses, or keeps silent', () => {
  const rubric = sandbox.write('judged-only.yaml', { criteria: [{ id: 'k', text: 'Is kind', points: 1 }] })
  const yes = JSON.stringify({
    choices: [{ message: { content: '{"explanation": "x", "criteria_met": true}' }, finish_reason: 'stop' }],
  })
  let server: Server
  /** Status of call number n, and its headers; null for no answer at all. */
  let behave: (call: number) => [status: number, headers?: Record<string, string>] | null
  let calls = 0
  let runs = 0
  let url = ''
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => {
        // What an earlier command gave up may still be on its way.
        if (!request.url?.endsWith(`?run=${runs}`)) return
        const reply = behave(++calls)
        if (reply === null) return
        const [status, headers = {}] = reply
        response.writeHead(status, headers).end(status === 200 ? yes : '{"error": {"message": "no"}}')
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const grade = (rows: number, ...more: string[]) => {
    calls = 0
    runs++
    const many = Array.from({ length: rows }, (_, id) => ({ id, response: `answer ${id}` }))
    const file = sandbox.write('refused.jsonl', jsonl(many))
    return cli([
      'grade',
      '--rubric',
      rubric,
      '--responses',
      file,
      '--judge',
      `${url}?run=${runs}`,
      '--model',
      'm',
      ...more,
    ])
  }
  const metOf = ({ out }: CliResult) => parse(out).map(({ verdicts }) => verdicts[0].met)

  it('goes on where a refusal is one among good answers', async () => {
    const strays = new Map([401, 402, 403, 404, 405, 301].map((status, index) => [100 + 60 * index, status]))
    behave = call => [strays.get(call) ?? 200]
    const result = await grade(500, '--json', '--concurrency', '8')
    expect(result.code).toBe(0)
    expect(metOf(result)).toEqual(new Array(500).fill(true))
    expect(calls).toBe(506)
    expect(result.err).toContain('500 calls (506 attempts, 0 failed, 0 unusable)')
    expect(result.err).toContain('attempts that failed: 3 auth, 3 config')
  })

  it('without retries has a null for it', async () => {
    behave = call => [call === 30 ? 401 : 200]
    const result = await grade(60, '--json', '--retries', '0', '--concurrency', '1')
    expect(result.code).toBe(0)
    const met = metOf(result)
    expect(met.filter(each => each === true)).toHaveLength(59)
    expect(met[29]).toBeNull()
    expect(parse(result.out)[29].verdicts[0].explanation).toContain('HTTP 401')
  })

  it('stops at the first answer that refuses, and at ten in a row', async () => {
    behave = () => [401]
    const first = await grade(60)
    expect([first.code, calls <= 64]).toEqual([1, true])
    expect(first.err).toContain('HTTP 401: no; check that apiKeyEnv')
    behave = call => [call <= 20 ? 200 : 403]
    const later = await grade(60, '--json', '--concurrency', '4')
    expect(later.code).toBe(1)
    expect(later.err).toContain('HTTP 403: no; check that apiKeyEnv')
    expect(calls).toBeLessThan(60)
  })

  it('waits for an answer as long as it is told, and tries as often', async () => {
    behave = () => null
    const result = await grade(2, '--json', '--timeout', '0.2', '--retries', '1')
    expect(result.code).toBe(1)
    expect(metOf(result)).toEqual([null, null])
    expect(parse(result.out)[0].verdicts[0]).toMatchObject({ attempts: 2 })
    expect(parse(result.out)[0].verdicts[0].explanation).toMatch(/within 200 ms.*attempt 2 of 2/)
    expect(calls).toBe(4)
  })

  it('refuses times and numbers that are none, and either without a judge', async () => {
    expect((await grade(1, '--timeout', '0')).err).toContain('Expected a number above 0')
    expect((await grade(1, '--retries', '-1')).err).toContain('Expected a whole number')
    const { code, err } = await cli(['grade', '--rubric', rubric, '--responses', '-', '--timeout', '5'])
    expect([code, err.includes('--timeout: there is no judge to use it with')]).toEqual([2, true])
    const scaled = await cli(['grade', '--rubric', rubric, '--responses', '-', '--levels', 'levels'])
    expect([scaled.code, scaled.err.includes('--levels: there is no judge')]).toEqual([2, true])
  })
})

describe('gradus grade, interrupted', () => {
  let judge: Awaited<ReturnType<typeof startJudge>> | undefined
  afterEach(() => judge?.close())

  it('finishes what is under way, prints it, and says so', async () => {
    let interrupt = () => {}
    let answered = 0
    judge = await startJudge(async () => {
      await new Promise(resolve => setTimeout(resolve, 5))
      if (++answered === 5) interrupt()
      return '{"explanation": "x", "criteria_met": true}'
    })
    let out = ''
    let err = ''
    const io: Io = {
      out: { write: text => (out += text) },
      err: { write: text => (err += text) },
      onInterrupt: handler => {
        interrupt = handler
        return () => {}
      },
    }
    const rows = Array.from({ length: 200 }, (_, index) => ({ id: index, response: `answer ${index}` }))
    const code = await gradeCommand(
      {
        rubric: sandbox.write('judged.yaml', { criteria: [{ id: 'k', text: 'Is kind', points: 1 }] }),
        responses: sandbox.write('many.jsonl', jsonl(rows)),
        judge: judge.url,
        model: 'm',
        calls: 'criterion',
        concurrency: 4,
        rule: 'signed',
        nulls: 'drop',
        withoutJudge: 'null',
        json: true,
      },
      io,
    )
    expect(code).toBe(130)
    const graded = parse(out)
    expect(graded.length).toBeGreaterThanOrEqual(5)
    expect(graded.length).toBeLessThan(20)
    expect(graded.map(({ id, score }) => [id, score])).toEqual(graded.map((_, index) => [index, 1]))
    expect(graded.length).toBe(answered)
    expect(err).toContain('interrupted: what was under way has been finished')
  })

  it('gives up what a judge does not answer when its time is over, and says how to quit before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    let found = ''
    let interrupt = () => {}
    const io: Io = {
      out: { write: () => {} },
      err: { write: text => (found += text) },
      onInterrupt: handler => {
        interrupt = handler
        return () => {}
      },
    }
    const { stop, quit, release } = stopThenQuit(io, 20)
    interrupt()
    expect([stop.aborted, quit.aborted]).toEqual([true, false])
    expect(found).toContain('finishing what is under way, for at most 20')
    expect(found).toContain('once more (Ctrl+C or SIGTERM) quits at once')
    vi.advanceTimersByTime(20_000)
    expect(quit.aborted).toBe(true)
    release()
    const second = stopThenQuit(io, 20)
    interrupt()
    interrupt()
    expect(second.quit.aborted).toBe(true)
    second.release()
    vi.useRealTimers()
  })

  it('answers row by row on a pipe, and ends at a signal while it waits for more', async () => {
    const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
    const rubric = sandbox.write('pipe.yaml', rules)
    const child = spawn(process.execPath, [main, 'grade', '--rubric', rubric, '--responses', '-', '--json'])
    let out = ''
    let rows = 0
    child.stdout.on('data', chunk => {
      out += chunk
      rows = out.split('\n').length - 1
      if (rows === 1) child.stdin.write('{"id": 2, "response": "cold"}\n')
      if (rows === 2) child.kill('SIGINT')
    })
    child.stdin.write('{"id": 1, "response": "heat"}\n')
    const code = await new Promise(resolve => child.once('close', resolve))
    expect(code).toBe(130)
    expect(parse(out).map(({ id, score }) => [id, score])).toEqual([
      [1, 1],
      [2, 0.4],
    ])
  })
})
