import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())
const jsonl = (rows: readonly unknown[]) => rows.map(row => JSON.stringify(row)).join('\n')

const TEXTS = ['Writes each sum down', 'Checks a sum backwards', 'Names the carry', 'Keeps to the order']
const draft = (texts: readonly string[] = TEXTS, more: object = {}) =>
  JSON.stringify({
    missing: [],
    redundant: [],
    ambiguous: [],
    ...more,
    criteria: texts.map((criterion, i) => ({ id: `c${i + 1}`, criterion, points: i + 1 })),
  })

const TASK = {
  task: 'Work out a chain of sums.',
  dimensions: ['order', 'checks'],
  positives: ['<think>first 1 + 2 = 3, check</think>3', { thinking: 'first 3 + 4 = 7, check' }],
  negatives: [{ response: '<think>it is 3</think>3' }, { text: 'a guess: 7' }],
}
const rule = (word: string) => ({ kind: 'rule', fn: 'contains', params: { any: [word] } })
const BANK = {
  criteria: [
    { id: 'first', text: 'Begins with the first step', points: 1, verifier: rule('first') },
    { id: 'guess', text: 'Guesses', points: 1, verifier: rule('guess') },
  ],
}

describe('gradus rubric author with a bank of rules', () => {
  const task = sandbox.write('task.yaml', TASK)
  const bank = sandbox.write('bank.yaml', BANK)

  it('writes what the traces tell apart', async () => {
    const out = sandbox.path('rubric.yaml')
    const { code, err } = await cli(['rubric', 'author', '--task', task, '--bank', bank, '--out', out])
    expect(err).toContain('rubric: 2 criteria after 1 round: nothing left to change; 100.0% of the pairs')
    expect(code).toBe(0)
    const { rubric } = readRubricFile(out).items[0]
    expect(rubric.about).toBe('thinking')
    // phi of `first` is 1; `guess` holds for one of two bad traces: -.577 of 5 points.
    expect(rubric.criteria.map(({ id, points }) => [id, points])).toEqual([
      ['first', 5],
      ['guess', -3],
    ])
    expect((await cli(['rubric', 'lint', out, '--off', 'vague'])).code).toBe(0)
  })

  it('takes further traces from files, and prints what it did as JSON', async () => {
    const bare = sandbox.write('bare.yaml', { id: 'sums', task: 'Add.' })
    const good = sandbox.write('good.jsonl', jsonl(['first a', 'first b']))
    const bad = sandbox.write('bad.jsonl', jsonl(['a guess', { response: 'nothing' }]))
    const { code, out } = await cli([
      ...['rubric', 'author', '--task', bare, '--positives', good, '--negatives', bad],
      ...['--bank', bank, '--json'],
    ])
    expect(code).toBe(0)
    const { rubrics, failed } = JSON.parse(out)
    expect(failed).toEqual([])
    expect(rubrics[0]).toMatchObject({ id: 'sums', stopped: 'no-change', separated: 1, usage: null })
  })

  it('writes a rubric a question, and names the one that it could not', async () => {
    const rows = [
      { query: 'What is 1 + 2?', thinking: 'first' },
      { query: 'What is 3 + 4?', thinking: 'first' },
    ]
    const good = sandbox.write('good-q.jsonl', jsonl(rows))
    const bad = sandbox.write('bad-q.jsonl', jsonl([{ query: 'What is 1 + 2?', thinking: 'a guess' }]))
    const bare = sandbox.write('bare-q.yaml', { id: 'sums', task: 'Add.' })
    const out = sandbox.path('queries.jsonl')
    const { code, err } = await cli([
      ...['rubric', 'author', '--task', bare, '--positives', good, '--negatives', bad],
      ...['--bank', bank, '--per-query', '--out', out],
    ])
    expect(code).toBe(1)
    expect(err).toContain('gradus: sums-2: rubric author: expected good and bad traces')
    const { items } = readRubricFile(out)
    expect(items.map(({ id, prompt }) => [id, prompt?.[0].content])).toEqual([['sums-1', 'What is 1 + 2?']])
  })

  it('says what it lacks', async () => {
    const run = async (...args: string[]) => cli(['rubric', 'author', '--task', task, ...args])
    expect((await run()).code).toBe(2)
    expect((await run()).err).toContain('expected --judge URL with --model NAME, or --bank FILE, got neither')
    expect((await run('--bank', bank, '--judge', 'http://x', '--model', 'm')).err).toContain('got both')
    expect((await run('--judge', 'http://127.0.0.1:1/v1')).err).toContain('expected --model NAME')
    expect((await run('--bank', bank, '--per-query')).err).toContain('expected queries in the task')
    const judged = sandbox.write('judged.yaml', { criteria: [{ id: 'a', text: 'Says so', points: 1 }] })
    const unruled = await run('--bank', judged)
    expect([unruled.code, unruled.err]).toEqual([
      1,
      expect.stringContaining('expected a rule as its verifier'),
    ])
    const empty = sandbox.write('empty.yaml', { task: 'Add.' })
    const none = await cli(['rubric', 'author', '--task', empty, '--bank', bank])
    expect(none.err).toContain('expected traces to learn from, got none')
    const wrong = sandbox.write('wrong.yaml', { tusk: 'Add.' })
    expect((await cli(['rubric', 'author', '--task', wrong, '--bank', bank])).err).toContain('tusk')
    const right = sandbox.write('right.yaml', {
      criteria: [{ id: 'a', text: 'The final answer is correct', points: 1, verifier: rule('first') }],
    })
    expect((await run('--bank', right)).err).toContain('got one about the answer')
  })
})

describe('gradus rubric author with a model over HTTP', () => {
  let server: Server
  let answers: (body: string, call: number) => string | null
  let calls = 0
  let url = ''
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const content = answers(body, calls++)
      if (content === null) return
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
      )
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  })
  afterAll(
    () =>
      new Promise(resolve => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  const task = sandbox.write('task-http.yaml', TASK)

  it('writes a first rubric and revises it, and says what each round named', async () => {
    calls = 0
    const bodies: string[] = []
    answers = (body, call) => {
      bodies.push(body)
      const revised = [...TEXTS.slice(0, 3), 'Keeps to the order of the chain']
      return call === 0 ? draft() : draft(revised, call === 1 ? { ambiguous: ['order of what?'] } : {})
    }
    const { code, out, err } = await cli(['rubric', 'author', '--task', task, '--judge', url, '--model', 'm'])
    expect(err).toBe(
      'rubric: round 1: ambiguous: order of what?\nrubric: 4 criteria after 2 rounds: nothing left to change\n',
    )
    expect(code).toBe(0)
    expect(parse(out)).toMatchObject({ about: 'thinking', criteria: [{ text: TEXTS[0] }, {}, {}, {}] })
    // Of a whole response only the thinking is shown.
    expect(bodies[0]).toContain('first 1 + 2 = 3, check')
    expect(bodies[0]).not.toContain('</think>')
    expect(bodies[0]).toContain('- order')
  })

  it('writes the others where one cannot be written, and exits with 1', async () => {
    answers = body => (body.includes('impossible') ? 'I do not know.' : draft())
    const rows = sandbox.write(
      'tasks.jsonl',
      jsonl([
        { id: 'a', ...TASK },
        { id: 'b', ...TASK, task: 'impossible' },
      ]),
    )
    const out = sandbox.path('rubrics.jsonl')
    const { code, err } = await cli([
      ...['rubric', 'author', '--task', rows, '--judge', url, '--model', 'm', '--out', out],
    ])
    expect(code).toBe(1)
    expect(err).toContain('gradus: b: rubric author m: no usable rubric in two answers')
    expect(readRubricFile(out).items.map(({ id }) => id)).toEqual(['a'])
  })

  it('keeps the rubric of the rounds before where a later answer cannot be read', async () => {
    calls = 0
    answers = (_, call) =>
      call === 0 ? draft() : call === 1 ? draft([...TEXTS, 'Counts down'], { missing: ['x'] }) : 'no'
    const { code, out, err } = await cli(['rubric', 'author', '--task', task, '--judge', url, '--model', 'm'])
    expect(code).toBe(1)
    expect(err).toContain('no usable rubric in two answers')
    expect(parse(out).criteria).toHaveLength(5)
  })

  it('stops at Ctrl+C', async () => {
    answers = body => (body.includes('endless') ? null : draft())
    const rows = sandbox.write(
      'endless.jsonl',
      jsonl([
        { id: 'a', ...TASK },
        { id: 'b', ...TASK, task: 'endless' },
      ]),
    )
    const out = sandbox.path('interrupted.jsonl')
    const { code } = await cli(
      ['rubric', 'author', '--task', rows, '--judge', url, '--model', 'm', '--out', out],
      { onProgress: (err, interrupt) => err.includes('a: 4 criteria') && interrupt() },
    )
    expect(code).toBe(130)
  })
})
