import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const verify = async (lines: readonly (object | string)[], ...options: string[]) => {
  const text = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { code, out, err } = await cli(['verify', 'stages', sandbox.write('rows.jsonl', text), ...options])
  const rows = out.trim() === '' ? [] : out.trim().split('\n')
  return { code, err, lines: rows, rows: rows.map(line => JSON.parse(line)) }
}

const GOOD =
  '<structured_plan>é</structured_plan><call_tool name="s">q</call_tool><tool_output><answer>no</answer></tool_output><think>t</think><review>r</review><answer>x</answer>'

describe('gradus verify stages', () => {
  it('prints a line a row, in order, exactly these keys', async () => {
    const { code, lines, rows, err } = await verify([
      { text: GOOD, source: 'ignored' },
      { text: '' },
      { text: 'hm' },
    ])
    expect(lines[0]).toBe(
      '{"stages":[{"stage":1,"start":0,"end":36},{"stage":2,"start":36,"end":69},{"stage":3,"start":115,"end":149},{"stage":4,"start":149,"end":167}],"toolCalls":1,"valid":true,"problems":[]}',
    )
    expect(rows[1]).toMatchObject({ stages: [], toolCalls: 0, valid: false })
    expect(rows[2]).toEqual({
      stages: [{ stage: 2, start: 0, end: 2 }],
      toolCalls: 0,
      valid: false,
      problems: [
        'missing plan: no <structured_plan> with its closing tag',
        'missing review: no <review> before the answer',
        'missing answer: the last turn has no <answer> with its closing tag',
      ],
    })
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  it('counts calls against what is allowed', async () => {
    const text = GOOD.replace(
      '<think>',
      '<call_tool name="s">q</call_tool><tool_output></tool_output><think>',
    )
    expect((await verify([{ text }])).rows[0]).toMatchObject({ valid: true, toolCalls: 2 })
    expect((await verify([{ text }], '--max-calls', '1')).rows[0]).toMatchObject({
      ...{ valid: false, toolCalls: 2, problems: ['more calls than are allowed at 115'] },
    })
    expect((await verify([{ text }], '--max-calls', '0')).code).toBe(2)
  })

  it('goes on after a row that it cannot use, and says so by its exit code', async () => {
    const { code, rows, err } = await verify([{ question: 'x' }, 'no JSON', { text: GOOD }])
    expect(code).toBe(1)
    const nothing = { stages: null, toolCalls: null, valid: null, problems: null }
    expect(rows[0]).toEqual({
      ...nothing,
      reason: expect.stringMatching(/rows\.jsonl:1: text: expected a string/),
    })
    expect(rows[1]).toEqual({ ...nothing, reason: expect.stringMatching(/rows\.jsonl:2: /) })
    expect(rows[2].valid).toBe(true)
    expect(err).toContain('rows.jsonl:1')
  })

  it('names a file that it cannot read, and one without rows', async () => {
    expect(await cli(['verify', 'stages', sandbox.path('none.jsonl')])).toMatchObject({
      ...{ code: 1, err: expect.stringMatching(/none\.jsonl: cannot be read/) },
    })
    expect((await verify([])).code).toBe(1)
  })
})
