import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { resolveShipped } from '../../util/package.ts'
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

  it('is refused where the model has no template, and takes one', async () => {
    const args = ['sample', '--model', 'models/logic-start', '--chat', '--prompt', 'every']
    const { code, err } = await cli(args)
    expect(code).toBe(1)
    expect(err).toMatch(/needs a chat template, but this is a base model/)
    expect(err).toContain('--template FILE')
    const template = join(folder, 'template.jinja')
    writeFileSync(template, '{% for message in messages %}{{ message.content }} wumpus{% endfor %}')
    const greedy = ['--temperature', '0', '--max-tokens', '4', '--json']
    const templated = await cli([...args, '--template', template, ...greedy])
    const tokens = chatFormatOf(resolveShipped('package:models/logic-start'), 'a test', { template }).encode([
      { role: 'user', content: 'every' },
    ])
    const byTokens = await cli([...args.slice(0, 3), '--prompt-tokens', tokens.join(), ...greedy])
    expect(JSON.parse(templated.out).tokens).toEqual(JSON.parse(byTokens.out).tokens)
    expect(await cli([...args, '--template', join(folder, 'none')])).toMatchObject({ code: 1 })
  })

  it('is sampled as its makers recommend where nobody says otherwise, and that is logged', async () => {
    const recommended = join(folder, 'recommended')
    writeTinyChat(recommended)
    writeFileSync(
      join(recommended, 'generation_config.json'),
      '{"temperature": 0.5, "top_k": 1, "min_p": 0.1}',
    )
    const run = (...args: string[]) =>
      cli([
        'sample',
        '--model',
        recommended,
        '--prompt-tokens',
        '1,2,3',
        '--max-tokens',
        '6',
        '--json',
        ...args,
      ])
    const { err, out } = await run()
    expect(err).toBe(
      'generation_config.json: temperature 0.5, top_k 1; ignored, as the sampler has none: min_p 0.1\n',
    )
    const same = await cli([
      ...['sample', '--model', model, '--prompt-tokens', '1,2,3', '--max-tokens', '6', '--json'],
      ...['--temperature', '0.5', '--top-k', '1'],
    ])
    expect(JSON.parse(out)).toEqual(JSON.parse(same.out))
    expect((await run('--temperature', '1', '--top-k', '0')).err).not.toContain('temperature')
  })
})
