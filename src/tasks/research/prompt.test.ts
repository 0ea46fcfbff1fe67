import { describe, expect, it } from 'vitest'
import { agentInstructions, agentMessages } from './prompt.ts'
import { findTags } from './tags.ts'

const tools = [
  {
    name: 'snippet_search',
    description: 'Finds passages of papers.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer' } },
      required: ['query'],
    },
  },
  { name: 'clock', description: 'Tells the time.', parameters: { type: 'object' } },
]

describe("the agent's prompt", () => {
  it('has role, effort, forms of answers, both phases, tools and rules', () => {
    const text = agentInstructions({ tools, rules: { maxCalls: 4, maxBreaks: 1 } })
    for (const part of [
      ...['research agent', 'Match your effort', '\\boxed{', 'markdown', 'Phase 1', 'Phase 2'],
      ...[
        '<deep_analysis>',
        '<rubric>',
        '<research_plan>',
        '<state_evaluation>',
        '<rubric_review>',
        '<writing_plan>',
      ],
      ...[
        '<cite id="ID">',
        'at most 4 calls',
        'Begin every turn with <think>',
        'The first turn ends with a call',
      ],
      '- snippet_search(query: string, limit?: integer): Finds passages of papers.\n  <call_tool name="snippet_search">query</call_tool>',
      '- clock(): Tells the time.\n  <call_tool name="clock">{...}</call_tool>',
    ])
      expect(text).toContain(part)
    expect(new Set(findTags(text).map(({ name }) => name)).size).toBe(7)
  })

  it('leaves the tools and the form of calls to a template that has its own', () => {
    const text = agentInstructions({ tools, form: 'template' })
    expect(text).not.toMatch(/call_tool|snippet_search|tool_output/)
    expect(text).toContain('function call')
  })

  it('asks a teacher for the first turn, or for a later one', () => {
    const first = agentInstructions({ tools, part: 'first-turn' })
    expect(first).toContain('Phase 1')
    expect(first).not.toMatch(/Phase 2|<review>/)
    const later = agentInstructions({ tools, part: 'later-turn' })
    expect(later).toContain('Phase 2')
    expect(later).not.toMatch(/Phase 1|first turn ends/)
  })

  it('asks for no plan and no review without the scaffold', () => {
    const text = agentInstructions({ tools, scaffold: false })
    for (const part of [
      '<think>',
      '<answer>',
      '<cite id="ID">',
      'at most 10 calls',
      'snippet_search(query: string',
    ])
      expect(text).toContain(part)
    expect(text).not.toMatch(/structured_plan|rubric|<review>|state_evaluation|Phase/)
  })

  it('puts what is remembered before the question', () => {
    expect(agentMessages('Why?', { tools })[1]).toEqual({ role: 'user', content: 'Why?' })
    expect(agentMessages('Why?', { tools, reference: 'Lessons.' })[1].content).toBe('Lessons.\n\nWhy?')
  })
})
