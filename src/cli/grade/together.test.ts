import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
let server: Server
let url: string
const bodies: string[] = []
afterAll(() => {
  server.closeAllConnections()
  server.close()
  sandbox.remove()
})

/** Scores a response by its length, and says nothing of one that is `silent`. */
const answerTo = (content: string): string => {
  const shown = [...content.matchAll(/<response-(\w+)>\n([\s\S]*?)\n<\/response-\1>/g)].map(match => match[2])
  const verdicts = shown.map((text, i) => ({
    number: i + 1,
    justification: `${text.length} characters`,
    relative_score: text === 'silent' ? null : text.length / 100,
  }))
  return JSON.stringify({ verdicts })
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      bodies.push(body)
      const { messages } = JSON.parse(body)
      const content = answerTo(messages[1].content)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})

const jsonl = (rows: readonly unknown[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const rows = jsonl([
  { id: 'a', prompt: 'Tea?', response: 'yes please' },
  { id: 'b', prompt: 'Milk?', response: 'no' },
  { id: 'c', prompt: 'Tea?', response: 'yes' },
  { id: 'd', prompt: 'Milk?', response: 'silent' },
])

describe('gradus grade --together', () => {
  const file = sandbox.write('rows.jsonl', rows)
  const grade = (...more: string[]) =>
    cli(['grade', '--together', '--responses', file, '--judge', url, '--model', 'm', ...more])

  it('asks once a prompt and scores responses relative to each other; what is not known is null', async () => {
    const before = bodies.length
    const { code, out, err } = await grade('--json')
    expect(code).toBe(0)
    expect(bodies.length - before).toBe(2)
    const found = out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(found.map(({ id, group, score }) => [id, group, score])).toEqual([
      ['a', 1, 0.1],
      ['c', 1, 0.03],
      ['b', 2, 0.02],
      ['d', 2, null],
    ])
    expect(found[0].explanation).toBe('10 characters')
    expect(found[3]).toHaveProperty('error')
    expect(err).toContain('4 responses in 2 groups: mean score 0.0500, 1 without a score')
  })

  it('goes by a criterion or a rubric, and looks as often as it is told to', async () => {
    const before = bodies.length
    expect((await grade('--criterion', 'the politer the better', '--looks', '3')).code).toBe(0)
    expect(bodies.length - before).toBe(6)
    expect(bodies.at(-1)).toContain('the politer the better')
    const rubric = sandbox.write('rubric.yaml', { criteria: [{ id: 'x', text: 'is polite', points: 4 }] })
    expect((await grade('--rubric', rubric)).code).toBe(0)
    expect(bodies.at(-1)).toContain('(merit, 4 points) is polite')
  })

  it('takes rows of one group as one, whatever their prompts', async () => {
    const own = sandbox.write(
      'groups.jsonl',
      jsonl([
        { group: 'x', prompt: 'Tea?', response: 'one' },
        { group: 'x', prompt: 'Milk?', response: 'three' },
      ]),
    )
    const { out } = await cli(['grade', '--together', '--responses', own, '--judge', url, '--model', 'm'])
    expect(out).toContain('group 1, 2 responses')
  })

  it('has thresholds', async () => {
    expect((await grade('--min-score', '0.9')).code).toBe(100)
    expect((await grade('--max-null-rate', '0.1')).code).toBe(100)
    expect((await grade('--max-null-rate', '0.5')).code).toBe(0)
  })

  it.each([
    ['--together', ['--together', '--responses', file]],
    ['--dry-run', ['--together', '--responses', file, '--judge', 'http://x', '--model', 'm', '--dry-run']],
    ['--criterion', ['--responses', file, '--rubric', file, '--criterion', 'x']],
    [
      '--criterion',
      [
        '--together',
        '--responses',
        file,
        '--rubric',
        file,
        '--criterion',
        'x',
        '--judge',
        'http://x',
        '--model',
        'm',
      ],
    ],
    ['--responses', ['--together', '--judge', 'http://x', '--model', 'm']],
  ])('refuses what does not go together: %s', async (option, args) => {
    const { code, err } = await cli(['grade', ...args])
    expect(code).toBe(2)
    expect(err).toContain(`${option}:`)
  })
})
