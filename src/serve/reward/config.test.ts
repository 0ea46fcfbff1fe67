import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseRewardConfig, readRewardConfig } from './config-file.ts'
import { openGrading } from './grading.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const ruleRubric = {
  criteria: [{ id: 'a', text: 'b', points: 1, verifier: { kind: 'rule', fn: 'length', params: { max: 5 } } }],
}

describe('reward.yaml', () => {
  it.each([
    [{}, 0],
    [{ uniqueNames: true }, 1],
  ])('solver %j is what formal checks go by', async (solver, credit) => {
    const { grader } = await openGrading(parseRewardConfig({ solver }), '.')
    const params = { premises: ['a = b ∨ P(a)'], conclusion: 'P(a)' }
    const criterion = {
      id: 'c',
      text: 't',
      points: 1,
      verifier: { kind: 'formal' as const, fn: 'entailed_answer', params },
    }
    const [verdict] = await grader.grade({ prompt: [], response: '<answer>True</answer>' }, [criterion])
    expect(verdict.credit).toBe(credit)
    await grader.close?.()
  })

  it('of nothing is all defaults', () => {
    const config = parseRewardConfig(null)
    expect(config.server).toEqual({ host: '127.0.0.1', port: 8700, openToAnyone: false })
    expect(config.aggregation).toEqual({
      rule: 'signed',
      nulls: 'drop',
      maxNullShare: 1,
      scale: 1,
      offset: 0,
      clip: null,
    })
    expect(config.routes.map(({ kind, path }) => [kind, path])).toEqual([
      ['grade', '/v1/grade'],
      ['openrlhf', '/openrlhf'],
      ['slime', '/slime'],
      ['nemo-gym', '/verify'],
    ])
    // Clients give up after 120 s (slime) and 180 s (OpenRLHF).
    expect(config.limits.deadlineMs).toBeLessThan(120_000)
  })

  it('has its limits and their defaults told to operators', () => {
    const page = readFileSync(new URL('../../../docs/howto/reward-server.md', import.meta.url), 'utf8')
    const rows = page.matchAll(/^\| `limits\.(\w+)` \| ([^|]+) \|/gm)
    const found = new Map([...rows].map(([, key, value]) => [key, value.replaceAll(',', '')]))
    const { memoryBytes, ...limits } = parseRewardConfig(null).limits
    expect(memoryBytes).toBeGreaterThan(0)
    expect(found.get('memoryBytes')).toBe('3/4 of what the process may have')
    found.delete('memoryBytes')
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(limits).map(([key, value]) => [key, String(value)])),
    )
  })

  it.each([
    [{ ruberics: {} }, 'ruberics: expected one of server, rubrics', 'did you mean rubrics?'],
    [
      { aggregation: { rule: 'sigend' } },
      'aggregation.rule: expected the name of a scoring rule',
      'gradus score --help',
    ],
    [{ solver: { timeoutMs: 0 } }, 'solver.timeoutMs: expected a number of at least 1, got 0', ''],
    [{ solver: { uniqueName: true } }, 'solver.uniqueName: ', 'did you mean uniqueNames?'],
    [{ aggregation: { clip: [1, 0] } }, 'aggregation.clip: expected two numbers', 'the lower one first'],
    [
      { limits: { batch: 100, concurrency: 10, waiting: 10 } },
      'limits: expected a batch of at most concurrency + waiting',
      '',
    ],
    [
      { routes: [{ kind: 'slime', path: 'slime' }] },
      'routes[0].path: expected a path that begins with /',
      '',
    ],
    [
      {
        routes: [
          { kind: 'slime', path: '/a' },
          { kind: 'grade', path: '/a' },
        ],
      },
      '/a is taken by routes[0]',
      '',
    ],
    [{ rubrics: { a: 3 } }, 'rubrics.a: expected a file name, {file: ...} or {criteria: [...]}', ''],
    [
      { judges: { a: { kind: 'scripted', script: [{ criterion: 'x', metWhen: 'y' }] } } },
      'judges.a.script[0].metWhen: expected a list',
      '',
    ],
    [
      { judges: { a: { kind: 'llm', fleet: { endpoints: [] } } } },
      'judges.a.fleet.endpoints: expected at least 1 entry',
      '',
    ],
    [{ judge: { panel: ['a'] } }, 'judge.panel: expected at least 2 entries', ''],
    [{ server: { port: 70_000 } }, 'server.port: expected a number of at most 65535, got 70000', ''],
  ])('refuses %o', (value, message, advice) => {
    expect(() => parseRewardConfig(value)).toThrow(message)
    expect(() => parseRewardConfig(value)).toThrow(advice || message)
  })

  it('is read from YAML, with the line of what is none', () => {
    const path = write('good.yaml', 'server:\n  port: 9000\n')
    expect(readRewardConfig(path).server.port).toBe(9000)
    const bad = write('bad.yaml', 'server:\n  port: 9000\n  - a\n')
    expect(() => readRewardConfig(bad)).toThrow(/bad\.yaml:\d: /)
    expect(() => readRewardConfig(join(folder, 'none.yaml'))).toThrow('gradus init reward')
  })
})

describe('what a configuration names', () => {
  const open = (value: object) => openGrading(parseRewardConfig(value), folder)

  it.each([
    [{ rubrics: { a: 'missing.yaml' } }, 'missing.yaml'],
    [
      { rubrics: { a: { criteria: [{ id: 'x', text: 'y', points: 1 }] } } },
      'rubrics.a: criterion x needs a judge',
    ],
    [
      {
        rubrics: {
          a: { criteria: [{ ...ruleRubric.criteria[0], verifier: { kind: 'rule', fn: 'lenght' } }] },
        },
      },
      'did you mean length?',
    ],
    [{ judge: 'main', judges: { maim: { kind: 'scripted', script: [] } } }, 'did you mean maim?'],
    [
      { rubrics: { a: ruleRubric }, routes: [{ kind: 'slime', path: '/s', rubric: 'b' }] },
      'routes[0].rubric: b is no rubric',
    ],
    [
      {
        rubrics: { a: ruleRubric },
        routes: [{ kind: 'slime', path: '/s', rubric: { from: 'label', within: 'a' } }],
      },
      'a is no rubric file of several items',
    ],
  ])('must be there: %o', async (value, message) => {
    await expect(open(value)).rejects.toThrow(message)
  })

  it('may be a file of several items, each with its reference', async () => {
    const item = (id: string, reference: string) => JSON.stringify({ id, reference, rubric: ruleRubric })
    write('many.jsonl', `${item('one', 'x')}\n${item('two', 'y')}\n`)
    const { rubrics } = await open({ rubrics: { many: 'many.jsonl' } })
    expect(rubrics.all().map(({ name, reference }) => [name, reference])).toEqual([
      ['many/one', 'x'],
      ['many/two', 'y'],
    ])
    const [route] = parseRewardConfig({
      routes: [{ kind: 'grade', path: '/g', rubric: { from: 'metadata.id', within: 'many' } }],
    }).routes
    const asked = (id: string) => ({ prompt: [], response: '', fields: { metadata: { id } } })
    expect(rubrics.choose(asked('two'), route, 'item').reference).toBe('y')
    expect(() => rubrics.choose(asked('three'), route, 'item')).toThrow('many/ID')
    const mapped = parseRewardConfig({
      routes: [{ ...route, rubric: { from: 'metadata.id', within: 'many', map: { second: 'two' } } }],
    }).routes
    rubrics.checkRoutes(mapped)
    expect(rubrics.choose(asked('second'), mapped[0], 'item').reference).toBe('y')
  })
})
