import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Checkpoints, type CheckpointsOptions } from './checkpoints.ts'
import { endAll, temporaryFolder } from './service.fixture.ts'
import { fileNameOf } from './stored-names.ts'

afterEach(endAll)

const MODEL = 'session_1:train:0'
const KIND = 'weights'

const open = (state = temporaryFolder(), options: CheckpointsOptions = {}) => {
  const damaged: string[] = []
  const onDamaged = (path: string, why: string) => void damaged.push(`${path}: ${why}`)
  const checkpoints = new Checkpoints(state, { onDamaged, ...options })
  const folder = join(state, 'models', 'session_1-train-0', KIND)
  const save = (name: string, text = name, more: { overwrite?: boolean; ttlS?: number } = {}) =>
    checkpoints.save(MODEL, { kind: KIND, name, overwrite: false, ...more }, async place => {
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, 'x'), text)
    })
  const content = (name: string) =>
    readFileSync(join(checkpoints.find(`tinker://${MODEL}/${KIND}/${name}`).folder, 'x'), 'utf8')
  const names = () =>
    checkpoints
      .list()
      .map(({ name }) => name)
      .sort()
  return { state, checkpoints, damaged, folder, save, content, names }
}

const begin = () => {
  const opened = open()
  opened.checkpoints.register({ id: MODEL, baseModel: 'tiny', lora: null, metadata: {} })
  return opened
}

/** What a client may call a checkpoint. */
const ODD_NAMES = [
  'a',
  'a.json',
  'a.json.json',
  'A',
  'A.JSON',
  'a.',
  'a~2'.replace('~', '-'),
  'a.1',
  'x.gradus-123456-1.tmp',
  'a.tmp',
  'B'.repeat(128),
  'b'.repeat(128),
  'b'.repeat(100),
]

describe('names of checkpoints', () => {
  it('are each a file of their own, in the next life too', async () => {
    const { state, save } = begin()
    for (const name of ODD_NAMES) await save(name)
    const later = open(state)
    expect(later.damaged).toEqual([])
    expect(later.names()).toEqual([...ODD_NAMES].sort())
    for (const name of ODD_NAMES) expect(later.content(name)).toBe(name)
  })

  it('that differ never share a file, whatever capitals mean to the disk', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/)
    fc.assert(
      fc.property(name, name, (a, b) => {
        if (a !== b) expect(fileNameOf(a).toLowerCase()).not.toBe(fileNameOf(b).toLowerCase())
        expect(fileNameOf(a)).toMatch(/^[^.](?:[^.]|\.\d)*$/)
      }),
    )
  })
})

describe('a state', () => {
  it.each([
    ['no JSON', '{"createdAt":'],
    ['another shape', '{"createdAt":5}'],
    ['half of a character', '{"createdAt":"\\ud800","bytes":1,"isPublic":false,"expiresAt":null}'],
    ['a folder elsewhere', '{"folder":"../../x","createdAt":"","bytes":1,"isPublic":false,"expiresAt":null}'],
    ['of another name', '{"name":"good","createdAt":"","bytes":1,"isPublic":false,"expiresAt":null}'],
    [
      'a folder that is not there',
      '{"folder":"x","createdAt":"","bytes":1,"isPublic":false,"expiresAt":null}',
    ],
  ])('with an entry that is %s: it is put aside and named, the rest is there', async (_, text) => {
    const { state, folder, save } = begin()
    await save('good')
    await save('bad')
    writeFileSync(join(folder, 'bad.json'), text)
    const later = open(state)
    expect(later.names()).toEqual(['good'])
    expect(later.damaged).toEqual([expect.stringContaining(join(folder, 'bad.json.damaged'))])
    // Its weights stay, and its name can be had again.
    expect(existsSync(join(folder, 'bad', 'x'))).toBe(true)
    await later.save('bad', 'again')
    const last = open(state)
    expect(last.damaged).toEqual([])
    expect(last.content('bad')).toBe('again')
    expect(existsSync(join(folder, 'bad', 'x'))).toBe(true)
  })

  it('with a model that cannot be read has the others', () => {
    const { state, checkpoints } = begin()
    checkpoints.register({ id: 'session_2:train:0', baseModel: 'tiny', lora: null, metadata: {} })
    writeFileSync(join(state, 'models', 'session_1-train-0', 'model.json'), '{')
    writeFileSync(join(state, 'models', 'no folder'), '')
    const later = open(state)
    expect(later.checkpoints.models().map(({ id }) => id)).toEqual(['session_2:train:0'])
    expect(later.damaged).toHaveLength(1)
  })

  it('loses what kills have left, and nothing that is listed', async () => {
    const { state, folder, save } = begin()
    await save('kept')
    mkdirSync(join(folder, 'half'))
    mkdirSync(join(state, 'models', 'session_9-train-0'))
    // A process of this host that is gone.
    const [own] = /gradus-[0-9a-f]{6}/.exec((await import('../../util/atomic.ts')).temporaryPath('x')) ?? []
    writeFileSync(join(folder, `kept.json.${own}-999999999.tmp`), '')
    const later = open(state)
    expect(readdirSync(folder).sort()).toEqual(['kept', 'kept.json'])
    expect(readdirSync(join(state, 'models'))).toEqual(['session_1-train-0'])
    expect(later.content('kept')).toBe('kept')
  })
})

describe('a save over another', () => {
  it('leaves the old one until the new one is whole', async () => {
    const { state, folder, save, content, checkpoints } = begin()
    await save('a', 'old')
    await expect(save('a', 'new', { overwrite: true, ttlS: 1e300 })).rejects.toThrow()
    const fails = checkpoints.save(MODEL, { kind: KIND, name: 'a', overwrite: true }, async place => {
      mkdirSync(place)
      throw new Error('no room')
    })
    await expect(fails).rejects.toThrow('no room')
    expect(content('a')).toBe('old')
    expect(readdirSync(folder).sort()).toEqual(['a', 'a.json'])
    await save('a', 'new', { overwrite: true })
    expect(content('a')).toBe('new')
    expect(readdirSync(folder)).toHaveLength(2)
    expect(open(state).content('a')).toBe('new')
  })

  it('is not begun where the state is another process’s by now', async () => {
    let isOurs = true
    const opened = open(undefined, {
      assertOurs: () => {
        if (!isOurs) throw new Error('taken over')
      },
    })
    opened.checkpoints.register({ id: MODEL, baseModel: 'tiny', lora: null, metadata: {} })
    await opened.save('a')
    isOurs = false
    await expect(opened.save('b')).rejects.toThrow('taken over')
    expect(() => opened.checkpoints.delete(`tinker://${MODEL}/${KIND}/a`)).toThrow('taken over')
    expect(readdirSync(opened.folder).sort()).toEqual(['a', 'a.json'])
  })
})
