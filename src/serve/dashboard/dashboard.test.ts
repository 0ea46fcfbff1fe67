import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { takeLock } from '../../runs/lock.ts'
import { chartsOf, shownSections } from '../../runs/report/view.ts'
import { type Dashboard, startDashboard } from './server.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-dashboard-'))
process.env.GRADUS_CACHE = join(root, 'cache')
const runs = join(root, 'runs')
const TOKEN = 'the-control-token'

const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>'

const rollout = (step: number, sample: number) => ({
  ...{ step, sample, problemId: `problem ${step}`, prompt: `What is ${step}?`, reward: sample / 4 },
  response: `<think>It is ${step}</think> ${step === 5 ? `the needle, ${HOSTILE}` : 'an answer'}`,
  verdicts: [{ criterionId: 'right', met: sample > 1, explanation: 'because' }],
  flags: { odd: step % 2 },
})

/** A run as the loop writes it, by hand: 40 steps, four rollouts each. */
const writeRun = (name: string, steps = 40) => {
  const dir = join(runs, name)
  mkdirSync(dir, { recursive: true })
  const config = { seed: name, optimizer: { rate: name.length } }
  const info = {
    id: name,
    recipe: 'rit',
    steps: 100,
    createdAt: '2026-01-01T00:00:00Z',
    config,
    environment: {},
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(info))
  const all = Array.from({ length: steps }, (_, i) => i + 1)
  const metrics = all.map(step => ({
    step,
    reward: step / 100,
    criteria: { right: 0.5 },
    ...{ judgeNullRate: 0.25, judgeCallCount: 3, rewardStd: 0.1, wellFormed: 1 },
    time: { total: 2 },
  }))
  writeFileSync(join(dir, 'metrics.jsonl'), lines(metrics))
  writeFileSync(
    join(dir, 'rollouts.jsonl'),
    lines(all.flatMap(step => [0, 1, 2, 3].map(i => rollout(step, i)))),
  )
  return dir
}

let dashboard: Dashboard
beforeAll(async () => {
  writeRun('one')
  writeRun(join('nested', 'two'))
  const secret = join(root, 'secret')
  mkdirSync(secret)
  writeFileSync(join(secret, 'config.json'), JSON.stringify({ id: 'secret', config: {}, createdAt: '' }))
  writeFileSync(join(secret, 'metrics.jsonl'), lines([{ step: 1, reward: 0.123456 }]))
  symlinkSync(secret, join(runs, 'linked'))
  const leaky = join(runs, 'leaky')
  mkdirSync(leaky)
  writeFileSync(join(leaky, 'config.json'), JSON.stringify({ id: 'leaky', config: {}, createdAt: '' }))
  symlinkSync(join(secret, 'metrics.jsonl'), join(leaky, 'metrics.jsonl'))
  dashboard = await startDashboard([runs], { controlToken: TOKEN })
})
afterAll(async () => {
  await dashboard.close()
  rmSync(root, { recursive: true })
})

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(dashboard.url + path, { headers })
  return {
    status: response.status,
    headers: response.headers,
    json: () => response.json(),
    text: () => response.text(),
  }
}
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
const json = async (path: string): Promise<any> => (await get(path)).json()

describe('runs', () => {
  it('are found below the folder, each with a name for addresses; links lead nowhere', async () => {
    const found = await json('/api/runs')
    expect(found.map(({ id }: { id: string }) => id).sort()).toEqual(['leaky', 'nested~two', 'one'])
    const leaky = found.find(({ id }: { id: string }) => id === 'leaky')
    expect(leaky).toMatchObject({ step: 0, last: null })
    expect(JSON.stringify(await json('/api/runs/leaky/curves'))).not.toContain('0.1234')
    for (const path of ['..', '..%2Fsecret', '%2e%2e', 'linked', '~..~secret'])
      expect((await get(`/api/runs/${path}/curves`)).status, path).toBe(404)
    expect((await get('/assets/..%2Fserver.js')).status).toBe(404)
  })

  it('tell how far they are and in which settings they differ', async () => {
    const [run] = (await json('/api/runs')).filter(({ id }: { id: string }) => id === 'one')
    expect(run).toMatchObject({
      step: 40,
      steps: 100,
      stepSeconds: 2,
      last: 0.4,
      status: 'stopped',
      metric: 'reward',
    })
    expect(run.settings).toEqual({ 'optimizer.rate': '3' })
    expect(run.spark.length).toBeGreaterThan(10)
  })

  it('have curves that are thinned, and whole where they are zoomed', async () => {
    const all = await json('/api/runs/one/curves?points=10')
    const learning = shownSections(all).find(({ tools }) => tools)!
    expect(learning.tools!.steps).toMatchObject({ first: 1, last: 40, stride: 4 })
    const [reward] = chartsOf(all)
    expect(reward.x).toHaveLength(10)
    // Steps 1 to 4: (0.01 + 0.02 + 0.03 + 0.04) / 4.
    expect(reward.series[0].values[0]).toBeCloseTo(0.025, 6)
    const part = await json('/api/runs/one/curves?from=11&to=13&points=10')
    expect(chartsOf(part)[0].x).toEqual([11, 12, 13])
  })

  it('have metrics of judges and of comparisons by the names that reports give them', async () => {
    const judges = await json('/api/runs/one/judges')
    expect(judges.sections[0].blocks[0].rows).toEqual([
      ['Missing verdicts', '25.0%', '25.0%', ''],
      ['Judge: calls', '3', '3', '120'],
    ])
    const compared = await json('/api/compare?run=one&run=nested~two')
    expect(chartsOf(compared).map(({ title }) => title)).toEqual([
      ...['Reward', 'Missing verdicts', 'Judge call count', 'Spread of the reward', 'Well formed', 'right'],
    ])
  })
})

/** A line of a list of rollouts. */
// biome-ignore lint/suspicious/noExplicitAny: cells of many shapes
type Row = any[]

describe('rollouts', () => {
  it('are filtered by what the index knows', async () => {
    const list = async (query: string) => json(`/api/runs/one/rollouts?${query}`)
    const all = await list('')
    expect(all).toMatchObject({ total: 160, matching: 160 })
    expect(all.choices.map(({ name }: { name: string }) => name)).toEqual(['order', 'criterion', 'flag'])
    expect((await list('from=3&to=4')).matching).toBe(8)
    expect((await list('min=0.5')).matching).toBe(80)
    const met = await list('criterion=right&verdict=met&from=1&to=1')
    expect(met.table.rows.map((cells: Row) => cells[2].notes[0])).toEqual([
      'policy · sample 3',
      'policy · sample 2',
    ])
    expect((await list('flag=odd&from=2&to=2')).matching).toBe(0)
    expect((await list('order=best')).table.rows[0][1].text).toBe('0.75')
    const page = await list('after=150')
    expect([page.table.rows.length, page.next]).toEqual([10, null])
  })

  it('are searched by their text, and told with the words around', async () => {
    const found = await json('/api/runs/one/rollouts?q=The%20NEEDLE')
    expect(found.table.rows.map((cells: Row) => cells[0])).toEqual(['5', '5', '5', '5'])
    expect(found.table.rows[0][3]).toContain('needle')
    expect((await json('/api/runs/one/rollouts?q=criterionId')).table.rows).toEqual([])
  })

  it('are shown whole, with those of their group; a place that is none is refused', async () => {
    const view = await json('/api/runs/one/rollouts/17')
    const [row] = view.sections[0].blocks[0].rows
    expect(row).toMatchObject({ step: 5, sample: 1, verdicts: [{ criterionId: 'right', met: false }] })
    expect(view.intro[1].choices[0].options).toEqual([
      ...[
        ['', 'none'],
        ['16', 'sample 0, reward 0'],
      ],
      ...[
        ['18', 'sample 2, reward 0.50'],
        ['19', 'sample 3, reward 0.75'],
      ],
    ])
    for (const nth of ['160', '-1', 'x', '1.5'])
      expect((await get(`/api/runs/one/rollouts/${nth}`)).status, nth).toBe(422)
  })

  it('have an index that is kept, goes on where it ended, and is made anew after a cut', async () => {
    const dir = writeRun('cut', 30)
    await json('/api/runs')
    expect((await json('/api/runs/cut/rollouts')).total).toBe(120)
    appendFileSync(join(dir, 'rollouts.jsonl'), lines([rollout(31, 0)]))
    expect((await json('/api/runs/cut/rollouts')).total).toBe(121)
    const again = await startDashboard([runs], {})
    expect((await (await fetch(`${again.url}/api/runs/cut/rollouts`)).json()) as object).toMatchObject({
      total: 121,
    })
    await again.close()
    writeFileSync(join(dir, 'rollouts.jsonl'), lines([rollout(1, 0), rollout(2, 1)]))
    const cut = await json('/api/runs/cut/rollouts')
    expect([cut.total, cut.table.rows[0][0]]).toEqual([2, '2'])
    expect(existsSync(join(dir, 'rollouts.index'))).toBe(false)
  })
})

/** Events of a stream, as they come. */
const listen = async (path: string) => {
  const gone = new AbortController()
  const response = await fetch(dashboard.url + path, { signal: gone.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    close: () => gone.abort(),
    async until(pattern: RegExp) {
      while (!pattern.test(text)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`the stream ended: ${text}`)
        text += value
      }
      return text
    },
  }
}

describe('the stream', () => {
  it('tells of a run that grows, and of a line only when it is whole', async () => {
    const dir = writeRun('growing', 3)
    await json('/api/runs')
    const stream = await listen('/api/runs/growing/live')
    await stream.until(/"step":3/)
    const row = JSON.stringify({ step: 4, reward: 1 })
    appendFileSync(join(dir, 'metrics.jsonl'), row.slice(0, 8))
    appendFileSync(join(dir, 'metrics.jsonl'), `${row.slice(8)}\n`)
    await stream.until(/"step":4/)
    stream.close()
  })
})

it('tells what monitors did and can be undone', async () => {
  const dir = writeRun('acted')
  const raised = { level: 'warning', action: 'raise-kl', by: 'lengthDrift', message: 'raised' }
  const undone = { level: 'info', control: 'undo', undone: 'raise-kl', message: 'undone' }
  writeFileSync(
    join(dir, 'events.jsonl'),
    lines([
      { step: 3, ...raised },
      { step: 5, ...undone },
      { step: 9, ...raised },
    ]),
  )
  mkdirSync(join(dir, 'given-up', 'step-000012'), { recursive: true })
  writeFileSync(join(dir, 'given-up', 'note.json'), '{}')
  await json('/api/runs')
  const { undoable } = await json('/api/runs/acted')
  expect(undoable).toEqual(['rollback', 'raise-kl'])
  const { intro } = await json('/api/runs/acted/curves')
  const panel = intro.find(({ title }: { title?: string }) => title === 'Events')
  expect(panel.blocks[0].events.map(({ action }: { action?: string }) => action)).toEqual([
    'raise-kl',
    undefined,
    'raise-kl',
  ])
})

describe('control', () => {
  const post = (body: unknown, headers: Record<string, string>, id = 'one') =>
    fetch(`${dashboard.url}/api/runs/${id}/control`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }).then(response => response.status)

  it('needs the token, a run that goes on, a request that is one, and our own page', async () => {
    const dir = writeRun('live')
    await json('/api/runs')
    const token = { 'x-gradus-token': TOKEN }
    const file = join(dir, 'control.jsonl')
    expect(await post({ action: 'stop' }, {}, 'live')).toBe(403)
    expect(await post({ action: 'stop' }, { 'x-gradus-token': 'guess' }, 'live')).toBe(403)
    expect(await post({ action: 'stop' }, token, 'live')).toBe(409)
    const lock = takeLock(dir)
    // How a run stands is looked at every two seconds.
    await new Promise(resolve => setTimeout(resolve, 2_100))
    const foreigners: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const foreign of foreigners)
      expect(await post({ action: 'stop' }, { ...token, ...foreign }, 'live')).toBe(403)
    expect(await post({ action: 'stop' }, { ...token, 'content-type': 'text/plain' }, 'live')).toBe(415)
    for (const body of [
      { action: 'delete' },
      { action: 'stop', more: 1 },
      { action: 'undo', of: 'stop' },
      [],
      { action: 'threshold', monitor: 'no', thresholds: null },
    ])
      expect(await post(body, token, 'live')).toBe(422)
    expect(existsSync(file)).toBe(false)
    expect(await post({ action: 'pause' }, { ...token, origin: dashboard.url }, 'live')).toBe(202)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ action: 'pause' })
    expect(await post({ action: 'undo', of: 'raise-kl' }, token, 'live')).toBe(202)
    lock.release()
  })
})

describe('the guard', () => {
  it('lets nobody in by another name: a name may be bent to this machine', async () => {
    const { request } = await import('node:http')
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${dashboard.url}/api/runs`, { headers: { host } }, response => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end()
      })
    expect(await statusFor('evil.example')).toBe(421)
    expect(await statusFor('127.0.0.1.evil.example:80')).toBe(421)
    expect(await statusFor('localhost:9999')).toBe(200)
  })

  it('sends no page but its own, with a policy that allows no script of others', async () => {
    const page = await get('/run/one/rollouts/17')
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await page.text()).not.toContain('needle')
    expect((await get('/api/runs/one/rollouts/17')).headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('asks for a token where other machines can reach it', async () => {
    const open = await startDashboard([runs], { token: 'read-token' })
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${open.url}/`, { headers })).status
    expect(await status({})).toBe(401)
    expect(await status({ authorization: 'Bearer read-token' })).toBe(200)
    expect(await status({ authorization: `Basic ${Buffer.from('any:read-token').toString('base64')}` })).toBe(
      200,
    )
    await open.close()
  })
})
