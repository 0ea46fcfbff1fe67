import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { assertSameTokenizer, chatFormatOf, stopTokensOf, withoutThinking } from './chat-format.ts'
import { writeTinyChat } from './tiny-chat.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-chat-format-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const bytes = (text: string) => [...Buffer.from(text)]

describe('a chat format', () => {
  const format = chatFormatOf(writeTinyChat(join(folder, 'model'), 512, [256]), 'a test')

  it("stops on the configuration's end tokens and on the tokenizer's, each once", () => {
    expect(format.stopTokens).toEqual([256, 257])
    expect(stopTokensOf({ eosTokenIds: [3, 4] }, { eosId: 4 })).toEqual([3, 4])
    expect(stopTokensOf({ eosTokenIds: [] }, { eosId: null })).toEqual([])
  })

  it('writes conversations through the template and reads responses with the place of every token', () => {
    const prompt = format.encode([{ role: 'user', content: 'Hé?' }])
    expect(format.show(prompt)).toBe('<|im_start|>user\nHé?<|im_end|><|im_start|>assistant\n')
    const { text, ends } = format.read([...bytes('é!'), 257])
    // Two bytes are one character, which is there with the second; a special token has no text.
    expect([text, Array.from(ends)]).toEqual(['é!', [0, 1, 2, 2]])
    expect(format.maxPositions).toBe(512)
  })

  it('reads answers without special tokens and without thinking', () => {
    expect(format.answer([...bytes('drink water'), 257])).toBe('drink water')
    expect(format.answer(bytes('<think>hm</think>\n\ndrink'))).toBe('drink')
    expect(withoutThinking('a <think>b</think> c <think>d')).toBe('a  c')
    expect(withoutThinking('thought so</think> yes')).toBe('yes')
    expect(withoutThinking('<think>never ends')).toBe('')
  })

  it('tells tokenizers apart', () => {
    const [model, other] = ['one', 'two'].map(name => writeTinyChat(join(folder, name)))
    expect(() => assertSameTokenizer(model, other, 'sft.teacher')).not.toThrow()
    expect(() => assertSameTokenizer(model, folder, 'sft.teacher')).toThrow(
      `sft.teacher: ${folder} has another tokenizer`,
    )
  })

  it('needs a tokenizer and a template, and says for what', () => {
    const bare = writeTinyChat(join(folder, 'bare'))
    writeFileSync(join(bare, 'tokenizer_config.json'), '{}')
    expect(() => chatFormatOf(bare, 'a test')).toThrow('a test needs a chat template')
    rmSync(join(bare, 'tokenizer.json'))
    expect(() => chatFormatOf(bare, 'a test')).toThrow('a test needs a tokenizer')
  })
})
