import { expect, it } from 'vitest'
import { ChatTemplate } from '../chat-template.ts'
import { modelfileOf } from './modelfile.ts'

const of = (source: string | null, stops: string[] = ['<|im_end|>']) =>
  modelfileOf({
    file: 'model.gguf',
    chatTemplate: source === null ? null : new ChatTemplate(source),
    stops,
    maxPositions: 2048,
  })

const CHATML =
  "{% for m in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}" +
  "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

it('has the template of ChatML, and the system message that the model writes by itself', () => {
  expect(of(CHATML)).toBe(`# ollama create NAME -f Modelfile
FROM ./model.gguf
TEMPLATE """{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
SYSTEM """Be kind."""
PARAMETER stop "<|im_end|>"
PARAMETER num_ctx 2048
`)
})

it('has that of Llama 3 and of Gemma, without a system message where there is none', () => {
  const llama = of(
    "{% for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
  )
  expect(llama).toContain(
    '{{ .Content }}<|eot_id|>\n{{- end }}<|start_header_id|>assistant<|end_header_id|>\n\n"""',
  )
  const gemma = of(
    "<bos>{% for m in messages %}{{ '<start_of_turn>' + m.role + '\n' + m.content + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}",
  )
  expect(gemma).toContain('{{ end }}<start_of_turn>model\n"""')
  for (const text of [llama, gemma]) expect(text).not.toContain('SYSTEM')
})

it('leaves a template that it does not know to Ollama, and a text model without one', () => {
  expect(of("{{ 'Q: ' + messages[0].content + '\nA:' }}")).toMatch(/^# No TEMPLATE/m)
  expect(of('{{ raise_exception("no") }}')).toMatch(/^# No TEMPLATE/m)
  expect(of(null)).toContain('TEMPLATE "{{ .Prompt }}"')
})

it('lets no system message end its own quotes', () => {
  const system = 'Say "yes"""""" \nFROM evil"'
  const source = CHATML.replace('Be kind.', system.replace('\n', '\\n'))
  const [, text] = /^SYSTEM """([\s\S]*?)"""\nPARAMETER/m.exec(of(source)) ?? []
  expect(text).toBe('Say "yes"" \nFROM evil" ')
})

it('quotes stops', () => {
  expect(of(null, ['"\n'])).toContain('PARAMETER stop "\\"\\n"')
})
