import { describe, expect, it } from 'vitest'
import { parseAnswer, splitThinking } from './parse.ts'

const met = (text: string) =>
  parseAnswer(text, json => {
    const value = (json as { met?: unknown } | null)?.met
    return typeof value === 'boolean'
      ? { value }
      : { problem: `expected a boolean, got ${JSON.stringify(value)}` }
  })

describe('lenient JSON', () => {
  it.each([
    ['plain', '{"why": "a", "met": true}'],
    ['fenced', '```json\n{"why": "a", "met": true}\n```'],
    ['fenced without a language', 'Here:\n```\n{"met": true}\n```\nDone.'],
    ['fenced with tildes', '~~~json\n{"met": true}\n~~~'],
    ['text before and after', 'Let me see. {"met": true} I hope this helps {you}.'],
    ['doubled braces', '{{"why": "a", "met": true}}'],
    ['doubled braces all through', '{{"why": {{"a": 1}}, "met": true}}'],
    ['raw newlines in a string', '{"why": "first\nsecond\n\nthird", "met": true}'],
    ['unescaped quotes', '{"why": "it says "take two" twice", "met": true}'],
    ['a trailing comma', '{"why": "a", "met": true,}'],
    ['Python literals', "{'why': 'a', 'met': True}"],
    ['LaTeX backslashes', '{"why": "\\alpha \\in \\{1\\}", "met": true}'],
    ['a reasoning block', '<think>{"met": false}? no.</think>\n{"met": true}'],
    ['a reasoning block opened by the template', 'hmm {"met": false}</think>{"met": true}'],
    ['the last of several objects', '{"met": false} on second thought {"met": true}'],
    ['an object after broken brackets', 'f(x) = {x : {y \n{"met": true}'],
    ['a missing closing brace', '{"why": "a", "met": true'],
  ])('reads %s', (name, text) => {
    expect(met(text)).toEqual({ value: true, strict: name === 'plain' })
  })

  it.each([
    ['the string "true"', '{"met": "true"}', 'got "true"'],
    ['a number', '{"met": 1}', 'got 1'],
    ['a missing field', '{"why": "a"}', 'got undefined'],
    ['a word cut short', '{"why": "a", "met": tr', 'got "tr"'],
    ['nothing', '', 'empty'],
    ['white space', ' \n ', 'empty'],
    ['prose', 'Yes, it is met.', 'no JSON'],
    ['reasoning without an end', '<think>{"met": true} but', 'never ends'],
    ['reasoning and nothing after it', '<think>{"met": true}</think>', 'empty'],
  ])('refuses %s', (_name, text, problem) => {
    const reading = met(text)
    expect(reading.value).toBeUndefined()
    expect(reading.problem).toContain(problem)
  })

  it('ends reasoning at its first closing tag', () => {
    expect(splitThinking('<think>a</think> b </think> c').answer).toBe('b </think> c')
    expect(splitThinking('no block').answer).toBe('no block')
  })

  it('gives up on a long run of brackets instead of searching for ever', () => {
    expect(met('{['.repeat(100_000)).value).toBeUndefined()
  })
})
