import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const GOOD = {
  criteria: [
    { id: 'cause', text: 'Names the cause of the fault', points: 5 },
    { id: 'remedy', text: 'Names a part to replace', points: 4 },
    { id: 'guess', text: 'Claims that the device cannot be repaired', points: -3 },
  ],
}
const withMore = (...criteria: object[]) => ({ criteria: [...GOOD.criteria, ...criteria] })
const jsonl = (rows: readonly unknown[]) => rows.map(row => JSON.stringify(row)).join('\n')

const jsonOf = (out: string) =>
  JSON.parse(out) as {
    rubrics: number
    criteria: number
    counts: Record<string, number>
    findings: { rubric: string; rule: string; criterionIds: string[] }[]
  }

describe('gradus rubric lint', () => {
  it('has nothing to say about a good rubric', async () => {
    const file = sandbox.write('good.yaml', GOOD)
    const { code, out } = await cli(['rubric', 'lint', file, '--strict'])
    expect(code).toBe(0)
    expect(out).toBe('1 rubric, 3 criteria: 0 errors, 0 warnings, 0 info\n')
  })

  it('prints criterion and fix, and exits by severity', async () => {
    const warned = sandbox.write(
      'warned.yaml',
      withMore({ id: 'nice', text: 'The text is clear.', points: 2 }),
    )
    const plain = await cli(['rubric', 'lint', warned])
    expect(plain.code).toBe(0)
    expect(plain.out).toContain('warning vague: nice "The text is clear." (+2) rests on "clear"')
    expect(plain.out).toContain('-> say in nice what can be seen')
    expect((await cli(['rubric', 'lint', warned, '--strict'])).code).toBe(100)
    expect((await cli(['rubric', 'lint', warned, '--max-warnings', '1'])).code).toBe(0)
    expect((await cli(['rubric', 'lint', warned, '--strict', '--off', 'vague'])).code).toBe(0)
    const wrong = sandbox.write(
      'wrong.yaml',
      withMore({ id: 'no', text: 'Does not name the cause of the fault', points: 1 }),
    )
    expect((await cli(['rubric', 'lint', wrong])).code).toBe(1)
  })

  it('takes rows of a training, and leaves those aside that are a prompt alone', async () => {
    const alone = { prompt: 'Name a fruit.' }
    const rows = sandbox.write('rows.jsonl', jsonl([alone, { ...alone, ...GOOD }, alone]))
    const { code, out, err } = await cli(['rubric', 'lint', rows])
    expect([code, out]).toEqual([0, '1 rubric, 3 criteria: 0 errors, 0 warnings, 0 info\n'])
    expect(err).toBe('2 rows left aside: a prompt alone, whose rubric is in another file\n')
    const prompts = sandbox.write('prompts.jsonl', jsonl([alone, alone]))
    for (const command of [['lint'], ['perturb', '--variant', 'inverse']]) {
      const refused = await cli(['rubric', ...command, prompts])
      expect(refused.code).toBe(1)
      expect(refused.err).toContain(
        'prompts.jsonl:1: expected a rubric, got a prompt alone; name the file that its rubric is in, or give the row criteria',
      )
    }
    const mixed = sandbox.write('mixed.jsonl', jsonl([{ ...alone, ...GOOD }, alone]))
    expect((await cli(['rubric', 'perturb', '--variant', 'inverse', mixed])).err).toContain(
      'mixed.jsonl:2: expected a rubric, got a prompt alone',
    )
  })

  it('reads criteria of 0 points, which other commands refuse', async () => {
    const file = sandbox.write('zero.yaml', withMore({ id: 'zero', text: 'Greets the reader', points: 0 }))
    const { code, out } = await cli(['rubric', 'lint', file, '--json'])
    expect(code).toBe(1)
    expect(jsonOf(out)).toMatchObject({
      rubrics: 1,
      criteria: 4,
      counts: { error: 1, warning: 0, info: 0 },
      findings: [{ rubric: 'row1', rule: 'zero-points', severity: 'error', criterionIds: ['zero'] }],
    })
    const broken = sandbox.write('broken.yaml', withMore({ id: 'zero', text: '', points: 0 }))
    const failure = await cli(['rubric', 'lint', broken])
    expect(failure.code).toBe(1)
    expect(failure.err).toContain('broken.yaml')
  })

  it('takes verdicts of runs, joined by id, with outcomes', async () => {
    const file = sandbox.write('run.yaml', GOOD)
    const ids = Array.from({ length: 40 }, (_, i) => i)
    const verdicts = (flip: boolean) =>
      ids.map(id => ({
        id,
        score: 0,
        verdicts: [
          { criterionId: 'cause', points: 5, met: true, source: 'llm' },
          { criterionId: 'remedy', points: 4, met: (id % 2 === 0) !== (flip && id % 3 === 0), source: 'llm' },
          { criterionId: 'guess', points: -3, met: id % 4 < 2, source: 'llm' },
        ],
      }))
    const first = sandbox.write(
      'first.jsonl',
      jsonl([...verdicts(false), { id: 99, score: null, error: 'x' }]),
    )
    const second = sandbox.write('second.jsonl', jsonl(verdicts(true)))
    const outcomes = sandbox.write('outcomes.jsonl', jsonl(ids.map(id => ({ id, outcome: id % 4 < 2 }))))
    const { out, code, err } = await cli([
      ...['rubric', 'lint', file, '--json', '--verdicts', first, second],
      ...['--outcomes', outcomes],
    ])
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(jsonOf(out).findings.map(({ rule, criterionIds }) => `${rule} ${criterionIds}`)).toEqual([
      'saturated cause',
      'anti-correlated guess',
      'low-agreement remedy',
    ])
    const alone = await cli(['rubric', 'lint', file, '--outcomes', outcomes])
    expect(alone.code).toBe(2)
    const stranger = sandbox.write('stranger.jsonl', jsonl([{ verdicts: { other: true } }]))
    expect((await cli(['rubric', 'lint', file, '--verdicts', stranger])).err).toContain(
      'got only others, such as other;',
    )
  })

  it('leaves verdicts on criteria of single rows aside, and says how many', async () => {
    const file = sandbox.write('shared.yaml', GOOD)
    const rows = Array.from({ length: 40 }, (_, i) => ({
      verdicts: {
        cause: true,
        remedy: i % 2 === 0,
        guess: i % 3 === 0,
        ...(i < 5 && { right: true, own: null }),
      },
    }))
    const verdicts = sandbox.write('with-own.jsonl', jsonl(rows))
    const { code, out, err } = await cli(['rubric', 'lint', file, '--json', '--verdicts', verdicts])
    expect(code).toBe(0)
    expect(err).toBe('10 verdicts left aside: on criteria that the rubric does not have (right, own)\n')
    expect(JSON.parse(out)).toMatchObject({
      leftAside: { verdicts: 10, criteria: ['right', 'own'] },
      findings: [{ rule: 'saturated', criterionIds: ['cause'] }],
    })
  })

  it('wants rows of several rubrics to name theirs', async () => {
    const file = sandbox.write(
      'two.jsonl',
      jsonl([
        { id: 'a', rubric: GOOD },
        { id: 'b', rubric: GOOD },
      ]),
    )
    const rows = Array.from({ length: 20 }, () => ({ rubric: 'b', verdicts: { cause: true } }))
    const verdicts = sandbox.write('two-verdicts.jsonl', jsonl(rows))
    const { out } = await cli(['rubric', 'lint', file, '--json', '--verdicts', verdicts])
    expect(jsonOf(out).findings.map(({ rubric, rule }) => `${rubric} ${rule}`)).toContain('b saturated')
    const nameless = sandbox.write('nameless.jsonl', jsonl([{ verdicts: { cause: true } }]))
    expect((await cli(['rubric', 'lint', file, '--verdicts', nameless])).err).toContain(
      'to name one of 2 rubrics',
    )
  })

  const healthbench = sharedData('healthbench/rows.jsonl')
  it.skipIf(healthbench === null)('goes through HealthBench', async () => {
    const { code, out } = await cli(['rubric', 'lint', healthbench!, '--json'])
    expect(code).toBe(0)
    expect(jsonOf(out)).toMatchObject({ rubrics: 200, criteria: 2428, counts: { error: 0 } })
  })
})

describe('gradus rubric perturb', () => {
  it('writes a spoilt copy and says what changed', async () => {
    const file = sandbox.write('spoil.yaml', GOOD)
    const { code, out, err } = await cli(['rubric', 'perturb', file, '--variant', 'inverse', '--seed', '1'])
    expect(code).toBe(0)
    expect(parse(out).criteria.map(({ points }: { points: number }) => points)).toEqual([-3, 4, 5])
    expect(err).toBe('changed cause, guess; score out of 9\n')
    const target = sandbox.path('ambiguous.json')
    await cli(['rubric', 'perturb', file, '--variant', 'ambiguous', '--out', target])
    const [{ rubric }] = readRubricFile(target).items
    expect(rubric.criteria).toHaveLength(4)
    expect(rubric.criteria[3].verifier?.fn).toBe('coin')
  })

  it('names the variants', async () => {
    const file = sandbox.write('spoil2.yaml', GOOD)
    const { code, err } = await cli(['rubric', 'perturb', file, '--variant', 'inverted'])
    expect(code).toBe(2)
    expect(err).toContain('did you mean inverse?')
  })
})

describe('with a model', () => {
  let server: Server
  /** Null: no answer, ever. */
  let answers: (body: string) => string | null
  let url = ''
  const read = async (request: IncomingMessage) => {
    let text = ''
    for await (const chunk of request) text += chunk
    return text
  }
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const content = answers(await read(request))
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

  const categories = ['factual accuracy', 'solution', 'answer consistency', 'format compliance', 'solution']
  const draft = JSON.stringify({
    criteria: ['States 42', 'Multiplies 6 by 7', 'Ends with the product', 'Is one line', 'Shows a sum'].map(
      (criterion, i) => ({ criterion, category: categories[i], points: i + 1 }),
    ),
  })

  it('generates a rubric for a question', async () => {
    answers = () => `Sure:\n\`\`\`json\n${draft}\n\`\`\``
    const { code, out, err } = await cli([
      ...['rubric', 'generate', '--question', 'What is 6 x 7?', '--reference', '42'],
      ...['--judge', url, '--model', 'm'],
    ])
    expect(err).toBe('rubric: 5 criteria\n')
    expect(code).toBe(0)
    expect(parse(out)).toMatchObject({ prompt: 'What is 6 x 7?', reference: '42' })
    expect(parse(out).rubric.criteria).toHaveLength(5)
  })

  it('generates for a file, and names the rows that got none', async () => {
    answers = body => (body.includes('impossible') ? 'I do not know.' : draft)
    const data = sandbox.write(
      'questions.jsonl',
      jsonl([
        { id: 'a', question: 'What is 6 x 7?', answer: 42 },
        { question: 'impossible', answer: 'none' },
      ]),
    )
    const out = sandbox.path('generated.jsonl')
    const { code, err } = await cli([
      ...['rubric', 'generate', '--data', data, '--judge', url, '--model', 'm', '--out', out],
    ])
    expect(code).toBe(1)
    expect(err).toContain('gradus: row2: rubric author m: no usable rubric in two answers')
    expect(readRubricFile(out).items.map(({ id }) => id)).toEqual(['a'])
    const usage = await cli(['rubric', 'generate', '--question', 'x', '--judge', url, '--model', 'm'])
    expect(usage.code).toBe(2)
  })

  it('writes what it has at Ctrl+C', async () => {
    answers = body => (body.includes('endless') ? null : draft)
    const data = sandbox.write(
      'interrupted.jsonl',
      jsonl([
        { id: 'a', question: 'What is 6 x 7?', answer: 42 },
        { id: 'b', question: 'endless', answer: 'none' },
      ]),
    )
    const out = sandbox.path('interrupted-rubrics.jsonl')
    const { code } = await cli(
      ['rubric', 'generate', '--data', data, '--judge', url, '--model', 'm', '--out', out],
      { onProgress: (err, interrupt) => err.includes('a: 5 criteria') && interrupt() },
    )
    expect(code).toBe(130)
    expect(readRubricFile(out).items.map(({ id }) => id)).toEqual(['a'])
  })

  it('refines a rubric from traces', async () => {
    const revised = (text: string, missing: string[]) =>
      JSON.stringify({
        missing,
        redundant: [],
        ambiguous: [],
        criteria: [
          ...GOOD.criteria.map(({ id, text: criterion, points }) => ({ id, criterion, points })),
          { id: 'new', criterion: text, points: 2 },
        ],
      })
    let calls = 0
    answers = () =>
      ++calls === 1 ? revised('Names the price', ['nothing about money']) : revised('Names the price', [])
    const file = sandbox.write('refine.yaml', GOOD)
    const positives = sandbox.write(
      'good.jsonl',
      jsonl(['It is the belt; 5 EUR.', { response: 'The belt.' }]),
    )
    const { code, out, err } = await cli([
      ...['rubric', 'refine', file, '--task', 'Repair it.', '--positives', positives],
      ...['--judge', url, '--model', 'm'],
    ])
    expect(code).toBe(0)
    expect(err).toBe('round 1: missing: nothing about money\n2 rounds: nothing left to change\n')
    expect(parse(out).criteria.at(-1)).toEqual({ id: 'c4', text: 'Names the price', points: 2 })
    const bare = await cli(['rubric', 'refine', file, '--task', 't', '--judge', url, '--model', 'm'])
    expect(bare.code).toBe(2)
    expect(bare.err).toContain('--positives')
  })
})
