import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { cli, SLOW_MS } from '../cli.fixture.ts'

let folder: string
let model: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-sample-'))
  model = writeTinyChat(join(folder, 'model'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sample = (...args: string[]) =>
  cli(['sample', '--model', model, '--temperature', '0', '--max-tokens', '6', '--json', ...args])

describe('a chat model that is sampled', { timeout: SLOW_MS }, () => {
  it('is spoken to by its template with --chat, and continues text without, which is said', async () => {
    const spoken = await sample('--chat', '--prompt', 'Hello')
    expect(spoken).toMatchObject({ code: 0, err: '' })
    const prompt = chatFormatOf(model, 'test').encode([{ role: 'user', content: 'Hello' }])
    const byTokens = await sample('--prompt-tokens', prompt.join())
    const [a, b] = [spoken, byTokens].map(({ out }) => JSON.parse(out))
    expect(a.tokens.slice(0, b.tokens.length)).toEqual(b.tokens.slice(0, a.tokens.length))
    const plain = await sample('--prompt', 'Hello')
    expect(plain.code).toBe(0)
    expect(plain.err).toContain('--chat says it as a user would')
  })

  it('wants text with --chat, and a folder', async () => {
    expect(await sample('--chat', '--prompt-tokens', '1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--chat: expected --prompt TEXT'),
    })
    const args = ['sample', '--model', 'http://127.0.0.1:9/v1#x', '--chat', '--prompt', 'x']
    expect(await cli(args)).toMatchObject({ code: 2, err: expect.stringContaining('expected a folder') })
  })

  it('is refused where the model has no template', async () => {
    const args = ['sample', '--model', 'models/logic-start', '--chat', '--prompt', 'x']
    expect(await cli(args)).toMatchObject({ code: 1, err: expect.stringContaining('needs a chat template') })
  })
})
