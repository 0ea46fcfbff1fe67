import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { shownSections } from '../../runs/report/view.ts'
import type { ReadSlimCharts } from './arm-curves.ts'
import { type Dashboard, startDashboard } from './server.ts'

const root = mkdtempSync(join(tmpdir(), 'gradus-arm-curves-'))
process.env.GRADUS_CACHE = join(root, 'cache')
const open: Dashboard[] = []
afterAll(async () => {
  await Promise.all(open.map(dashboard => dashboard.close()))
  rmSync(root, { recursive: true })
})

const HASH = '0123456789abcdef'
const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

/** A run of an arm whose reward is `base` at every step, as `gradus experiment` lays it down. */
const writeRun = (work: string, arm: string, seed: number, base: number) => {
  const dir = join(work, 'paper', HASH, arm, `a-seed-${seed}`, 'run')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ id: `${arm}-${seed}`, createdAt: '', config: {} }))
  writeFileSync(
    join(dir, 'metrics.jsonl'),
    lines([1, 2, 3].map(step => ({ step, reward: base, group: { x: 1 } }))),
  )
}

const writeWork = (name: string) => {
  const work = join(root, name)
  for (const [seed, base] of [1, 2, 3].entries()) writeRun(work, 'method', seed, base)
  for (const seed of [0, 1]) writeRun(work, 'control', seed, seed)
  writeFileSync(
    join(work, 'paper', HASH, 'registration.json'),
    JSON.stringify({ sha256: HASH.repeat(4), registeredAt: '2026-01-01T00:00:00Z' }),
  )
  return work
}

const writeResults = (name: string) => {
  const dir = join(root, name, 'paper')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'controls.json'), '{}')
  writeFileSync(join(dir, 'summary.md'), '# Paper\n\nwhat it is\n')
  writeFileSync(
    join(dir, 'P-1.json'),
    JSON.stringify({
      claim: { id: 'P-1', statement: 's' },
      status: 'reproduced',
      registration: { sha256: HASH.repeat(4) },
    }),
  )
  return join(root, name)
}

const ask = async (roots: readonly string[], slimCharts?: ReadSlimCharts) => {
  const dashboard = await startDashboard(roots, { slimCharts })
  open.push(dashboard)
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return async (path: string): Promise<any> => {
    const response = await fetch(dashboard.url + path)
    return { status: response.status, ...((await response.json()) as object) }
  }
}

type Ask = Awaited<ReturnType<typeof ask>>

/** Titles of the experiments with where they lead. */
const titles = async (json: Ask) => {
  const { intro } = await json('/api/experiments')
  return intro[0].blocks.map(({ title, href }: { title: string; href: string }) => [title, href])
}

/** What is said of curves, and these. */
const curves = async (json: Ask, id: string) => {
  const { status: _, ...blocks } = await json(`/api/experiments/${id}/curves`)
  // biome-ignore lint/suspicious/noExplicitAny: blocks of several kinds
  return Object.values(blocks) as any[]
}

describe('curves of an experiment under way', () => {
  it('are means over the runs of each arm, with intervals where there are three', async () => {
    const json = await ask([writeWork('work')])
    const id = `paper~${HASH}`
    expect(await titles(json)).toEqual([['paper, under way', `/experiment/${id}`]])
    expect(await json(`/api/experiments/${id}`)).toMatchObject({
      sections: [false, { title: 'Curves of the arms' }],
      facts: [
        ['registered', '2026-01-01 00:00'],
        ['as', HASH],
      ],
    })
    const [about, { charts }] = await curves(json, id)
    expect(about).toContain('Of 5 runs in the folder of the work, as far as they are.')
    const reward = charts.find(({ title }: { title: string }) => title === 'Reward')
    expect(reward.series.map(({ label }: { label: string }) => label)).toEqual([
      'control, n = 2',
      'method, n = 3',
    ])
    const [control, method] = reward.series
    expect([control.values[0], control.low[0], control.high[0]]).toEqual([0.5, 0.5, 0.5])
    // Mean 2, standard deviation 1, t(0.975, 2) = 4.302653.
    expect(method.values[0]).toBe(2)
    expect(method.high[0]).toBeCloseTo(2 + 4.302653 / Math.sqrt(3), 3)
  })

  it('are those of the other rows where one is damaged', async () => {
    const work = writeWork('damaged-work')
    const good = { set: 's', n: 1, primary: 'a', scores: { a: { value: 0.5 } } }
    const text = `${JSON.stringify({ step: 0, ...good, scores: null })}\n{"step":\n${JSON.stringify({ step: 1, ...good })}\n`
    writeFileSync(join(work, 'paper', HASH, 'method', 'a-seed-0', 'run', 'evals.jsonl'), text)
    const json = await ask([work])
    const [about, { charts }] = await curves(json, `paper~${HASH}`)
    expect(about).toContain('Of 5 runs')
    expect(charts[0]).toMatchObject({ x: [1], series: [{ values: [0.5] }] })
  })

  it('stand with its results as soon as there are some, and the work is no experiment of its own any more', async () => {
    const json = await ask([writeWork('done-work'), writeResults('done-results')])
    expect(await titles(json)).toEqual([['Paper', '/experiment/paper']])
    expect((await curves(json, 'paper'))[0]).toContain('Of 5 runs in the folder of the work')
  })
})

describe('curves of results', () => {
  it('are those of the runs beside them, read once as long as these stay', async () => {
    const results = writeResults('slim-results')
    const file = join(results, 'paper', 'runs.jsonl.br')
    writeFileSync(file, 'any bytes')
    let reads = 0
    const json = await ask([results, writeWork('slim-work')], async folder => {
      expect(folder).toBe(join(results, 'paper'))
      reads++
      return []
    })
    for (let i = 0; i < 2; i++)
      expect(await curves(json, 'paper')).toMatchObject([
        expect.stringContaining('Of the runs beside the results'),
        { charts: [] },
      ])
    expect(reads).toBe(1)
    writeFileSync(file, 'other bytes')
    await json('/api/experiments/paper/curves')
    expect(reads).toBe(2)
  })

  it('say why where they cannot be read, and are none where there are no runs', async () => {
    const { DataError } = await import('../../util/errors.ts')
    const results = writeResults('broken-results')
    writeFileSync(join(results, 'paper', 'runs.jsonl.br'), 'x')
    const json = await ask([results], async () => {
      throw new DataError('runs.jsonl.br: cut short')
    })
    expect(await json('/api/experiments/paper/curves')).toMatchObject({
      status: 422,
      error: 'runs.jsonl.br: cut short',
    })
    const none = await ask([writeResults('no-runs')])
    expect(shownSections(await none('/api/experiments/paper')).map(({ title }) => title)).toEqual(['Claims'])
    expect((await none('/api/experiments/nothing/curves')).status).toBe(404)
  })
})
