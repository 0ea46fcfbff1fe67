import { describe, expect, it } from 'vitest'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { blockAlone, blocksOf, looksOf, plannedFor, seedsOf, tipOf, upToBlock } from './blocks.ts'
import { jobsOf, workFolders } from './jobs.ts'

const SECOND = { seeds: [6, 7], registered: '2026-12-01', reason: 'one of ten runs collapsed' }
const THIRD = { seeds: [8], registered: '2026-12-09' }
const first = fakeRegistration()
const enlarged = fakeRegistration({ blocks: [SECOND] })
const { arms } = fakeContent() as { arms: Record<string, object> }

describe('a later block of seeds', () => {
  it('leaves the hash of what was registered before, and has one of its own', () => {
    expect(enlarged.hash).toBe(first.hash)
    expect(fakeRegistration({ blocks: [] }).hash).toBe(first.hash)
    const thrice = fakeRegistration({ blocks: [SECOND, THIRD] })
    expect(thrice.blockHashes[0]).toBe(enlarged.blockHashes[0])
    expect(new Set([first, enlarged, thrice].map(tipOf)).size).toBe(3)
    // It stands on what was there: after another block it is another one.
    const other = fakeRegistration({ blocks: [{ ...SECOND, seeds: [6, 9] }, THIRD] })
    expect(other.blockHashes[1]).not.toBe(thrice.blockHashes[1])
    expect(blocksOf(thrice).map(({ nth, seeds }) => [nth, seeds])).toEqual([
      [1, [1, 2, 3, 4, 5]],
      [2, [6, 7]],
      [3, [8]],
    ])
  })

  it('adds its jobs behind those that were there, in the same folder', () => {
    const jobs = (of: typeof first) => jobsOf(of, workFolders('work', of), () => ({ steps: 100 }))
    const [before, after] = [jobs(first), jobs(enlarged)]
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after).toHaveLength(before.length + 4 * 2 * 2)
    expect(after.at(-1)!.id).toBe('random/b/7')
  })

  it('runs an arm that is bound to its first seeds only where it names it', () => {
    const few = { ...arms, random: { ...arms.random, seeds: 3 } }
    const seeds = (blocks: object[], arm: string) =>
      seedsOf(fakeRegistration({ arms: few, blocks }), arm).map(({ seed }) => seed)
    expect(seeds([SECOND], 'random')).toEqual([1, 2, 3])
    expect(seeds([{ ...SECOND, arms: ['random', 'better'] }], 'random')).toEqual([1, 2, 3, 6, 7])
    expect(seeds([{ ...SECOND, arms: ['random', 'better'] }], 'plain')).toEqual([1, 2, 3, 4, 5])
    const of = fakeRegistration({ arms: few, blocks: [SECOND] })
    expect([plannedFor(of, ['better', 'random']), plannedFor(of, ['better', 'start'])]).toEqual([6, 14])
    expect(plannedFor(of, ['better', null])).toBe(14)
  })

  it('is refused for seeds that are there already, and for arms that are not', () => {
    expect(() => fakeRegistration({ blocks: [{ ...SECOND, seeds: [5, 6] }] })).toThrow('got "5" twice')
    expect(() => fakeRegistration({ blocks: [{ ...SECOND, arms: ['bettr'] }] })).toThrow(
      'did you mean better?',
    )
    expect(() => fakeRegistration({ blocks: [{ seeds: [6] }] })).toThrow('blocks[0].registered')
  })

  it('can be seen alone, and what was there before it too', () => {
    const alone = blockAlone(enlarged, 2)
    expect([plannedFor(alone, ['better', 'plain']), looksOf(alone)]).toEqual([4, 2])
    expect(plannedFor(upToBlock(enlarged, 1), ['better', 'plain'])).toBe(10)
    expect(blockAlone(enlarged, 1).seeds).toEqual([1, 2, 3, 4, 5])
  })

  it('is a look of its own; more may be planned', () => {
    expect([first, enlarged, fakeRegistration({ looks: 3, blocks: [SECOND] })].map(looksOf)).toEqual([
      1, 2, 3,
    ])
    expect(fakeRegistration({ looks: 2 }).hash).not.toBe(first.hash)
  })
})
