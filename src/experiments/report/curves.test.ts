import { describe, expect, it } from 'vitest'
import { armChart, bandOf } from '../../runs/report/bands.ts'
import { fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { paperCharts } from './curves.ts'

describe('bands of curves', () => {
  const curve = (...steps: number[]) => steps.map(step => ({ step, value: step }))

  it('are where at least half of the runs have a value', () => {
    const band = bandOf([curve(1, 2, 3), curve(1, 3), curve(1, 4), curve(1)])
    expect([...band.keys()]).toEqual([1, 3])
    expect(band.get(3)).toEqual({ centre: 3, low: 3, high: 3 })
  })

  it('are 95% intervals of Student’s t, and none where runs are fewer than three', () => {
    const at = (...values: number[]) => bandOf(values.map(value => [{ step: 1, value }])).get(1)!
    expect(at(1, 2)).toEqual({ centre: 1.5, low: 1.5, high: 1.5 })
    // Mean 2, standard deviation 1, t(0.975, 2) = 4.302653.
    expect(at(1, 2, 3).high).toBeCloseTo(2 + 4.302653 / Math.sqrt(3), 5)
    expect(at(1, 2, 3).low).toBeCloseTo(2 - 4.302653 / Math.sqrt(3), 5)
  })

  it('of shares end at 0 and 1; lines that are none stay as they are', () => {
    const series = { label: 'a', color: 'c1', kind: 'band' as const }
    const share = { ...series, values: [0.9, null], low: [-0.2, null], high: [1.4, null] }
    const other = { ...series, values: [-0.5], low: [-2], high: [1.5] }
    const { series: shown } = armChart({
      id: 'a',
      title: 'A',
      unit: 'share',
      x: [1, 2],
      series: [share, other],
    })
    expect(shown).toEqual([{ ...share, low: [0, null], high: [1, null] }, other])
  })

  it('stay at their steps where a run lacks some of them', () => {
    const registration = fakeRegistration()
    const runs = fakeRuns(registration).map(run => ({
      ...run,
      metrics: run.metrics.map(row => (row.step > 20 && row.step <= 40 ? { ...row, entropy: null } : row)),
    }))
    const entropy = paperCharts(registration, runs).find(({ title }) => title === 'Entropy')!
    expect(entropy.x[0]).toBe(1)
    expect(entropy.x.at(-1)).toBe(60)
    expect(entropy.x.some(step => step > 22 && step < 39)).toBe(false)
  })

  it('of shares hold to 0 and 1 where those are sums; values of evaluations on all problems are drawn as they are', () => {
    const registration = fakeRegistration()
    const drawn = (values: readonly number[], last: number) => {
      const runs = fakeRuns(registration).map(run => ({
        ...run,
        evals: run.evals.map((row, i) => ({
          ...row,
          n: i < values.length ? 100 : 2048,
          scores: { accuracy: { value: values[i] ?? last } },
        })),
      }))
      const charts = paperCharts(registration, runs)
      return charts.find(({ title }) => title === 'Score on unseen problems')!.series[0].values
    }
    expect(drawn([-0.02, 1.01, 0.5], 0.3)).toEqual([0, 1, 0.5, 0.3])
    // A score with penalties.
    expect(drawn([-0.02, -0.3, 0.5], -0.1)).toEqual([-0.02, -0.1, 0.5, -0.1])
  })

  it('are of scores by the names that rows give them, the main one without a name', () => {
    const registration = fakeRegistration()
    const runs = fakeRuns(registration)
    const chart = paperCharts(registration, runs).find(({ title }) => title === 'Score on unseen problems')!
    const counts = ['better', 'plain', 'worse'].map(arm => runs.filter(run => run.arm === arm).length)
    expect(chart.series.map(({ label }) => label)).toEqual([
      `better, n = ${counts[0]}`,
      `plain, n = ${counts[1]}`,
      `worse, n = ${counts[2]}`,
    ])
    const last = (arm: string) =>
      runs.filter(run => run.arm === arm).map(({ evals }) => evals.at(-1)!.scores.accuracy.value!)
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b) / values.length
    expect(chart.series[0].values.at(-1)).toBeCloseTo(mean(last('better')), 3)
  })
})
