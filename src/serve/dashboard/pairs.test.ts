import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Dashboard, startDashboard } from './server.ts'
import type { PairsView } from './wire.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-pairs-'))
process.env.GRADUS_CACHE = join(root, 'cache')
const TOKEN = 'the-control-token'
const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

/** Answers with verdicts on criteria worth 3 and 2: `rl` meets both, `r` the first, `-` none. */
const rollout = (problemId: string, sample: number, response: string, met: string, extra: object = {}) => ({
  ...{ step: 1, sample, problemId, prompt: `Do ${problemId}.`, response, reward: 0.125 + sample, ...extra },
  verdicts: ['right', 'long'].map((criterionId, i) => ({
    ...{ criterionId, points: 3 - i, met: met.includes(criterionId[0]), explanation: 'the-secret-reason' },
  })),
})

const ROLLOUTS = [
  rollout('p', 0, 'both', 'rl'),
  rollout('p', 1, 'one', 'r'),
  rollout('p', 2, 'other', 'l', { prompt: 'Hints. Do p.' }),
  rollout('p', 3, 'one', 'r'),
  rollout('q', 0, 'alone', 'r'),
  rollout('s', 0, 'first', 'r', { prompt: 'Hints. Do s.', plainPrompt: 'Do s.' }),
  { ...rollout('s', 1, 'second', 'r'), verdicts: 'spoilt by hand' },
  rollout('s', 2, 'third', '', { prompt: 'Hints. All. Do s.', plainPrompt: 'Do s.' }),
]

const writeRun = (name: string) => {
  const dir = join(root, 'runs', name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({ id: name, createdAt: '', config: {}, environment: {} }),
  )
  writeFileSync(join(dir, 'metrics.jsonl'), lines([{ step: 1, reward: 1 }]))
  writeFileSync(join(dir, 'rollouts.jsonl'), lines(ROLLOUTS))
  const evaluation = (step: number, met: string) => ({
    ...{ step, set: 'test', n: 1, primary: 'rubric', scores: { rubric: { value: 1 } } },
    items: [{ id: 'e', scores: { rubric: 1 }, sample: rollout('', 0, `evaluated at ${step}`, met) }],
  })
  writeFileSync(join(dir, 'evals.jsonl'), lines([evaluation(0, 'l'), evaluation(1, 'r')]))
  return dir
}

let dashboard: Dashboard
const dirs: Record<string, string> = {}
beforeAll(async () => {
  for (const name of ['one', 'two', 'three', 'four']) dirs[name] = writeRun(name)
  dashboard = await startDashboard([join(root, 'runs')], { controlToken: TOKEN })
})
afterAll(async () => {
  await dashboard.close()
  rmSync(root, { recursive: true })
})

const see = async (run: string, who = 'ann', back = ''): Promise<PairsView> =>
  (await (await fetch(`${dashboard.url}/api/runs/${run}/pairs?who=${who}&back=${back}`)).json()) as PairsView
const post = async (
  run: string,
  body: unknown,
  headers: Record<string, string> = { 'x-gradus-token': TOKEN },
) => {
  const response = await fetch(`${dashboard.url}/api/runs/${run}/pairs`, {
    ...{ method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, view: (await response.json()) as PairsView }
}
const rowsOf = (run: string) =>
  readFileSync(join(dirs[run], 'preferences.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

it('shows pairs of answers to one prompt, and nothing of what graders said', async () => {
  const view = await see('one')
  // p has three different answers, s two that can be read, e one of each evaluation; q one.
  expect(view).toMatchObject({ pairs: 5, labelled: 0, agreement: null, people: [], last: null })
  const text = JSON.stringify(view)
  for (const found of ['secret', 'right', '0.125', 'reward', 'verdict', 'points', 'Hints'])
    expect(text).not.toContain(found)
  expect(Object.keys(view.pair!.a)).toEqual(['response'])
  expect(await see('one')).toEqual(view)
  // Each pair once, whichever answer is better first.
  const shown = new Set<string>()
  for (
    let pair = view.pair;
    pair !== null;
    pair = (await post('one', { who: 'ann', pair: pair.id, choice: 'unsure' })).view.pair
  ) {
    expect(pair.prompt).toMatch(/^Do [ps]?\.$/)
    shown.add([pair.a.response, pair.b.response].sort().join(' / '))
  }
  expect([...shown].sort()).toEqual([
    ...['both / one', 'both / other', 'evaluated at 0 / evaluated at 1', 'first / third', 'one / other'],
  ])
  expect(await see('one')).toMatchObject({ pair: null, labelled: 5, decided: 0, agreement: null })
})

it('writes down who chose what, and brings an undone pair back', async () => {
  const { pair } = await see('two')
  const { status, view } = await post('two', { who: ' ann ', pair: pair!.id, choice: 'a' })
  expect([status, view.labelled, view.decided]).toEqual([200, 1, 1])
  const [row] = rowsOf('two')
  expect(row).toMatchObject({
    ...{ who: 'ann', choice: 'a', pair: pair!.id, prompt: pair!.prompt, points: { right: 3, long: 2 } },
    ...{ a: { step: expect.any(Number), response: pair!.a.response }, b: { response: pair!.b.response } },
  })
  const credits = { both: { right: 1, long: 1 }, one: { right: 1, long: 0 }, other: { right: 0, long: 1 } }
  const known: Record<string, object> = {
    ...credits,
    'evaluated at 0': credits.other,
    'evaluated at 1': credits.one,
  }
  expect(row.a.credits).toEqual(known[row.a.response])
  expect(Date.parse(row.at)).toBeGreaterThan(Date.now() - 60_000)
  const margin =
    3 * (row.a.credits.right - row.b.credits.right) + 2 * (row.a.credits.long - row.b.credits.long)
  expect(view.agreement?.estimate).toBe(Number(margin > 0))
  expect(view.people).toEqual([{ who: 'ann', labels: 1 }])
  // Another name has nothing to undo, and cannot undo this.
  expect((await see('two', 'ben')).last).toBeNull()
  expect((await post('two', { who: 'ben', undo: view.last })).status).toBe(422)
  const undone = await post('two', { who: 'ann', undo: view.last })
  expect(undone).toMatchObject({ status: 200, view: { labelled: 0, last: null, pair: { id: pair!.id } } })
  expect((await post('two', { who: 'ann', undo: view.last })).status).toBe(422)
  expect(rowsOf('two')[1]).toMatchObject({ undo: row.id, who: 'ann' })
})

it('takes nothing without the token, from other pages, or that is no choice', async () => {
  const file = join(dirs.three, 'preferences.jsonl')
  const body = { who: 'ann', pair: (await see('three')).pair!.id, choice: 'a' }
  const token = { 'x-gradus-token': TOKEN }
  expect((await post('three', body, {})).status).toBe(403)
  expect((await post('three', body, { 'x-gradus-token': 'guess' })).status).toBe(403)
  const foreigners: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ]
  for (const foreign of foreigners)
    expect((await post('three', body, { ...token, ...foreign })).status).toBe(403)
  expect((await post('three', body, { ...token, 'content-type': 'text/plain' })).status).toBe(415)
  for (const bad of [
    ...['not json', [], { ...body, choice: 'c' }, { ...body, pair: 'none' }, { ...body, more: 1 }],
    ...[
      { ...body, who: 'x'.repeat(81) },
      { who: 'ann' },
      { who: 'ann', undo: 'none' },
      { ...body, undo: 'x' },
    ],
  ])
    expect((await post('three', bad)).status, JSON.stringify(bad)).toBe(422)
  expect((await post('nowhere', body)).status).toBe(404)
  expect(existsSync(file)).toBe(false)
  const closed = await startDashboard([join(root, 'runs')])
  const refused = await fetch(`${closed.url}/api/runs/three/pairs`, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json', 'x-gradus-token': '' },
  })
  expect(refused.status).toBe(403)
  await closed.close()
})

it('keeps what two write at once, and what was there before a kill', async () => {
  const { pair } = await see('three')
  const people = Array.from({ length: 8 }, (_, i) => `person ${i}`)
  const said = await Promise.all(people.map(who => post('three', { who, pair: pair!.id, choice: 'b' })))
  expect(said.map(({ status }) => status)).toEqual(people.map(() => 200))
  expect(rowsOf('three')).toHaveLength(8)
  appendFileSync(join(dirs.three, 'preferences.jsonl'), '{"id":"torn","who":"per')
  expect((await see('three')).labelled).toBe(8)
  const next = (await see('three')).pair!
  expect(next.id).not.toBe(pair!.id)
  const { view } = await post('three', { who: 'ann', pair: next.id, choice: 'alike' })
  expect([view.labelled, view.decided]).toEqual([9, 8])
  expect(view.people).toHaveLength(9)
})

it('leaves a pair before whoever looks at it, and brings back what they undid, whatever others chose', async () => {
  const id = (await see('four')).pair!.id
  const after = (await post('four', { who: 'ben', pair: id, choice: 'a' })).view.pair!.id
  expect((await see('four', 'ann', id)).pair!.id).toBe(id)
  const { last } = (await post('four', { who: 'ann', pair: id, choice: 'b' })).view
  expect((await see('four', 'ann', id)).pair!.id).toBe(after)
  expect((await post('four', { who: 'ann', undo: last })).view.pair!.id).toBe(id)
  expect((await see('four', 'ann', 'gone')).pair!.id).toBe(after)
})
