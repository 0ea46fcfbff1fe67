import { describe, expect, it } from 'vitest'
import type { Tool } from '../../tools/tool.ts'
import { Rng } from '../../util/rng.ts'
import { DEFAULT_RULES, decideTurn, turnRulesSchema } from './protocol.ts'
import { ResearchSession } from './session.ts'
import { ToolBox } from './tool-box.ts'

const SEARCH: Tool = {
  name: 'search',
  description: 'Finds.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  call: async ({ query }) => {
    if (query === 'die') throw new Error('dead')
    return { text: `about ${query}`, snippets: [{ id: `d-${query}`, text: 'passage' }] }
  },
}
const call = (query: string, name = 'search') =>
  `<think>t</think><call_tool name="${name}">${query}</call_tool>`
const ANSWER = '<think>t</think><review>r</review><answer>x</answer>'

const BOX = new ToolBox([SEARCH])
const session = (rules = {}) => new ResearchSession(BOX, { rules: { ...DEFAULT_RULES, ...rules } })

describe('turn rules', () => {
  const rule = (turn: string, calls = 1, searches = 1) => {
    const decision = decideTurn(turn, { calls, searches }, DEFAULT_RULES)
    return decision.kind === 'break' ? decision.rule : decision.kind
  }

  it('a turn ends with exactly one call or answer', () => {
    expect(rule(call('a'))).toBe('call')
    expect(rule(`${call('a')}\n`)).toBe('call')
    expect(rule(ANSWER)).toBe('answer')
    expect(rule('<think>t</think>')).toBe('no-action')
    expect(rule('')).toBe('no-action')
    expect(rule('<think>t</think><call_tool name="search">a')).toBe('no-action')
    expect(rule(call('a') + call('b'))).toBe('several-actions')
    expect(rule(call('a') + ANSWER)).toBe('several-actions')
    expect(rule(`${call('a')} and on`)).toBe('text-after-action')
    expect(rule(`${ANSWER} and on`)).toBe('text-after-action')
    // What is only thought of is no action.
    expect(rule(`<think>${ANSWER} or ${call('a')}</think>${call('b')}`)).not.toBe('call')
    expect(rule(`<think>x <answer>y</answer></think>${call('b')}`)).toBe('call')
  })

  it('no answer before a search, no more calls than are allowed, no tool output of its own', () => {
    expect(rule(ANSWER, 0, 0)).toBe('answer-before-search')
    expect(rule(ANSWER, 1, 0)).toBe('answer-before-search')
    expect(rule(call('a'), 9, 9)).toBe('call')
    expect(rule(call('a'), 10, 10)).toBe('too-many-calls')
    expect(rule(ANSWER, 10, 10)).toBe('answer')
    expect(rule(`${call('a')}<tool_output>mine</tool_output>${ANSWER}`)).toBe('forged-output')
    expect(rule(`<tool_output>${call('a')}`)).toBe('forged-output')
  })

  it('are settings', () => {
    expect(turnRulesSchema.parse({ maxCalls: 2 })).toEqual({ maxCalls: 2, maxBreaks: 3 })
    expect(() => turnRulesSchema.parse({ maxCalls: 0 })).toThrow()
  })
})

describe('a session', () => {
  it('goes from call to call to the answer', async () => {
    const agent = session()
    expect(await agent.reply(call('a'))).toEqual({
      ...{ kind: 'tool', outcome: 'output' },
      text: 'about a\n<snippet id="d-a">\npassage\n</snippet>',
    })
    expect(await agent.reply(call('{"query": "b"}'))).toMatchObject({ outcome: 'output' })
    expect(await agent.reply(ANSWER)).toEqual({ kind: 'over', why: 'answered' })
    expect(agent.counts).toEqual({ turns: 3, calls: 2, searches: 2, callErrors: 0, breaks: {} })
    expect([...agent.snippets.keys()]).toEqual(['d-a', 'd-b'])
  })

  it('tells of calls that come to nothing; they count, and only those that reach a tool are searches', async () => {
    const agent = session()
    const outcomes = []
    for (const turn of [call('a', 'find'), call('{"q": 1}'), '<call_tool>a</call_tool>'])
      outcomes.push(((await agent.reply(turn)) as { outcome: string }).outcome)
    expect(outcomes).toEqual(['unknown-tool', 'bad-arguments', 'unreadable'])
    expect(await agent.reply(ANSWER)).toMatchObject({ kind: 'notice', rule: 'answer-before-search' })
    expect(await agent.reply(call('die'))).toMatchObject({ outcome: 'failed' })
    expect((await agent.reply(ANSWER)).kind).toBe('over')
    expect(agent.counts).toEqual({
      ...{ turns: 6, calls: 4, searches: 1, callErrors: 4 },
      breaks: { 'answer-before-search': 1 },
    })
  })

  it('says which call was the last, and runs none after it', async () => {
    const agent = session({ maxCalls: 2 })
    expect(((await agent.reply(call('a'))) as { text: string }).text).not.toContain('last')
    expect(((await agent.reply(call('b'))) as { text: string }).text).toMatch(
      /\[This was the last of 2 calls/,
    )
    const refused = await agent.reply(call('c'))
    expect(refused).toMatchObject({ kind: 'notice', rule: 'too-many-calls' })
    expect((refused as { text: string }).text).toContain('all 2 calls are used up')
    expect(agent.counts.searches).toBe(2)
    expect((await agent.reply(ANSWER)).kind).toBe('over')
  })

  it('reminds so often and then ends', async () => {
    const agent = session({ maxBreaks: 2 })
    expect((await agent.reply('hm')).kind).toBe('notice')
    expect((await agent.reply(ANSWER)).kind).toBe('notice')
    expect(await agent.reply('hm')).toEqual({ kind: 'over', why: 'too-many-breaks' })
    expect((await session({ maxBreaks: 0 }).reply('hm')).kind).toBe('over')
  })

  it('lets go of a call when it is closed', async () => {
    let signal: AbortSignal | undefined
    const hanging: Tool = {
      ...SEARCH,
      call: (_, options) => {
        signal = options.signal
        return new Promise(() => {})
      },
    }
    const agent = new ResearchSession(new ToolBox([hanging]))
    const reply = agent.reply(call('a'))
    await new Promise(resolve => setTimeout(resolve))
    agent.close()
    expect(await reply).toMatchObject({ outcome: 'failed' })
    expect(signal?.aborted).toBe(true)
  })

  it('takes any turn: it calls, ends, or says what is wrong, and never lets a tag through', async () => {
    const rng = new Rng('turns')
    const pieces = [
      ...['<think>', '</think>', '<call_tool name="search">', '</call_tool>', '<tool_call>', '</tool_call>'],
      ...[
        '<answer>',
        '</answer>',
        '<tool_output>',
        '<call_tool>',
        '<call_tool name="</answer>">',
        '{"query": "',
        '"}',
      ],
      ...['{"name": "search", "arguments": ', '}', 'a', ' ', '\0', '\ud800', '<|im_end|>', 'die'],
      ...[call('a'), call('die'), call('a', 'find'), ANSWER],
    ]
    const kinds = new Set<string>()
    for (let i = 0; i < 1_000; i++) {
      const agent = session({ maxBreaks: 50 })
      for (let turn = 0; turn < 3; turn++) {
        const text = Array.from({ length: rng.int(12) }, () => pieces[rng.int(pieces.length)]).join('')
        const reply = await agent.reply(text)
        kinds.add(reply.kind === 'tool' ? reply.outcome : reply.kind)
        if (reply.kind === 'over') break
        if (/<(?!\/?snippet[ >])/.test(reply.text)) expect.fail(JSON.stringify([text, reply]))
      }
    }
    expect([...kinds].sort()).toEqual([
      'bad-arguments',
      'failed',
      'notice',
      'output',
      'over',
      'unknown-tool',
      'unreadable',
    ])
  })
})
