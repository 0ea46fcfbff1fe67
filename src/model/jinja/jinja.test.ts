import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BoundedTemplate } from '../bounded-template.ts'
import { strftime } from './strftime.ts'

/** Made by scripts/peers/chat_templates.py with Jinja2 3.1.6 and the settings of transformers 5.8: null for what they refuse. */
const GOLDEN = JSON.parse(readFileSync(new URL('snippets.golden.json', import.meta.url), 'utf8')) as Record<
  string,
  string | null
>
/** The conversation "odd fields" of that script. */
const MESSAGES = [
  {
    role: 'user',
    content: 'x',
    name: 'ann',
    n: 3,
    f: 1e-7,
    g: 123456.789,
    l: [1, "a'b", null, true],
    d: { k: 'v\n' },
  },
  { role: 'assistant', content: 'Four.' },
  { role: 'user', content: 'What is 2 + 2?' },
]
const GIVEN = {
  bos_token: '<s>',
  eos_token: '</s>',
  pad_token: '<pad>',
  unk_token: '<unk>',
  messages: MESSAGES,
  tools: null,
  documents: null,
  add_generation_prompt: true,
}

const render = (source: string): string | null => {
  try {
    return new BoundedTemplate(source).render(GIVEN)
  } catch {
    return null
  }
}

describe('a template', () => {
  it('makes the text of Jinja2, or is refused where it is there', () => {
    const sources = Object.keys(GOLDEN)
    expect(sources.length).toBeGreaterThan(1000)
    expect(Object.fromEntries(sources.map(source => [source, render(source)]))).toEqual(GOLDEN)
  })

  it('says in which line it is none', () => {
    const error = (source: string) => {
      try {
        return new BoundedTemplate(source).render(GIVEN)
      } catch (caught) {
        return (caught as Error).message
      }
    }
    expect(error('a\n{% if x %}\n{{ y z }}')).toBe('line 3: expected end, got z')
    expect(error('{% if x %}')).toBe('line 1: expected elif or else or endif, got the end')
    expect(error('\n{{ "a" ')).toBe('line 2: {{ is not closed')
    expect(error('{% include "x" %}')).toBe('line 1: expected a tag that is supported, got include')
    expect(error('{{ messages[0].contents.text }}')).toBe('dict has no "contents"')
    expect(error('{{ 1 + none }}')).toBe('+: not for int and NoneType')
    expect(error('{{ messages | map("upper") }}')).toMatch(/^map: cannot be printed/)
  })

  it('writes dates as Python does, and refuses parts that it does not know', () => {
    const date = new Date(2024, 1, 3, 15, 4, 5)
    expect(strftime(date, '%d %b %Y, %A %B %-d %y %H:%M:%S %I %p %j %a %m %u %%')).toBe(
      '03 Feb 2024, Saturday February 3 24 15:04:05 03 PM 034 Sat 02 6 %',
    )
    expect(() => strftime(date, '%Q')).toThrow('strftime_now: %Q: not supported')
  })
})
