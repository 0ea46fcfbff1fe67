import { existsSync, readdirSync, statSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HttpJudge } from '../../grade/judge/http-judge.fixture.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const criteria = [
  {
    id: 'short',
    text: 'At most five words',
    points: 2,
    verifier: { kind: 'rule', fn: 'length', params: { max: 5 } },
  },
  { id: 'right', text: 'Is right', points: 1, verifier: { kind: 'formal', fn: 'entailed_answer' } },
  { id: 'kind', text: 'Is kind', points: 5 },
  { id: 'clear', text: 'Is clear', points: 5 },
  { id: 'rude', text: 'Is rude', points: -4 },
]
const rows = [
  { id: 'a', response: 'heat it' },
  { id: 'b', response: 'boil it' },
  { id: 'c', response: 'bring to the boil over low heat' },
]
const jsonl = (own: readonly unknown[]) => own.map(row => `${JSON.stringify(row)}\n`).join('')
const rubric = sandbox.write('rubric.yaml', { criteria })
const file = sandbox.write('responses.jsonl', jsonl(rows))

let judge: HttpJudge
beforeEach(async () => {
  judge = await HttpJudge.start(() => true)
})
afterEach(() => judge.close())

const grade = (...more: string[]) => cli(['grade', '--rubric', rubric, '--responses', file, ...more])
const asked = () => ['--judge', judge.url, '--model', 'm']
const planOf = async (...more: string[]) =>
  JSON.parse((await grade(...asked(), '--dry-run', '--json', ...more)).out)

describe('gradus grade --dry-run', () => {
  it('counts what would be asked of whom, and sends nothing', async () => {
    const { code, out, err } = await grade(...asked(), '--dry-run')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('rows         3\n')
    expect(out).toContain('5.00 a row, 15 verdicts in all: 3 by rules, 3 by the solver, 9 by a judge')
    expect(out).toContain('judge calls  9\n')
    expect(out).toMatch(/cost +unknown: give --price/)
    expect(out).toMatch(/time +unknown: give --call-seconds/)
    expect(out).toContain('nothing was sent')
    expect(judge.calls).toBe(0)
    // What it predicted is what grading then does.
    await grade(...asked())
    expect(judge.calls).toBe(9)
  })

  it('reckons with tokens, prices and the time of a call', async () => {
    const { judge: plan } = await planOf('--price', '2,10', '--call-seconds', '6', '--concurrency', '3')
    expect(plan).toMatchObject({ model: 'm', calls: 9, cached: 0, toMake: 9, completionTokens: 9 * 256 })
    await grade(...asked())
    expect(plan.promptTokens).toBe(Math.ceil(judge.promptCharacters / 4))
    expect(plan.cost).toBeCloseTo((2 * plan.promptTokens + 10 * 9 * 256) / 1e6, 5)
    // Nine calls of six seconds, three at a time.
    expect(plan.minutes).toBeCloseTo(0.3, 12)
    const { out } = await grade(...asked(), '--dry-run', '--price', '2,10', '--call-seconds', '6')
    expect(out).toMatch(/cost +about 0\.03/)
    // One call is not faster for being alone.
    expect(out).toContain('about 6.0 s at 64 calls of 6 s at a time')
  })

  it('counts calls about several criteria, and rows of a rubric of their own', async () => {
    expect((await planOf('--calls', 'rubric')).judge.calls).toBe(3)
    expect((await planOf('--calls', '2')).judge.calls).toBe(6)
  })

  it('leaves out what a cache has, and what it will have by then; neither makes nor writes one', async () => {
    const cache = sandbox.path('cache')
    const twice = sandbox.write('twice.jsonl', jsonl([...rows, { ...rows[0], id: 'd' }]))
    const plan = async (responses: string) =>
      JSON.parse(
        (
          await cli([
            ...['grade', '--rubric', rubric, '--responses', responses, ...asked()],
            ...['--cache', cache, '--dry-run', '--json'],
          ])
        ).out,
      ).judge
    // The fourth row says what the first one says.
    expect(await plan(twice)).toMatchObject({ calls: 12, cached: 3, toMake: 9 })
    expect(existsSync(cache)).toBe(false)
    await grade(...asked(), '--cache', cache)
    const state = () => readdirSync(cache).map(name => [name, statSync(`${cache}/${name}`).mtimeMs])
    const before = state()
    expect(await plan(file)).toMatchObject({ calls: 9, cached: 9, toMake: 0, promptTokens: 0, cost: null })
    const more = sandbox.write('more.jsonl', jsonl([...rows, { id: 'e', response: 'freeze it' }]))
    expect(await plan(more)).toMatchObject({ calls: 12, cached: 9, toMake: 3 })
    expect(state()).toEqual(before)
    const { out } = await grade(...asked(), '--cache', cache, '--dry-run')
    expect(out).toContain('judge calls  9, 9 of them answered by the cache: 0 to make')
  })

  it('says what is missing without a judge, and needs none for rules', async () => {
    const { code, out } = await grade('--dry-run')
    expect(code).toBe(0)
    expect(out).toContain('judge        none is named: these verdicts would be null')
    expect(out).toContain('judge calls  9\n')
    const rules = sandbox.write('rules.yaml', { criteria: criteria.slice(0, 2) })
    const own = await cli(['grade', '--rubric', rules, '--responses', file, '--dry-run'])
    expect(own.out).toContain('judge        none is needed')
    expect(own.out).not.toContain('cost')
  })

  it('names rows that cannot be used, and faulty rubrics and options, as grading does', async () => {
    const bad = sandbox.write('bad.jsonl', `${jsonl(rows)}{"id": "x"}\n`)
    const { code, out, err } = await cli(['grade', '--rubric', rubric, '--responses', bad, '--dry-run'])
    expect(code).toBe(1)
    expect(out).toContain('rows         3, and 1 that cannot be used')
    expect(err).toContain('bad.jsonl:4')
    expect((await grade('--dry-run', '--model', 'm')).err).toContain('give --judge URL too')
    const stray = await grade('--price', '1,2')
    expect([stray.code, stray.err]).toEqual([2, expect.stringContaining('add --dry-run')])
    expect((await grade('--dry-run', '--price', '1')).err).toContain('two prices')
  })
})
