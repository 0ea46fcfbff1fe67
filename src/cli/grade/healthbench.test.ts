import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const DATA = sharedData('healthbench/rows.jsonl')

interface Row {
  prompt: { role: string; content: string }[]
  rubrics: { criterion: string; points: number }[]
}
const rows: Row[] = DATA
  ? readFileSync(DATA, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  : []

/** The script: a verdict for each row and criterion; now and then an answer that cannot be read. */
const truth = (row: number, criterion: number): boolean | null => {
  const [byte] = createHash('sha256').update(`${row}/${criterion}`).digest()
  return byte < 12 ? null : byte % 2 === 0
}

const letters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '')

/** Which row and criterion a request is about: the response has the row's number, the last message the criterion's text. */
const pairOf = (body: string): [row: number, criterion: number] => {
  const messages: { content: string }[] = JSON.parse(body).messages
  const all = messages.map(({ content }) => content).join('\n')
  const row = Number(/This is answer number (\d+)\./.exec(all)?.[1])
  const asked = letters(all.replaceAll('&lt;', '<'))
  const found = rows[row].rubrics
    .map(({ criterion }, index) => ({ index, text: letters(criterion) }))
    .filter(({ text }) => asked.includes(text))
    .sort((a, b) => b.text.length - a.text.length)
  return [row, found[0].index]
}

const server = createServer((request, response) => {
  let body = ''
  request.on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    const met = truth(...pairOf(body))
    const content =
      met === null ? 'Hard to say.' : JSON.stringify({ explanation: 'scripted', criteria_met: met })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }))
  })
})

/** HealthBench's formula, from the raw rows: points of what is met over the sum of positive points. */
const formula = ({ rubrics }: Row, row: number, nulls: 'drop' | 'as-false'): number | null => {
  let earned = 0
  let possible = 0
  rubrics.forEach(({ points }, index) => {
    const met = truth(row, index)
    if (met === null && nulls === 'drop') return
    if (points > 0) possible += points
    if (met) earned += points
  })
  return possible === 0 ? null : earned / possible
}

describe.skipIf(!DATA)('the HealthBench rows, graded end to end (skipped without shared/data)', () => {
  const sandbox = new Sandbox()
  let url = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
    sandbox.remove()
  })

  it.each(['drop', 'as-false'] as const)(
    'have the scores of the formula, nulls %s',
    async nulls => {
      const responses = rows.map(({ prompt }, row) => ({ prompt, response: `This is answer number ${row}.` }))
      const file = sandbox.write('responses.jsonl', responses.map(row => `${JSON.stringify(row)}\n`).join(''))
      const { code, out, err } = await cli([
        ...['grade', '--rubric', DATA!, '--responses', file, '--judge', url, '--model', 'scripted'],
        ...['--json', '--nulls', nulls, '--cache', sandbox.path('cache')],
      ])
      expect(err).not.toContain('rows unusable')
      expect(code).toBe(0)
      const graded: { score: number | null; verdicts: { met: boolean | null }[] }[] = out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
      expect(graded).toHaveLength(rows.length)
      for (const [row, { score, verdicts }] of graded.entries()) {
        expect(verdicts.map(({ met }) => met)).toEqual(rows[row].rubrics.map((_, index) => truth(row, index)))
        const expected = formula(rows[row], row, nulls)
        if (expected === null) expect(score).toBeNull()
        else expect(Math.abs(score! - expected)).toBeLessThanOrEqual(1e-12)
      }
      // The script leaves out more than none, so that null handling is at work here.
      expect(graded.some(({ verdicts }) => verdicts.some(({ met }) => met === null))).toBe(true)
    },
    60_000,
  )
})
