import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ChatTemplate } from '../chat-template.ts'

/** Small templates and what transformers 5.8 with Jinja 3.1.6 makes of them, null where they refuse (scripts/peers/chat_templates.py). */
const GOLDEN: Readonly<Record<string, string | null>> = JSON.parse(
  readFileSync(new URL('templates.golden.json', import.meta.url), 'utf8'),
)
const USER = { role: 'user', content: 'x', name: 'ann', n: 3, f: 1e-7, g: 123456.789 }
const MESSAGES = [
  { ...USER, l: [1, "a'b", null, true], d: { k: 'v\n' } },
  { role: 'assistant', content: 'Four.' },
  { role: 'user', content: 'What is 2 + 2?' },
]
const SPECIALS = { bos_token: '<s>', eos_token: '</s>' }
const render = (source: string) =>
  new ChatTemplate(source, SPECIALS).render(MESSAGES, { addGenerationPrompt: true })

/** What the library cannot do, or would do otherwise, and the name by which it is refused. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  '{{ 1 < 2 < 3 }}': /a < b < c is not supported/,
  '{{ {1: 2} }}': /Object keys must be strings/,
  '{{ (1,) }}': /Unexpected token/,
  '{{ 4 is divisibleby(2) }}': /Parser Error/,
  '{% raw %}x{% endraw %}': /raw/,
  '{% with x = 1 %}{% endwith %}': /with/,
  "{{ '%d' % 3 }}": /% is not supported for String and Integer/,
  "{{ 'a' | center(9) }}": /the filter center is not supported/,
  "{{ 'a'.zfill(3) }}": /calling zfill is not supported/,
  '{{ dict(a=1) }}': /calling dict is not supported/,
  '{{ {"a": 1}.items() }}': /writing it out is not supported for Lazy/,
  '{{ range(3) }}': /writing it out is not supported for Lazy/,
  '{{ loop }}{% for x in [1] %}{{ loop }}{% endfor %}': /writing it out is not supported for Namespace/,
  '{% macro f() %}{{ varargs }}{% endmacro %}{{ f(1) }}': /varargs is not supported/,
  '{% break %}': /break and continue are not supported outside of for/,
  "{{ '\\U0001f642' }}": /the escape \\U is not supported/,
  "{{ '{:>3}'.format(1) }}": /format: a field with options is not supported/,
  "{{ strftime_now('%j') }}": /strftime_now: %j is not supported/,
  '{% set ns = namespace(go=true) %}{% for m in [1, 2] if ns.go %}{% set ns.go = false %}{% endfor %}':
    /a condition of for that the loop changes is not supported/,
}

describe('a chat template', () => {
  it.each(Object.entries(GOLDEN))('is rendered as transformers renders it: %j', (source, text) => {
    if (text === null) expect(() => render(source)).toThrow()
    else expect(render(source)).toBe(text)
  })

  it.each(Object.entries(REFUSED))(
    'is refused by name where it would come out otherwise: %j',
    (source, message) => {
      expect(() => render(source)).toThrow(message)
    },
  )
})
