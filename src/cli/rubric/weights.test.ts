import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Rng } from '../../util/rng.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const RUBRIC = {
  criteria: [
    { id: 'cause', text: 'Names the cause', points: 9 },
    { id: 'remedy', text: 'Names a remedy', points: 1 },
    { id: 'guess', text: 'Guesses', points: -2 },
  ],
}

/** Choices of somebody who weighs so. */
const choices = (weights: Record<string, number>, count = 60) => {
  const rng = new Rng('choices')
  const side = () => ({ cause: rng.int(2), remedy: rng.int(2), guess: rng.int(2) })
  const worth = (credits: Record<string, number>) =>
    Object.entries(credits).reduce((sum, [id, credit]) => sum + weights[id] * credit, 0)
  return Array.from({ length: count }, (_, i) => {
    const [a, b] = [side(), side()]
    const margin = worth(a) - worth(b)
    return {
      ...{ id: `${i}`, at: '', who: 'ann', pair: `${i}`, problemId: `p${i % 10}`, prompt: 'q' },
      ...{ a: { step: 1, response: 'x', credits: a }, b: { step: 1, response: 'y', credits: b } },
      ...{
        points: { cause: 3, remedy: 3, guess: -3, other: 7 },
        choice: margin > 0 ? 'a' : margin < 0 ? 'b' : 'alike',
      },
    }
  })
}
const jsonl = (rows: readonly unknown[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')

it('fits points to what people chose, and says how they order pairs that did not teach them', async () => {
  const file = sandbox.write('rubric.yaml', RUBRIC)
  const chosen = sandbox.write('preferences.jsonl', jsonl(choices({ cause: 1, remedy: 9, guess: -2 })))
  const { code, out, err } = await cli(['rubric', 'refine', file, '--preferences', chosen])
  expect(code).toBe(0)
  const { criteria } = parse(out) as typeof RUBRIC
  const points = Object.fromEntries(criteria.map(own => [own.id, own.points]))
  expect(points.remedy).toBeGreaterThan(2 * points.cause)
  expect(points.guess).toBeLessThan(0)
  expect(criteria.reduce((sum, own) => sum + Math.abs(own.points), 0)).toBeCloseTo(12, 1)
  const [, low, high] = /^remedy: 1 -> [\d.]+ \[([\d.-]+), ([\d.]+)\]$/m.exec(err)!.map(Number)
  expect([low < points.remedy, points.remedy < high]).toEqual([true, true])
  expect(err).toMatch(/60 choices: people weigh otherwise than the rubric with a chance of (9\d|100)/)
  expect(err).toMatch(/held-out pairs \(\d+\) ordered as people do: [89]\d\.\d%|100\.0% .* by fitted points/)
})

it('leaves points about where they were when people weigh as the rubric does', async () => {
  const file = sandbox.write('rubric.yaml', RUBRIC)
  const chosen = sandbox.write('preferences.jsonl', jsonl(choices({ cause: 9, remedy: 1, guess: -2 })))
  const { out } = await cli(['rubric', 'refine', file, '--preferences', chosen])
  const { criteria } = parse(out) as typeof RUBRIC
  for (const [i, { points }] of criteria.entries())
    expect(Math.abs(points - RUBRIC.criteria[i].points)).toBeLessThan(1.5)
})

it('says what is missing', async () => {
  const file = sandbox.write('rubric.yaml', RUBRIC)
  const failed = async (...args: string[]) => {
    const { code, err } = await cli(['rubric', 'refine', ...args])
    return `${code} ${err}`
  }
  expect(await failed(file, '--preferences', join(file, 'nowhere'))).toMatch(
    /1 .*expected choices between pairs, found none/,
  )
  const few = sandbox.write('few.jsonl', jsonl(choices({ cause: 1, remedy: 9, guess: -2 }, 3)))
  expect(await failed('--preferences', few)).toMatch(/2 .*expected the FILE of the rubric/)
  expect(await failed(file)).toMatch(/2 .*expected --judge URL/)
  expect(await failed(file, '--judge', 'http://localhost/v1#m')).toMatch(/2 .*expected --task TEXT/)
  const other = sandbox.write('other.yaml', { criteria: [{ id: 'nobody', text: 'x', points: 1 }] })
  expect(await failed(other, '--preferences', few)).toMatch(/1 .*choices about criteria of .*found none/)
  expect(await failed(file, '--preferences', few)).toMatch(/0 .*\n[\s\S]*not checked on other prompts/)
})
