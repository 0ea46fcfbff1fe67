import { describe, expect, it } from 'vitest'
import type { EventRow, RolloutRow } from '../rows.ts'
import { chooseRollouts, type ReportData } from './data.ts'
import { renderReport } from './report.ts'
import { signsOf } from './signs.ts'

const on = (step: number, monitor: string): EventRow => ({
  level: 'warning',
  message: `Title of ${monitor}: seen at ${step} <b>`,
  title: `Title of ${monitor}`,
  step,
  monitor,
  turn: 'on',
  figures: { rate: 0.25 },
  why: 'because it matters',
  advice: 'look at it',
})
const over = (step: number, monitor: string): EventRow => ({
  level: 'info',
  message: `Title of ${monitor}: over`,
  step,
  monitor,
  turn: 'over',
})
const rollout = (step: number, monitor?: string): RolloutRow => ({
  step,
  problemId: `p${step}`,
  prompt: 'a prompt',
  response: `response of step ${step}${monitor ? ` for ${monitor}` : ''}`,
  reward: 1,
  ...(monitor !== undefined && { monitor }),
})

const dataOf = (events: EventRow[], rollouts: RolloutRow[] = []): ReportData => ({
  info: { id: 'run', createdAt: '2026-01-01T00:00:00Z', config: {}, environment: {}, steps: 100 },
  status: 'running',
  metrics: Array.from({ length: 50 }, (_, i) => ({ step: i + 1, reward: i / 50 })),
  evals: [],
  rubrics: [],
  rollouts,
  events,
})

describe('warnings in a report', () => {
  it('reach from a sign to its end, and to the newest step while it lasts', () => {
    const found = signsOf([on(10, 'a'), on(12, 'b'), over(20, 'a'), on(40, 'a')])
    expect(found.map(({ monitor, step, until }) => [monitor, step, until])).toEqual([
      ['a', 10, 20],
      ['b', 12, null],
      ['a', 40, null],
    ])
    expect(found[0]).toMatchObject({
      title: 'Title of a',
      message: 'seen at 10 <b>',
      figures: { rate: 0.25 },
    })
  })

  it('show the rollouts that were kept for them, and no others', () => {
    const kept = [rollout(10, 'a'), rollout(12, 'b'), rollout(10), rollout(40, 'a')]
    const page = renderReport(dataOf([on(10, 'a')], kept))
    const section = page.slice(page.indexOf('<h2>Warnings</h2>'), page.indexOf('<h2>Learning</h2>'))
    expect(section).toContain('1 rollout of step 10 that shows it best')
    expect(section.match(/response of step \d+(?: for \w)?/g)).toEqual(['response of step 10 for a'])
  })

  it('stand in a section of their own, with what to try, metrics, rollouts, and marks on a line', () => {
    const page = renderReport(dataOf([on(10, 'a'), over(20, 'a'), on(40, 'b')], [rollout(10, 'a')]))
    expect(page).toContain('<h2>Warnings</h2>')
    expect(page).toContain('seen at 10 &lt;b>.')
    expect(page).toContain('because it matters')
    expect(page).toContain('look at it')
    expect(page).toContain('<b>rate</b> 0.25')
    expect(page).toContain('response of step 10 for a')
    expect(page).toContain('left:10.00%;width:10.00%')
    expect(page).toContain('steps 10 to 20')
    expect(page).toContain('since step 40')
    expect(page).not.toContain('Worth knowing')
  })

  it('leave nothing behind where there are none, and other events where they were', () => {
    const page = renderReport(dataOf([{ level: 'warning', message: 'the disk is slow' }]))
    expect(page).not.toContain('<h2>Warnings</h2>')
    expect(page).toContain('Worth knowing')
    expect(page).toContain('the disk is slow')
  })

  it('keep their rollouts apart from those kept for reading', () => {
    const groups = chooseRollouts(dataOf([on(10, 'a')], [rollout(10, 'a'), rollout(11), rollout(30)]))
    const shown = groups.flatMap(({ rows }) => rows)
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.every(({ monitor }) => monitor === undefined)).toBe(true)
  })
})
