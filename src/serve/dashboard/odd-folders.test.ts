import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRuns, listRun } from '../../runs/index.ts'
import { type Dashboard, startDashboard } from './server.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-odd-'))
process.env.GRADUS_CACHE = join(root, 'cache')
const runs = join(root, 'runs')

const GOOD = { id: 'a', createdAt: '2026-01-01T00:00:00Z', config: {}, environment: {} }
const EVAL = { step: 1, set: 'test', n: 1, primary: 'accuracy', scores: { accuracy: { value: 0.5 } } }
const METRICS = { step: 1, reward: 0.5, time: { total: 1 } }

/** What is odd about a run: fields of its config.json, and rows beside good ones. */
const ODD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'created by a number': { config: { createdAt: 5 } },
  'created never': { config: { createdAt: null } },
  'id a list': { config: { id: [1] } },
  'steps a text': { config: { steps: 'many' } },
  'seed an object': { config: { seed: {} } },
  'recipe a number': { config: { recipe: 7 } },
  'extensions a number': { config: { extensions: 7 } },
  'fork a text': { config: { forkedFrom: 'x' } },
  'names a number': { config: { criterionNames: 5 } },
  'scores null': { evals: { ...EVAL, scores: null } },
  'scores a number': { evals: { ...EVAL, scores: 5 } },
  'a score null': { evals: { ...EVAL, scores: { accuracy: null } } },
  'a score a text': { evals: { ...EVAL, scores: { accuracy: { value: 'high' } } } },
  'primary a number': { evals: { ...EVAL, primary: 5 } },
  'an evaluation at a text': { evals: { ...EVAL, step: 'late' } },
  'words a number': { evals: { ...EVAL, scoreNames: 5, figures: 3, criteria: null, judgeNullRate: 'x' } },
  'metrics a list': { metrics: [1, 2] },
  'metrics a number': { metrics: 5 },
  'a step a text': { metrics: { ...METRICS, step: 'x' } },
  'metrics of all kinds': { metrics: { step: 2, reward: {}, criteria: 5, time: 7, loss: [], __proto__: 1 } },
  'events without words': { events: { step: 1 } },
  'rubrics of all kinds': { rubrics: { step: 'x', criteria: 5 } },
  'rollouts of all kinds': { rollouts: { step: 1, verdicts: 5, flags: 3, prompt: {}, reward: 'x' } },
}

const line = (row: unknown) => `${JSON.stringify(row)}\n`

const writeRun = (name: string, odd: Readonly<Record<string, unknown>>) => {
  const dir = join(runs, name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...GOOD, ...(odd.config as object) }))
  writeFileSync(join(dir, 'metrics.jsonl'), line(METRICS))
  writeFileSync(join(dir, 'evals.jsonl'), line(EVAL))
  for (const [file, row] of Object.entries(odd))
    if (file !== 'config') appendFileSync(join(dir, `${file}.jsonl`), line(row))
  return dir
}

/** A line of so many bytes that takes no room on the disk. */
const writeLongLine = (name: string, file: string, bytes: number) => {
  const path = join(writeRun(name, {}), `${file}.jsonl`)
  truncateSync(path, bytes)
  appendFileSync(path, '\n')
}

/** Files that are pipes: whoever opens one waits for somebody who writes. */
const PIPES = process.platform === 'win32' ? [] : ['metrics', 'evals', 'rollouts', 'events', 'rubrics']
const nameOfPipe = (file: string) => `a pipe for ${file}`

const writePipe = (file: string) => {
  const path = join(writeRun(nameOfPipe(file), {}), `${file}.jsonl`)
  rmSync(path, { force: true })
  spawnSync('mkfifo', [path])
}

let dashboard: Dashboard
beforeAll(async () => {
  writeRun('good', {})
  for (const [name, odd] of Object.entries(ODD)) writeRun(name, odd)
  writeLongLine('long metrics', 'metrics', 200e6)
  writeLongLine('long evals', 'evals', 200e6)
  PIPES.forEach(writePipe)
  dashboard = await startDashboard([runs])
})
afterAll(async () => {
  await dashboard.close()
  rmSync(root, { recursive: true })
})

const PATHS = ['', '/curves', '/rollouts', '/rollouts/0', '/evaluation?set=test', '/rubric', '/judges']
const get = (path: string) => fetch(`${dashboard.url}${path}`)

describe('folders of which one is odd', () => {
  it('are all in the table, and those that cannot be read say so', async () => {
    const answer = await get('/api/runs')
    expect(answer.status).toBe(200)
    const rows = (await answer.json()) as { name: string; status: string; problem: string | null }[]
    expect(rows).toHaveLength(Object.keys(ODD).length + 3 + PIPES.length)
    const byName = new Map(rows.map(row => [row.name, row]))
    expect(byName.get('good')).toMatchObject({ status: 'stopped', problem: null })
    expect(byName.get('created by a number')).toMatchObject({
      status: 'unreadable',
      problem: expect.stringMatching(/config\.json: createdAt of a run: expected a text, got 5/),
    })
    expect(byName.get('scores null')).toMatchObject({ status: 'unreadable' })
  })

  it('answer or refuse each question, and never fail', async () => {
    const names = [...Object.keys(ODD), 'long metrics', 'long evals', ...PIPES.map(nameOfPipe)]
    const failed: string[] = []
    for (const name of names)
      for (const path of PATHS) {
        const { status } = await get(`/api/runs/${encodeURIComponent(name)}${path}`)
        if (status >= 500) failed.push(`${name}${path}: ${status}`)
      }
    const both = await get(`/api/compare?${names.map(name => `run=${encodeURIComponent(name)}`).join('&')}`)
    if (both.status >= 500) failed.push(`compare: ${both.status}`)
    expect(failed).toEqual([])
  }, 60_000)

  it('hide no row behind an odd one', async () => {
    const row = { step: 1, problemId: 'p', prompt: 'p', response: 'r', reward: 1 }
    const dir = writeRun('a good rollout last', { rollouts: { ...row, verdicts: {} } })
    appendFileSync(join(dir, 'rollouts.jsonl'), line(row))
    const other = await startDashboard([dir])
    try {
      const answer = await fetch(
        `${other.url}/api/runs/${encodeURIComponent('a good rollout last')}/rollouts`,
      )
      const { table } = (await answer.json()) as { table: { rows: unknown[] } }
      expect(table.rows).toHaveLength(1)
    } finally {
      await other.close()
      rmSync(dir, { recursive: true })
    }
  })

  it('are listed, or refused in words', () => {
    const before = process.memoryUsage().rss
    const words = findRuns([runs]).map(dir => {
      try {
        return listRun(dir).status
      } catch (error) {
        return (error as Error).message
      }
    })
    expect(words.filter(word => word === 'stopped').length).toBeGreaterThan(5)
    for (const word of words) expect(word).toMatch(/^stopped$|^\/.*: expected .*, got /)
    expect(process.memoryUsage().rss - before).toBeLessThan(500e6)
  })
})
