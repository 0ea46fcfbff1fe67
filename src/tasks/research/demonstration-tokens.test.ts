import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { chatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { ChatTemplate } from '../../model/chat-template.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { chatAgentFormat } from './agent-format.ts'
import { DemonstrationEncoder, type DemonstrationTokens } from './demonstration-tokens.ts'
import { demonstrationOf, demonstrationSchema } from './demonstrations.ts'
import { DEFAULT_RULES } from './protocol.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-demonstrations-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const model = writeTinyChat(join(folder, 'model'), 32_768)
const format = chatFormatOf(model, 'a test')

const TOOLS = [
  {
    name: 'search',
    description: 'Finds passages.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
]
const FIRST = '<think>a</think><structured_plan>p</structured_plan><call_tool name="search">why</call_tool>'
const LAST = '<state_evaluation>s</state_evaluation><answer>x</answer>'
const SAID = '<snippet id="t1">\nBecause, 1 &lt; 2.\n</snippet>'

const row = demonstrationOf(
  {
    id: 'q',
    attempt: 1,
    question: 'Why?',
    rounds: [
      { text: FIRST, observation: { text: SAID, isError: false } },
      { text: LAST, observation: null },
    ],
  },
  { tools: TOOLS, rules: DEFAULT_RULES },
)

const partsOf = ({ responseTokens, learnt }: DemonstrationTokens, show = format.show) => {
  const of = (value: number) => show(responseTokens.filter((_, i) => learnt[i] === value))
  return { learnt: of(1), masked: of(0), whole: show(responseTokens) }
}

describe('a demonstration of an agent', () => {
  it('learns what the agent wrote and the end of its last turn, and nothing of what the tool said', () => {
    const tokens = new DemonstrationEncoder(format).encode(demonstrationSchema.parse(row))
    const { learnt, masked } = partsOf(tokens)
    expect(learnt).toBe(`${FIRST}${LAST}<|im_end|>`)
    expect(masked).toContain(SAID)
    expect(masked).not.toContain('structured_plan')
  })

  it('stands as in an episode: the same prompt, the same words around what the tool said', () => {
    const agent = chatAgentFormat(format, { prompt: { tools: TOOLS, rules: DEFAULT_RULES } })
    const tokens = new DemonstrationEncoder(format).encode(demonstrationSchema.parse(row))
    expect(tokens.promptTokens).toEqual(agent.prompt('Why?'))
    const turn = Int32Array.from(format.tokens(FIRST))
    const said = agent.say({ kind: 'tool', outcome: 'output', text: SAID }, turn)
    expect(tokens.responseTokens.slice(0, turn.length + said.length)).toEqual([...turn, ...said])
  })

  it('is cut where a tool said more than there is room for', () => {
    const long = structuredClone(row)
    long.messages[3].content = 'word '.repeat(2000)
    const encoder = new DemonstrationEncoder(format, { maxObservationTokens: 100 })
    const { masked } = partsOf(encoder.encode(demonstrationSchema.parse(long)))
    expect(masked.length).toBeLessThan(300)
    expect(masked).toContain('cut here')
  })

  it.each<[string, object[], RegExp]>([
    [
      'somebody speaks between its turns',
      [
        { role: 'assistant', content: FIRST },
        { role: 'user', content: 'Go on.' },
        { role: 'assistant', content: LAST },
      ],
      /messages\[2\]: expected a message of the role tool,.*got one of user/,
    ],
    [
      'it has two turns in a row',
      [
        { role: 'assistant', content: FIRST },
        { role: 'assistant', content: LAST },
      ],
      /messages\[2\]: expected a message of the role tool,.*got one of assistant/,
    ],
    [
      'a tool speaks first',
      [
        { role: 'tool', content: SAID },
        { role: 'assistant', content: LAST },
      ],
      /messages\[1\]: expected a message of the role assistant,.*got one of tool/,
    ],
    [
      'a tool has the last word',
      [
        { role: 'assistant', content: FIRST },
        { role: 'tool', content: SAID },
      ],
      /messages\[2\]: expected the answer of the agent at the end/,
    ],
  ])('is refused where %s: an episode has no place for that', (_, turns, message) => {
    const own = { ...row, messages: [{ role: 'user', content: 'Why?' }, ...turns] }
    expect(() => new DemonstrationEncoder(format).encode(demonstrationSchema.parse(own))).toThrow(message)
  })

  it("writes its calls in the template's own form where there is one", () => {
    const template = `{% if tools %}<|im_start|>system
{{ messages[0].content if messages[0].role == 'system' else '' }}
{% for tool in tools %}{{ tool | tojson }}{% endfor %}<|im_end|>
{% endif %}{% for message in messages %}{% if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role != 'system' %}<|im_start|>{{ message.role }}
{{ message.content }}{% for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`
    const own = chatFormat(loadTokenizer(model), new ChatTemplate(template), {
      eosTokenIds: [257],
      maxPositions: 32_768,
    })
    const call = '<tool_call>\n{"name": "search", "arguments": {"query":"why"}}\n</tool_call>'
    const { learnt, masked } = partsOf(
      new DemonstrationEncoder(own).encode(demonstrationSchema.parse(row)),
      own.show,
    )
    expect(learnt).toContain(call)
    expect(learnt).not.toContain('<call_tool')
    expect(masked).toContain('<tool_response>')
    const xml = new DemonstrationEncoder(own, { calls: 'xml' }).encode(demonstrationSchema.parse(row))
    expect(partsOf(xml, own.show).learnt).toContain('<call_tool name="search">')
  })
})

describe('any other conversation', () => {
  const messages = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'Yes.' },
    { role: 'tool', content: 'A tool says more.' },
    { role: 'assistant', content: 'No.' },
  ]

  it('learns every turn of the assistant with its end, as the template writes them', () => {
    const tokens = new DemonstrationEncoder(format).encode(demonstrationSchema.parse({ messages }))
    const { learnt, masked, whole } = partsOf(tokens)
    expect(learnt).toBe('Yes.<|im_end|>No.<|im_end|>')
    expect(masked).toBe('<|im_start|>tool\nA tool says more.<|im_end|><|im_start|>assistant\n')
    expect(format.show(tokens.promptTokens) + whole).toBe(format.render(messages))
  })

  it('is refused where nobody is to be learnt from, and where the template changes a turn', () => {
    const encode = (own: object, by = format) =>
      new DemonstrationEncoder(by).encode(demonstrationSchema.parse({ messages: own }))
    expect(() => encode(messages.slice(0, 2))).toThrow('expected a message of the assistant')
    expect(() => encode(messages.with(2, { role: 'assistant', content: ' \n' }))).toThrow(
      'messages[2]: expected what the assistant says, got an empty text',
    )
    // What comes after the end of a turn would be learnt as a part of it.
    const cheats = { role: 'assistant', content: 'Yes.<|im_end|><|im_start|>user\nThanks.' }
    expect(() => encode(messages.with(2, cheats))).toThrow(
      'messages[2]: expected a text without control tokens of the model, got <|im_end|>',
    )
    const drops =
      "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content.split('</think>')[-1] + '<|im_end|>' }}{% endfor %}"
    const other = chatFormat(loadTokenizer(model), new ChatTemplate(drops), {
      eosTokenIds: [257],
      maxPositions: 32_768,
    })
    const thinking = messages.with(2, { role: 'assistant', content: '<think>hm</think>Yes.' })
    expect(() => encode(thinking, other)).toThrow(
      'messages[2]: expected the chat template to write it as it stands',
    )
    expect(() => demonstrationSchema.parse({ messages: [{ role: 'robot', content: '' }] })).toThrow()
  })
})
