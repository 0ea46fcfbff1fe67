import { describe, expect, it } from 'vitest'
import { DataError } from '../../util/errors.ts'
import { argumentsOf, CallFault, readCall, writeCall } from './calls.ts'
import { elementsOf } from './elements.ts'
import { argumentsCheck, mainArgument } from './tool-schema.ts'

const read = (text: string) => {
  const element = elementsOf(text, []).elements.find(({ name }) => name === 'call_tool')!
  return readCall(text, element)
}
const SEARCH = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1 },
    limit: { type: 'integer', maximum: 5 },
    fresh: { type: 'boolean' },
  },
  required: ['query'],
  additionalProperties: false,
}
const args = (text: string, schema: Record<string, unknown> = SEARCH) => {
  const call = read(text)
  if (call instanceof CallFault) return call.fault
  const found = argumentsOf(call, schema)
  return found instanceof CallFault ? found.fault : found
}

describe('calls', () => {
  it('have a query as plain text, and further arguments as attributes', () => {
    expect(args('<call_tool name="search"> who was "X"? </call_tool>')).toEqual({ query: 'who was "X"?' })
    expect(args(`<call_tool name='search' limit="3" fresh="true">a < b</call_tool>`)).toEqual({
      ...{ query: 'a < b', limit: 3, fresh: true },
    })
    expect(args('<call_tool name="search" limit="many" x="&quot;1&lt;2&quot;">q</call_tool>')).toEqual({
      ...{ query: 'q', limit: 'many', x: '"1<2"' },
    })
    expect(args('<call_tool name="now"></call_tool>', { type: 'object' })).toEqual({})
  })

  it('have a JSON object of arguments', () => {
    expect(args('<call_tool name="search">\n{"query": "a", "limit": 2}\n</call_tool>')).toEqual({
      query: 'a',
      limit: 2,
    })
    expect(args(writeCall('search', { query: 'a </b> "c"' }))).toEqual({ query: 'a </b> "c"' })
    expect(args('<call_tool name="search">{"query": "a", }</call_tool>')).toContain('no JSON')
    expect(args(`<call_tool name="search">${'{"a":'.repeat(300)}1${'}'.repeat(300)}</call_tool>`)).toContain(
      '200 deep',
    )
  })

  it('have name and arguments as JSON, as templates write it', () => {
    const call = { tool: 'search', attributes: {}, body: { query: 'a' } }
    for (const text of [
      '<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>',
      '<tool_call>{"name": "search", "parameters": {"query": "a"}}</tool_call>',
      '<call_tool>{"name": "search", "arguments": "{\\"query\\": \\"a\\"}"}</call_tool>',
    ])
      expect(read(text)).toEqual(call)
    expect(read('<tool_call>{"name": "now"}</tool_call>')).toEqual({ ...call, tool: 'now', body: {} })
    for (const [text, fault] of [
      ['<tool_call>{"arguments": {}}</tool_call>', 'names no tool'],
      ['<tool_call>search a</tool_call>', 'names no tool'],
      ['<tool_call>{"name": "s", "arguments": [1]}</tool_call>', 'no object'],
      ['<tool_call>{"name": "s", "arguments": "{"}</tool_call>', 'no JSON'],
      ['<call_tool name="s">q', 'not closed'],
      [`<call_tool ${'a'.repeat(3000)}>q</call_tool>`, 'more than 2000'],
      [`<call_tool name="s">${'a'.repeat(200_000)}</call_tool>`, 'more than 100000'],
    ])
      expect((read(text) as CallFault).fault).toContain(fault)
    // Keys of its own make no fault of a call.
    expect(read('<call_tool name="s">{"fault": "x"}</call_tool>')).toMatchObject({ body: { fault: 'x' } })
  })

  it('have their bare text for the argument that it can only be', () => {
    const of = (properties: object, required?: string[]) =>
      mainArgument({ properties, ...(required && { required }) })
    const text = { type: 'string' }
    expect(of({ key: text, lang: text }, ['key'])).toBe('key')
    expect(of({ a: text, query: text })).toBe('query')
    expect(of({ only: text, n: { type: 'number' } })).toBe('only')
    expect(of({ a: text, b: text })).toBeNull()
    expect(of({})).toBeNull()
    expect(args('<call_tool name="s">q</call_tool>', { properties: { n: { type: 'number' } } })).toContain(
      'bare text',
    )
  })

  it('are checked against the schema of their tool', () => {
    const check = argumentsCheck('search', SEARCH)
    expect(check({ query: 'a', limit: 5 })).toBeNull()
    expect(check({})).toContain("required property 'query'")
    expect(check({ query: '' })).toContain('query must NOT have fewer')
    expect(check({ query: 'a', limit: 2.5 })).toContain('limit must be integer')
    expect(check({ query: 'a', more: 1 })).toContain(': more')
    const kind = argumentsCheck('t', { properties: { kind: { enum: ['a', 'b'] } } })
    expect(kind({ kind: 'c' })).toContain(': a, b')
  })

  it('are checked by schemas of strangers: own keywords, old drafts, patterns that would hang', () => {
    for (const $schema of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
    ])
      expect(
        argumentsCheck('t', {
          $schema,
          $id: 'x y',
          'x-own': 1,
          properties: { a: { type: 'string', format: 'own' } },
        })({ a: '1' }),
      ).toBeNull()
    const evil = argumentsCheck('t', { properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
    expect(evil({ a: 'aaa' })).toBeNull()
    expect(evil({ a: `${'a'.repeat(5000)}!` })).toBe('they could not be checked')
    for (const schema of [
      { type: 'string' },
      { properties: 3 },
      { $ref: 'http://x.example/y' },
      null,
      { $async: true },
    ])
      expect(() => argumentsCheck('t', schema as never)).toThrow(DataError)
  })
})
