import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const verify = async (...lines: (object | string)[]) => {
  const file = sandbox.write(
    'rows.jsonl',
    lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  const { code, out, err } = await cli(['verify', 'instructions', file])
  return {
    code,
    err,
    rows: out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  }
}

describe('gradus verify instructions', () => {
  it('prints a line a row, of one instruction or several', async () => {
    const { code, rows, err } = await verify(
      { instruction_id: 'punctuation:no_comma', kwargs: {}, response: 'None.' },
      { instruction_id: 'startend:quotation', kwargs: null, response: 'So:\n"all"', key: 7 },
      {
        instruction_id_list: ['count:numbers', 'combination:repeat_prompt'],
        kwargs: [{ N: 1, n: null }, {}],
        prompt: 'Pick one.',
        response: 'Pick one. 7',
      },
    )
    expect(rows).toEqual([
      { follows: [true], strict: true, loose: true },
      { follows: [false], strict: false, loose: true },
      { follows: [true, true], strict: true, loose: true },
    ])
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('goes on after rows that it cannot use, and says so by its exit code', async () => {
    const { code, rows, err } = await verify(
      { instruction_id: 'punctuation:no_coma', kwargs: {}, response: 'x' },
      { instruction_id: 'count:numbers', kwargs: {}, response: '1' },
      { instruction_id: 'count:numbers', kwargs: { N: 1 } },
      { instruction_id_list: ['punctuation:no_comma'], kwargs: [], response: 'x' },
      { instruction_id: null, kwargs: {}, response: 'x' },
      '{"instruction_id": ',
      '[1]',
      { instruction_id: 'count:numbers', kwargs: { N: 1 }, response: 'just 1' },
    )
    expect(code).toBe(1)
    expect(rows).toHaveLength(8)
    expect(rows[7]).toEqual({ follows: [true], strict: true, loose: true })
    for (const row of rows.slice(0, 7))
      expect(row).toEqual({
        follows: null,
        strict: null,
        loose: null,
        reason: expect.stringMatching(/rows\.jsonl:\d: /),
      })
    expect(rows[0].reason).toContain('near ones are punctuation:no_comma')
    expect(rows[1].reason).toContain('count:numbers: kwargs: N: expected a number, got nothing')
    expect(rows[2].reason).toContain('response: expected a string, got nothing')
    expect(rows[3].reason).toContain('expected one entry for each of 1 instructions, got 0')
    expect(rows[4].reason).toContain('instruction_id: expected the id of an instruction')
    expect(err.trim().split('\n')).toHaveLength(7)
  })

  it('names a file that it cannot read', async () => {
    const { code, err } = await cli(['verify', 'instructions', sandbox.path('none.jsonl')])
    expect(code).toBe(1)
    expect(err).toMatch(/none\.jsonl: cannot be read/)
  })

  const data = sharedData('ifeval/checker_cases.jsonl')
  it.skipIf(data === null)('takes the public test cases as they are (../shared/data)', async () => {
    const { code, out } = await cli(['verify', 'instructions', data!])
    const rows = readFileSync(data!, 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(code).toBe(0)
    expect(
      out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).strict),
    ).toEqual(rows.map(row => row.expected))
  })
})
