import { describe, expect, it } from 'vitest'
import type { Tool } from '../../tools/tool.ts'
import { CallFault } from './calls.ts'
import { writeObservation } from './observation.ts'
import { saidKind } from './outcome.ts'
import { ruleNotice } from './protocol.ts'
import { XML_NAMES } from './session.ts'
import { ToolBox } from './tool-box.ts'

const tool = (name: string, call: Tool['call']): Tool => ({
  ...{ name, description: name, call },
  parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
})

const box = new ToolBox(
  [
    tool('good', async () => ({ text: 'fine\nError: of somebody else' })),
    tool('empty', async () => ({ text: '' })),
    tool('broken', async () => {
      throw new Error('on fire')
    }),
    tool('slow', () => new Promise(() => {})),
  ],
  { timeoutMs: 5 },
)

/** As Qwen's and Hermes' templates have a tool reply, less the special tokens. */
const framed = (text: string) => `\nuser\n<tool_response>\n${text}\n</tool_response>\nassistant\n`

describe('what was said to a turn', () => {
  it.each([
    ['good', { q: 'x' }, 'output'],
    ['empty', { q: 'x' }, 'output'],
    ['broken', { q: 'x' }, 'failed'],
    ['slow', { q: 'x' }, 'timeout'],
    ['good', { p: 'x' }, 'bad-arguments'],
    ['other', { q: 'x' }, 'unknown-tool'],
  ])('is told from its text, in tags and in a template: %s %j', async (name, body, kind) => {
    const { outcome, text } = await box.run({ tool: name, body, attributes: {} } as never)
    expect(outcome).toBe(kind)
    expect(saidKind(writeObservation(text, outcome))).toBe(kind)
    expect(saidKind(framed(text))).toBe(kind)
  })

  it('may be about a call that cannot be read, or a reminder of a rule', async () => {
    const { outcome, text } = await box.run(new CallFault('it has no name'))
    expect(saidKind(writeObservation(text, outcome))).toBe('unreadable')
    expect(saidKind(framed(text))).toBe('unreadable')
    const notice = ruleNotice('no-action', { maxCalls: 3 }, XML_NAMES)
    expect(saidKind(writeObservation(notice))).toBe('reminder')
    expect(saidKind(framed(notice))).toBe('reminder')
  })

  it('is an output whatever a tool writes in it', () => {
    expect(saidKind(writeObservation('a\nError: x failed\nNot accepted: b'))).toBe('output')
    expect(saidKind(writeObservation(`${'far '.repeat(100)}\nError: x failed`))).toBe('output')
    expect(saidKind('')).toBe('output')
  })
})
