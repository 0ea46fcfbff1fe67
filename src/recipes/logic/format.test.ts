import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { formatFor } from './format.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-logic-format-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("the chat prompt stops on the end token of the model's configuration as well as on the tokenizer's", () => {
  const model = writeTinyChat(join(folder, 'model'), 2048, [256])
  const { stopTokens } = formatFor('chat', model)
  expect(stopTokens).toContain(256)
  expect(stopTokens).toContain(257)
  expect(stopTokens).toEqual(chatFormatOf(model, 'a test').stopTokens)
})
