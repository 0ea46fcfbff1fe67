import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { armTraining, jobsOf, workFolders } from './jobs.ts'

const registration = fakeRegistration()
const resolve = () => ({ steps: 100 })
const jobs = jobsOf(registration, workFolders('work', registration), resolve)

describe('jobs', () => {
  it('are all arms of a seed and start before the next, each cold start before its first use', () => {
    expect(jobs.map(({ id }) => id).slice(0, 7)).toEqual([
      'start/a',
      'better/a/1',
      'plain/a/1',
      'worse/a/1',
      'random/a/1',
      'start/b',
      'better/b/1',
    ])
    expect(jobs).toHaveLength(2 + 4 * 2 * 5)
    expect(jobs.at(-1)!.id).toBe('random/b/5')
  })

  it('put cold starts where every registration finds them, runs under the hash', () => {
    expect(jobs[0].dir).toMatch(/^work\/cold-starts\/checklist-cold-start-[0-9a-f]{16}$/)
    expect(jobs[1].dir).toBe(`work/made-up/${registration.hash.slice(0, 16)}/better/a-seed-1`)
  })

  it('carry the registered steps, seed, test set and one thread', () => {
    const settings = Object.assign({}, ...jobs[1].training.settings)
    expect(settings).toMatchObject({
      steps: 60,
      seed: 1,
      policy: { threads: 1 },
      evaluation: { problems: 2048 },
    })
  })

  it('draw, where an arm says so, from seeds of their own, and are paired by the registered one', () => {
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const twin = fakeRegistration({ arms: { ...arms, twin: { ...arms.better, draws: 'twin' } } })
    const all = jobsOf(twin, workFolders('work', twin), resolve)
    const of = (arm: string) => all.find(job => job.arm === arm && job.seed === '2')!
    const seedOf = (arm: string) => Object.assign({}, ...of(arm).training.settings).seed
    expect([seedOf('better'), seedOf('twin')]).toEqual([2, '2/twin'])
    expect([of('better').id, of('twin').id]).toEqual(['better/a/2', 'twin/a/2'])
  })

  it('have a hash of what decides what is trained: not the seed, nor threads, folders and checkpoints', () => {
    const hashes = (config: object, seed = 1) => {
      const starts = [{ name: 'a', recipe: 'checklist-cold-start', seed }]
      const of = fakeRegistration({ starts, seeds: [1, 2] })
      const all = jobsOf(of, workFolders(String(seed), of), () => ({ steps: 100, seed, ...config }))
      return new Set(all.filter(({ arm }) => arm === 'plain').map(({ configHash }) => configHash))
    }
    const plain = hashes({})
    expect(plain.size).toBe(1)
    expect(hashes({ policy: { threads: 9 }, out: '/elsewhere', checkpoint: { every: 3 } })).toEqual(plain)
    expect(hashes({ policy: { kind: 'elsewhere' } })).not.toEqual(plain)
    expect(hashes({ loss: 'other' })).not.toEqual(plain)
    // From another cold start it is another training.
    expect(hashes({}, 2)).not.toEqual(plain)
  })

  it('begin, where an arm says so, with cold starts of its own, which arms that say the same share', () => {
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const start = { batch: 7 }
    const other = fakeRegistration({
      arms: { ...arms, worse: { ...arms.worse, start }, random: { ...arms.random, start } },
    })
    const resolveAll: typeof resolve & ((training: { settings: readonly object[] }) => object) = (
      { settings }: { settings: readonly object[] } = { settings: [] },
    ) => Object.assign({ steps: 100 }, ...settings)
    const all = jobsOf(other, workFolders('work', other), resolveAll)
    expect(all.slice(0, 6).map(({ id, needs }) => [id, needs])).toEqual([
      ['start/a', null],
      ['start/a/worse', null],
      ['better/a/1', 'start/a'],
      ['plain/a/1', 'start/a'],
      ['worse/a/1', 'start/a/worse'],
      ['random/a/1', 'start/a/worse'],
    ])
    expect(all.filter(({ kind }) => kind === 'start')).toHaveLength(4)
    const [common, own] = all
    expect(own.dir).not.toBe(common.dir)
    expect(Object.assign({}, ...own.training.settings)).toMatchObject({ batch: 7, seed: 1 })
    // Paired by the name of the start; another start is another training.
    expect(all[4].start).toBe('a')
    expect(all[4].configHash).not.toBe(
      jobsOf(registration, workFolders('work', registration), resolveAll).find(
        ({ id }) => id === 'worse/a/1',
      )!.configHash,
    )
    // What an arm without such settings is called, and where it lies, is as before.
    expect(fakeRegistration().hash).toBe(registration.hash)
  })

  it('have settings where they are today, wherever they were when they were registered', () => {
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const former = { heldOutTopics: 4, task: { kind: 'packing' }, rubricDropout: { rate: 0.5 } }
    const registration = fakeRegistration({
      arms: { ...arms, worse: { recipe: 'ruscarl', settings: former } },
    })
    expect(armTraining(registration, 'worse', 1).settings).toContainEqual({
      task: { kind: 'packing', heldOutTopics: 4 },
      rubricDropout: { rate: 0.5 },
    })
  })

  it('may be fewer seeds for an arm', () => {
    const { arms } = fakeContent() as { arms: Record<string, object> }
    const fewer = fakeRegistration({ arms: { ...arms, worse: { ...arms.worse, seeds: 2 } } })
    const own = jobsOf(fewer, workFolders('work', fewer), resolve).filter(({ arm }) => arm === 'worse')
    expect(own.map(({ id }) => id)).toEqual(['worse/a/1', 'worse/b/1', 'worse/a/2', 'worse/b/2'])
  })
})
