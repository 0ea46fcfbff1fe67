import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const verify = async (...lines: (object | string)[]) => {
  const text = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { code, out, err } = await cli(['verify', 'math', sandbox.write('rows.jsonl', text)])
  return {
    code,
    err,
    rows: out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  }
}

describe('gradus verify math', () => {
  it('prints a line a row, in order, for answers and responses', async () => {
    const { code, rows, err } = await verify(
      { gold: '\\frac{1}{2}', pred: '0.5', source: 'other keys are ignored' },
      { gold: '7', pred: 'First \\boxed{8}, then \\boxed{6}' },
      { gold: 7, pred: 'The answer is 7.' },
      { gold: '1, 2', pred: '2, 1' },
      { gold: '1, 2', pred: '2, 1', listOrder: 'free' },
      { gold: '1/3', pred: '0.33', precision: 2 },
    )
    expect(rows.map(row => row.equal)).toEqual([true, false, true, null, true, true])
    expect(rows.every(row => !('reason' in row))).toBe(true)
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('goes on after a row that it cannot use, and says so by its exit code', async () => {
    const { code, rows, err } = await verify({ gold: '1' }, 'no JSON', { gold: '1', pred: '1' })
    expect(code).toBe(1)
    expect(rows[0]).toEqual({ equal: null, reason: expect.stringMatching(/rows\.jsonl:1: pred: expected/) })
    expect(rows[1]).toEqual({ equal: null, reason: expect.stringMatching(/rows\.jsonl:2: /) })
    expect(rows[2]).toEqual({ equal: true })
    expect(err).toContain('rows.jsonl:1')
  })

  it('names a file that it cannot read', async () => {
    const { code, err } = await cli(['verify', 'math', sandbox.path('none.jsonl')])
    expect(code).toBe(1)
    expect(err).toMatch(/none\.jsonl: cannot be read/)
  })
})
