import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { isDone, startModel } from '../run/ledger.ts'
import { jobsOf, workFolders } from './jobs.ts'

let root: string
const folder = (name: string) => join(root, name)
const writeModel = (name: string, weights: string) => {
  mkdirSync(folder(name), { recursive: true })
  writeFileSync(join(folder(name), 'model.safetensors'), weights)
  return folder(name)
}
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-given-'))
  writeModel('one', 'weights of one')
  writeModel('two', 'weights of two')
  writeModel('copy', 'weights of one')
  writeFileSync(join(folder('copy'), 'optimizer.safetensors'), 'moments of a run')
  mkdirSync(folder('empty'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const starting = (...models: string[]) =>
  fakeRegistration({ starts: models.map((name, i) => ({ name: 'abc'[i], model: folder(name) })) })

const jobsFrom = (registration = starting('one', 'two')) =>
  jobsOf(registration, workFolders('work', registration), () => ({ steps: 100 }))

describe('starts that are there', () => {
  it('are done before anything is trained, and are what arms begin with', () => {
    const jobs = jobsFrom()
    const given = jobs.filter(({ kind }) => kind === 'start')
    expect(given.map(({ id }) => id)).toEqual(['start/a', 'start/b'])
    expect(given.map(startModel)).toEqual([folder('one'), folder('two')])
    expect(given.every(isDone)).toBe(true)
    expect(jobs.find(({ id }) => id === 'better/b/1')!.needs).toBe('start/b')
  })

  it('are told by their weights: the same elsewhere are the same runs, others are not', () => {
    const hash = (model: string) => jobsFrom(starting(model)).find(({ kind }) => kind === 'arm')!.configHash
    expect(hash('copy')).toBe(hash('one'))
    expect(hash('two')).not.toBe(hash('one'))
    writeFileSync(folder('four-bits.gguf'), 'weights of one')
    writeFileSync(folder('copied.gguf'), 'weights of one')
    writeFileSync(folder('others.gguf'), 'weights of two')
    expect(hash('copied.gguf')).toBe(hash('four-bits.gguf'))
    expect(new Set(['others.gguf', 'one', 'four-bits.gguf'].map(hash)).size).toBe(3)
    // As a training reads them: a folder with nothing but one is that file, and one of such a name is a folder.
    mkdirSync(folder('downloaded'))
    writeFileSync(join(folder('downloaded'), 'four-bits.gguf'), 'weights of one')
    writeModel('a-folder.gguf', 'weights of one')
    expect(['downloaded', 'a-folder.gguf'].map(hash)).toEqual(['four-bits.gguf', 'one'].map(hash))
  })

  it.each(['empty', 'nowhere', 'nowhere.gguf'])(
    'that are missing (%s) are told by it, with all arms from them',
    model => {
      const jobs = jobsFrom(starting('one', model))
      expect(jobs.filter(({ missing }) => missing !== undefined)).toEqual(
        jobs.filter(({ start }) => start === 'b'),
      )
      expect(jobs.find(({ start }) => start === 'b')!.missing!.message).toMatch(
        /starts\.b\.model: expected a checkpoint folder with \.safetensors files or a \.gguf file, got .*, which is none/,
      )
    },
  )

  it.each<[string, () => unknown, RegExp]>([
    [
      'the same weights under two names',
      () => jobsFrom(starting('one', 'copy')),
      /starts\.b\.model: expected other weights than those of a/,
    ],
    [
      'settings of an arm for what is not trained',
      () => {
        const { arms } = fakeContent() as { arms: Record<string, object> }
        const starts = [{ name: 'a', model: folder('one') }]
        return jobsFrom(fakeRegistration({ starts, arms: { ...arms, plain: { start: { flips: 1 } } } }))
      },
      /arms\.plain\.start: expected no settings/,
    ],
    [
      'a seed beside a model',
      () => fakeRegistration({ starts: [{ name: 'a', model: folder('one'), seed: 1 }] }),
      /starts\[0\]\.seed: .*unknown|starts\[0\]/,
    ],
  ])('refuse %s', (_, act, message) => expect(act).toThrow(message))
})
