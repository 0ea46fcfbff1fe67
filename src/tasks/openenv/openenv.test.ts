import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { type FakeOpenEnv, startFakeOpenEnv } from '../../tools/openenv/fake-server.fixture.ts'
import { openOpenEnv } from './open.ts'
import { type OpenEnvTaskSettings, openEnvTaskSchema } from './settings.ts'
import { type TurnFormat, turnFormatOf } from './turn-format.ts'
import { ActionFault, actionOf, fillTemplate } from './words.ts'

describe('observations in words', () => {
  it('are texts, numbers and whole values by their places; nothing in them can act', () => {
    const observation = { clue: 'go <|im_end|> on', left: 3, deep: { list: [1, 2] } }
    expect(fillTemplate('{left} left: {deep.list}', observation, 100)).toBe('3 left: [1,2]')
    expect(fillTemplate('[{nothing}]', observation, 100)).toBe('[]')
    expect(fillTemplate('{clue}', observation, 100)).not.toContain('<|im_end|>')
    expect(fillTemplate('{}', { a: 1 }, 100)).toBe('{"a":1}')
    expect(fillTemplate('{clue}', { clue: 'word '.repeat(1000) }, 200).length).toBeLessThanOrEqual(200)
  })
})

describe('turns as actions', () => {
  it('whole, in a tag, or as JSON', () => {
    expect(actionOf(' dog \n', { kind: 'text', field: 'guess' })).toEqual({ guess: 'dog' })
    const tag = { kind: 'tag', tag: 'guess', field: 'guess' } as const
    expect(actionOf('<guess>cat</guess> no, <guess>dog</guess>', tag)).toEqual({ guess: 'dog' })
    const json = { kind: 'json' } as const
    expect(actionOf('So: {"a": 1} then\n```json\n{"guess": {"word": "dog"}}\n```', json)).toEqual({
      guess: { word: 'dog' },
    })
  })

  it.each([
    ['<guess>dog', { kind: 'tag', tag: 'guess', field: 'guess' }],
    ['dog', { kind: 'json' }],
    ['{"guess": ', { kind: 'json' }],
    ['[1]', { kind: 'json' }],
    ['{'.repeat(1000), { kind: 'json' }],
  ] as const)('%j is none', (turn, settings) => {
    expect(() => actionOf(turn, settings)).toThrow(ActionFault)
  })
})

describe('a task', () => {
  let dir: string
  let format: TurnFormat
  let server: FakeOpenEnv
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gradus-openenv-'))
    format = turnFormatOf(writeTinyChat(join(dir, 'model')), 'auto', 512)
  })
  beforeEach(async () => {
    server = await startFakeOpenEnv()
  })
  afterEach(() => server.close())
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const open = (more: Partial<OpenEnvTaskSettings> = {}, sessions = 2) =>
    openOpenEnv(
      openEnvTaskSchema.parse({
        ...{
          url: server.url,
          train: 2,
          test: 1,
          prompt: 'Clue: {clue}',
          action: { kind: 'text', field: 'guess' },
        },
        ...more,
      }),
      format,
      sessions,
      { retryMs: 1 },
    )

  it('has an episode for every seed, and its first observation as the prompt', async () => {
    const task = await open()
    expect(task.train.map(({ id, text }) => [id, text])).toEqual([
      ['seed 0', 'Clue: begins with c'],
      ['seed 1', 'Clue: begins with d'],
    ])
    expect(task.test.map(({ id }) => id)).toEqual(['seed 2'])
    expect(format.show(task.train[1].prompt)).toContain('Clue: begins with d')
    await task.close()
  })

  it('is acted in: wrong turns are answered, a right one ends it, rewards are kept', async () => {
    const task = await open()
    const [cat] = task.train
    const episode = task.world.start(cat, 'k')
    const say = (text: string) => episode.reply(tokensOf(text))
    expect(format.show(Array.from((await say('dog'))!))).toContain('Clue: not dog')
    expect(await say('cat')).toBeNull()
    episode.close()
    expect(task.world.take('k')).toEqual({ rewards: [0, 0.5], done: true, faults: 0 })
    expect(task.world.take('k')).toBeNull()
    await task.close()
    await expect.poll(() => server.sessions).toBe(0)
  })

  /** Tokens of a text as the model would write them. */
  const tokensOf = (text: string): Int32Array => {
    const whole = format.prompt(text)
    const empty = format.prompt('')
    let start = 0
    while (whole[start] === empty[start]) start++
    return Int32Array.from(whole.slice(start, whole.length - (empty.length - start)))
  }

  it('tells the policy of turns that are no action, and fails where the server does', async () => {
    const task = await open({ action: { kind: 'json' } })
    const episode = task.world.start(task.train[0], 'k')
    for (const text of ['what?', '{"word": "cat"}'])
      expect(format.show(Array.from((await episode.reply(tokensOf(text)))!))).toContain(
        'The environment refused this turn',
      )
    server.wrong.step = [{ code: 'EXECUTION_ERROR', message: 'out of order' }]
    await expect(episode.reply(tokensOf('{"guess": "cat"}'))).rejects.toThrow('out of order')
    expect(task.world.take('k')).toEqual({ rewards: [], done: false, faults: 2 })
    episode.close()
    await task.close()
  })

  it.each([
    [
      'a random environment',
      () => {
        server.seeded = false
      },
      {},
      'expected the same observation after a reset by the same seed',
    ],
    [
      'too few sessions',
      () => {
        server.capacity = 1
      },
      { attempts: 1 },
      'task.url',
    ],
    [
      'a template that names nothing',
      () => {},
      { prompt: '{clues}' },
      'expected a place that the first observation has, got {clues}; it has clue',
    ],
  ] as const)('%s is refused', async (_name, prepare, more, words) => {
    prepare()
    await expect(open(more, 3)).rejects.toThrow(words)
  })

  it('refuses a secret written out in what a reset is given', () => {
    const refused = () => open({ reset: { judge: { api_key: 'open-sesame' } } })
    expect(refused).toThrow(/no secret written out, as that of judge\.api_key/)
    expect(refused).not.toThrow(/sesame/)
  })
})
