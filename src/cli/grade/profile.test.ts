import { mkdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const jsonl = (rows: readonly unknown[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const profile = async (...args: string[]) => {
  const result = await cli(['profile', ...args])
  return { ...result, json: args.includes('--json') && result.code === 0 ? JSON.parse(result.out) : null }
}

const rubric = sandbox.write('rubric.yaml', {
  criteria: [
    {
      id: 'short',
      text: 'Short',
      points: 1,
      category: 'form',
      verifier: { kind: 'rule', fn: 'length', params: { max: 2 } },
    },
    {
      id: 'heat',
      text: 'Heat',
      points: 2,
      category: 'facts',
      verifier: { kind: 'rule', fn: 'contains', params: { all: ['heat'] } },
    },
    {
      id: 'rude',
      text: 'Rude',
      points: -1,
      category: 'form',
      verifier: { kind: 'rule', fn: 'contains', params: { all: ['idiot'] } },
    },
    { id: 'kind', text: 'Kind', points: 1 },
  ],
})

const graded = async (name: string, responses: readonly string[]) => {
  const rows = sandbox.write(`${name}.in.jsonl`, jsonl(responses.map((response, id) => ({ id, response }))))
  const { out } = await cli(['grade', '--rubric', rubric, '--responses', rows, '--json'])
  return sandbox.write(`${name}.jsonl`, out)
}

describe('gradus profile', async () => {
  const before = await graded('before', ['boil it', 'heat it', 'boil it, idiot', 'it'])
  const after = await graded('after', ['heat it', 'heat it', 'heat it for long', 'heat'])

  it('profiles the output of gradus grade', async () => {
    const { json, code } = await profile(before, '--json')
    expect(code).toBe(0)
    const means = json.criteria.map(
      (row: { criterion: string; satisfaction: { estimate: number } | null }) => [
        row.criterion,
        row.satisfaction?.estimate ?? null,
      ],
    )
    expect(means).toEqual([
      ['short', 0.75],
      ['heat', 0.25],
      ['rude', 0.25],
      ['kind', null],
    ])
    expect(json.criteria[3]).toMatchObject({ nulls: 4, items: 0 })
    // Scores 1/3, 1, -1/3, 1/3.
    expect(json.score.estimate).toBeCloseTo(1 / 3, 12)
    const { out } = await profile(before)
    expect(out).toMatch(/rude\s+25\.0% {2}\[0\.0%, 75\.0%\] {2}.*4 items {2}penalty/)
    expect(out).toMatch(/kind\s+no verdicts.*0 items, 4 null/)
  })

  it('compares two, and draws', async () => {
    const svg = sandbox.path('profile.svg')
    const { json } = await profile(after, '--against', before, '--json', '--svg', svg)
    expect(json.criteria[1].difference).toMatchObject({ estimate: 0.75 })
    expect(json.criteria[1].sharedItems).toBe(4)
    expect(sandbox.read('profile.svg')).toMatch(/^<svg .*\n[\s\S]*<\/svg>\n$/)
    const page = await profile(after, '--against', before, '--svg', sandbox.path('profile.html'))
    expect(page.out).toMatch(/heat\s+100\.0%.*against {2}25\.0%.*\+75\.0 \[\+25\.0, \+100\.0\] {3}4 items/)
    expect(sandbox.read('profile.html')).toMatch(/^<!doctype html>/)
  })

  it('groups by category: what is good about each criterion', async () => {
    const { json } = await profile(before, '--rubric', rubric, '--by', 'category', '--json')
    const form = json.criteria.find(({ criterion }: { criterion: string }) => criterion === 'form')
    // Items: short and not rude 1, 1, 0 (long and rude), 1.
    expect(form.satisfaction.estimate).toBe(0.75)
    const { err, code } = await profile(before, '--by', 'category')
    expect(code).toBe(1)
    expect(err).toContain('give --rubric FILE')
  })

  it('refuses to mix up the criteria of several rubrics', async () => {
    const verdicts = [{ criterionId: 'c0', met: true }]
    const mixed = sandbox.write(
      'mixed.jsonl',
      jsonl([
        { id: 1, rubric: 'a', verdicts },
        { id: 2, rubric: 'b', verdicts },
      ]),
    )
    const { code, err } = await profile(mixed)
    expect(code).toBe(1)
    expect(err).toContain('expected verdicts on one rubric, got those on a and b')
    const set = sandbox.write(
      'set.jsonl',
      jsonl(
        ['a', 'b'].map(id => ({
          id,
          rubric: { criteria: [{ id: 'c0', text: id, points: id === 'a' ? 1 : -1, tags: ['t', id] }] },
        })),
      ),
    )
    const { json } = await profile(mixed, '--rubric', set, '--by', 'tag', '--json')
    expect(
      json.criteria.map((row: { criterion: string; satisfaction: { estimate: number } }) => [
        row.criterion,
        row.satisfaction.estimate,
      ]),
    ).toEqual([
      ['t', 0.5],
      ['a', 1],
      ['b', 0],
    ])
  })

  it('takes rows of gradus score, and says what is wrong with others', async () => {
    const rows = sandbox.write(
      'rows.jsonl',
      jsonl([
        { criteria: [{ points: 5 }, { points: -2 }], verdicts: [true, null] },
        { criteria: [{ points: 5 }, { points: -2 }], verdicts: [false, true] },
      ]),
    )
    const { json } = await profile(rows, '--json')
    expect(json.criteria[0].satisfaction.estimate).toBe(0.5)
    expect(json.criteria[1]).toMatchObject({ items: 1, nulls: 1, points: -2 })
    const bad = sandbox.write('bad.jsonl', '{"verdicts": [{"criterionId": "a", "met": "yes"}]}\n')
    expect((await profile(bad)).err).toMatch(
      /bad\.jsonl:1: verdicts\[0\]\.met: expected a boolean, got "yes"/,
    )
    expect((await profile(sandbox.write('none.jsonl', '{"id": 1}\n'))).err).toContain('holds no verdicts')
  })

  it('profiles runs, by evaluation or by rollouts', async () => {
    const run = (name: string, credits: readonly number[]) => {
      mkdirSync(sandbox.path(name), { recursive: true })
      sandbox.write(
        `${name}/config.json`,
        JSON.stringify({
          id: name,
          createdAt: '2026-01-01',
          config: {},
          environment: {},
          criterionNames: { C1: 'answer' },
        }),
      )
      const scored = (value: number) => ({ primary: 'accuracy', scores: { accuracy: { value } } })
      const items = credits.map((C1, index) => ({
        id: `p${index}`,
        scores: { accuracy: C1 },
        criteria: { C1, C2: null },
      }))
      sandbox.write(
        `${name}/evals.jsonl`,
        jsonl([
          {
            step: 0,
            set: 'real',
            n: 2,
            ...scored(0),
            items: items.map(item => ({ ...item, criteria: { C1: 0 } })),
          },
          { step: 5, set: 'real', n: 2, ...scored(1), items },
          { step: 6, set: 'real', n: 2, ...scored(0), items: [] },
        ]),
      )
      sandbox.write(
        `${name}/rollouts.jsonl`,
        jsonl(
          [1, 2, 3].map(step => ({
            step,
            problemId: `q${step}`,
            prompt: 'p',
            response: 'r',
            reward: step,
            parts: { C1: step === 3 ? 1 : 0 },
          })),
        ),
      )
      return sandbox.path(name)
    }
    const graded = sandbox.write('nulls.jsonl', jsonl([{ problemId: 'q', parts: { C1: 1, C2: null } }]))
    const ofFile = (await profile(graded, '--json')).json
    expect(ofFile.criteria).toMatchObject([
      { criterion: 'C1' },
      { criterion: 'C2', nulls: expect.anything() },
    ])
    const a = run('a', [0, 0, 1, 0])
    const b = run('b', [1, 1, 1, 0])
    const { json } = await profile(b, '--against', a, '--json')
    expect(json.source).toMatch(/b, real, step 5$/)
    expect(json.criteria[0]).toMatchObject({ criterion: 'C1 answer', satisfaction: { estimate: 0.75 } })
    expect(json.criteria[0].difference.estimate).toBe(0.5)
    const rollouts = await profile(a, '--from', 'rollouts', '--steps', '2-3', '--json')
    expect(rollouts.json.criteria[0].satisfaction.estimate).toBe(0.5)
    expect(rollouts.json.score.estimate).toBe(2.5)
    const some = await profile(a, '--steps', '2-3', '--json')
    expect(some.json.source).toMatch(/2 rollouts, steps 2 to 3$/)
    expect((await profile(a, '--set', 'nowhere', '--from', 'eval')).err).toContain('none on nowhere')
    expect((await profile(a, '--set', 'nowhere')).err).toContain('none on nowhere')
    expect((await profile(graded, '--set', 'real')).code).toBe(2)
    expect((await profile(sandbox.path('no-such'))).code).toBe(1)
  })
})
