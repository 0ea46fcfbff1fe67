import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError, DataError } from '../util/errors.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { ChatTemplate, loadChatTemplate } from './chat-template.ts'

describe('the template of Qwen2.5-Instruct', () => {
  const path = sharedData('tokenizer/chat-templates/Qwen2.5-7B-Instruct.jinja')
  const template = path === null ? null : new ChatTemplate(readFileSync(path, 'utf8'))
  const user = { role: 'user', content: 'Is Stella a cat?' }

  it('adds its own system turn and opens the answer', context => {
    if (!template) return context.skip('shared data not here')
    expect(template.render([user], { addGenerationPrompt: true })).toBe(
      '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' +
        '<|im_start|>user\nIs Stella a cat?<|im_end|>\n' +
        '<|im_start|>assistant\n',
    )
  })

  it('keeps the given system turn and writes whole conversations', context => {
    if (!template) return context.skip('shared data not here')
    const messages = [
      { role: 'system', content: 'Prove it.' },
      user,
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Why?\n\nReally.' },
    ]
    expect(template.render(messages)).toBe(
      '<|im_start|>system\nProve it.<|im_end|>\n' +
        '<|im_start|>user\nIs Stella a cat?<|im_end|>\n' +
        '<|im_start|>assistant\nYes.<|im_end|>\n' +
        '<|im_start|>user\nWhy?\n\nReally.<|im_end|>\n',
    )
  })

  it('offers tools, and writes calls and their results', context => {
    if (!template) return context.skip('shared data not here')
    const tool = { type: 'function', function: { name: 'lookup' } }
    const messages = [
      user,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'lookup', arguments: { noun: 'cat' } } }],
      },
      { role: 'tool', content: 'a' },
      { role: 'tool', content: 'b' },
    ]
    const text = template.render(messages, { tools: [tool], addGenerationPrompt: true })
    expect(text).toContain(
      '<tools>\n{"type": "function", "function": {"name": "lookup"}}\n</tools>\n\nFor each function call',
    )
    expect(
      text.endsWith(
        '<|im_start|>assistant\n<tool_call>\n{"name": "lookup", "arguments": {"noun": "cat"}}\n</tool_call><|im_end|>\n' +
          '<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response><|im_end|>\n' +
          '<|im_start|>assistant\n',
      ),
    ).toBe(true)
  })
})

describe('ChatTemplate', () => {
  it('gives templates the special tokens and further variables', () => {
    const source = '{{ bos_token }}{% if thinking %}T{% endif %}{{ messages[0].content }}'
    const template = new ChatTemplate(source, { bos_token: '<s>' })
    const messages = [{ role: 'user', content: 'hi' }]
    expect(template.render(messages, { variables: { thinking: true } })).toBe('<s>Thi')
    expect(template.render(messages)).toBe('<s>hi')
  })

  it('renders with what the transformers library gives', () => {
    const source = '{{ documents is none }} {{ tools }} {{ add_generation_prompt }}'
    expect(new ChatTemplate(source).render([])).toBe('True None False')
  })

  it('drops the line break after a block and the indent before it, as the transformers library does', () => {
    const source = '{% for m in messages %}\n  {% if true %}\n{{ m.content }}\n  {% endif %}\n{% endfor %}'
    expect(new ChatTemplate(source).render([{ role: 'user', content: 'x' }])).toBe('x\n')
  })

  it('refuses what is no template, and passes on what a template refuses', () => {
    expect(() => new ChatTemplate('{% if %}')).toThrow(CheckpointError)
    const strict = new ChatTemplate("{{ raise_exception('roles must alternate') }}")
    const messages = [{ role: 'tool', content: '' }]
    expect(() => strict.render(messages)).toThrow(DataError)
    expect(() => strict.render(messages)).toThrow(/roles must alternate.*roles were tool/)
  })
})

describe('loadChatTemplate', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gradus-template-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))
  const config = (value: unknown) => writeFileSync(join(dir, 'tokenizer_config.json'), JSON.stringify(value))
  const hi = [{ role: 'user', content: 'hi' }]

  it('finds none, one in the config, the default of several, one in its own file', () => {
    expect(loadChatTemplate(dir)).toBeNull()
    config({ eos_token: { content: '</s>' }, chat_template: '{{ messages[0].content }}{{ eos_token }}' })
    expect(loadChatTemplate(dir)!.render(hi)).toBe('hi</s>')
    const several = [
      { name: 'tool_use', template: 'no' },
      { name: 'default', template: 'yes' },
    ]
    config({ chat_template: several })
    expect(loadChatTemplate(dir)!.source).toBe('yes')
    expect(loadChatTemplate(dir)!.render(hi)).toBe('yes')
    expect(loadChatTemplate(dir)!.render(hi, { tools: [] })).toBe('no')
    writeFileSync(join(dir, 'chat_template.jinja'), 'file')
    expect(loadChatTemplate(dir)!.source).toBe('file')
  })

  it('names the file of a broken template', () => {
    config({ chat_template: 3 })
    expect(() => loadChatTemplate(dir)).toThrow(/tokenizer_config\.json: chat_template/)
    config([])
    expect(() => loadChatTemplate(dir)).toThrow(/tokenizer_config\.json: expected an object/)
    writeFileSync(join(dir, 'chat_template.jinja'), '{% endif %}')
    config({})
    expect(() => loadChatTemplate(dir)).toThrow(/chat_template\.jinja: not a Jinja template/)
  })
})
