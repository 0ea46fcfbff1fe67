import { describe, expect, it } from 'vitest'
import { BoundedTemplate } from './bounded-template.ts'
import { ChatTemplate } from './chat-template.ts'

const MESSAGES = [{ role: 'user', content: 'Is Stella a cat?' }]
const render = (source: string) => new ChatTemplate(source, {}, 'chat_template.jinja').render(MESSAGES)

/** Templates that would run without end, fill the memory, or overflow the stack. */
const HOSTILE: Readonly<Record<string, [source: string, message: RegExp]>> = {
  'a long range': ['{% for i in range(1000000000) %}{% endfor %}', /range: expected at most/],
  'a range of tiny steps': ['{{ range(0, 1, 0.0000000001) }}', /range: expected at most|range/],
  'loops in loops': [
    '{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}x{% endfor %}{% endfor %}{% endfor %}',
    /more steps/,
  ],
  'empty loops in loops': [
    '{% set r = range(100000) %}{% for i in r %}{% for j in r %}{% endfor %}{% endfor %}',
    /more steps/,
  ],
  'a text that doubles': [
    '{% set ns = namespace(x="xxxxxxxx") %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}',
    /text of more than/,
  ],
  'a list that doubles': [
    '{% set ns = namespace(x=[1, 2]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}',
    /more steps/,
  ],
  'a list of the same list twice': [
    '{% set ns = namespace(x="a") %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}',
    /a list of more than/,
  ],
  'a dictionary of the same one twice': [
    '{% set ns = namespace(x="a") %}{% for i in range(60) %}{% set ns.x = {"a": ns.x, "b": ns.x} %}{% endfor %}{{ ns.x }}',
    /a list of more than/,
  ],
  'namespaces within each other': [
    '{% set ns = namespace(x="a") %}{% for i in range(60) %}{% set n = namespace() %}{% set l = [n, n] %}{% set n.a = ns.x %}{% set ns.x = l %}{% endfor %}{{ ns.x | tojson }}',
    /expected no namespace within/,
  ],
  'much output': [
    '{% for i in range(100000) %}{% for j in range(9) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}',
    /more/,
  ],
  'a macro that calls itself': ['{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}', /nested|more steps/],
  'replacing by long texts': [
    '{% set ns = namespace(x="ab") %}{% for i in range(18) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x.replace("a", ns.x) }}',
    /an operation on/,
  ],
  'joining by long texts': [
    '{% set ns = namespace(x="ab") %}{% for i in range(18) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ range(90000) | join(ns.x) }}',
    /an operation on/,
  ],
  'JSON between long texts': [
    '{% set ns = namespace(x="ab") %}{% for i in range(18) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ range(90000) | list | tojson(separators=(ns.x, "")) }}',
    /tojson: expected at most 64/,
  ],
  'a text many times': [
    '{% set ns = namespace(x="ab") %}{% for i in range(18) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x * 10000 }}',
    /more than 100000 repeated characters/,
  ],
  'long lists within lists, compared': [
    '{% set a = [range(99999) | list] %}{% set b = [range(99999) | list] %}{% for i in range(99999) %}{{ a == b }}{% endfor %}',
    /more steps/,
  ],
  'a filter of a long text in a list': [
    '{% set a = [range(99999) | list | tojson] %}{% for i in range(99999) %}{{ a | map("upper") | list | length }}{% endfor %}',
    /more steps/,
  ],
  'a wide indent': ['{{ "a\nb" | indent(100000000) }}', /indent: expected at most 64/],
  'a wide indent as the width of another': [
    '{{ "a" | indent("b\nc" | indent(20000000)) }}',
    /indent: expected at most 64 spaces, got 20000000/,
  ],
  'a wide indent of a block': [
    '{% filter indent(width=100000000) %}a\nb{% endfilter %}',
    /indent: expected at most 64/,
  ],
  'wide JSON': ['{{ messages | tojson(indent=100000000) }}', /tojson: expected at most 64/],
}

describe('a template of strangers', () => {
  it.each(Object.entries(HOSTILE))(
    'ends where its budget ends: %s',
    (_name, [source, message]) => {
      expect(() => render(source)).toThrow(
        new RegExp(`^chat_template\\.jinja: chat template: .*${message.source}`),
      )
    },
    60_000,
  )

  it('is refused when it is too long or nested too deeply', () => {
    const make = (source: string) => () => new ChatTemplate(source, {}, 'chat_template.jinja')
    expect(make('x'.repeat(262_145))).toThrow(/chat_template\.jinja: .*at most 262144 char/)
    const nested = (open: string, close: string) => open.repeat(9_000) + close.repeat(9_000)
    const sources = [
      `{{ ${nested('(', ')')} }}`,
      `{{ ${nested('[', ']')} }}`,
      `{{ ${'not '.repeat(40_000)}1 }}`,
    ]
    for (const source of sources)
      expect(() => new ChatTemplate(source, {}, 'chat_template.jinja').render(MESSAGES)).toThrow(
        /^chat_template\.jinja: .*(deep|Unexpected|Expected)/,
      )
  }, 60_000)

  it('goes on after break and continue, and through a long conversation', () => {
    const source =
      '{% for m in messages %}{% if loop.index0 % 2 %}{% continue %}{% endif %}{{ m.content | replace("a", "b") }}{{ messages[loop.index0 - 1].role }}{% endfor %}'
    const messages = Array.from({ length: 3_000 }, (_, i) => ({ role: 'user', content: `a${i} `.repeat(50) }))
    expect(new BoundedTemplate(source).render({ messages }).startsWith('b0 b0')).toBe(true)
  }, 60_000)

  it('writes a long document', () => {
    const content = 'one line of a long document\n'.repeat(40_000)
    const source = '{{ messages[0].content | trim }}{{ messages[0].content.replace("\n", " ") | length }}'
    const text = new BoundedTemplate(source).render({ messages: [{ role: 'user', content }] })
    expect(text).toHaveLength(content.length - 1 + `${content.length}`.length)
  }, 60_000)

  it('has the date and the constants of Jinja', () => {
    const source = '{{ strftime_now("%Y-%m-%d %%") }} {{ True and not none }} {{ range(1, 7, 2) | list }}'
    expect(new BoundedTemplate(source).render({})).toMatch(/^\d{4}-\d\d-\d\d % True \[1, 3, 5\]$/)
  })
})
