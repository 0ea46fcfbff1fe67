import { describe, expect, it } from 'vitest'
import { decidingHash, decidingSettings } from './deciding.ts'

const REST = { recipe: 'x', steps: 3, rollout: { samples: 2 } }

describe('what must stay the same between stop and resume', () => {
  it('is not how the policy computes, but of what kind it is and with how many bits it draws', () => {
    const here = { ...REST, policy: { kind: 'local', threads: 1 } }
    expect(decidingHash({ ...REST, policy: { kind: 'local', threads: 9, sampler: { threads: 1 } } })).toBe(
      decidingHash(here),
    )
    expect(decidingHash({ ...REST, policy: { kind: 'elsewhere', threads: 1 } })).not.toBe(decidingHash(here))
    const drawnWith = (sampleBits: number) => decidingHash({ ...REST, policy: { kind: 'local', sampleBits } })
    expect(drawnWith(32)).toBe(decidingHash(here))
    expect(drawnWith(8)).not.toBe(decidingHash(here))
    expect(decidingHash({ ...here, steps: 4 })).not.toBe(decidingHash(here))
    expect(decidingSettings({ ...here, out: 'o', checkpoint: {}, monitors: null })).toEqual(REST)
  })

  it('is what it was before a setting came that says what was done before', () => {
    const before = { ...REST, credit: { mode: 'stages' } }
    expect(decidingHash({ ...REST, credit: { mode: 'stages', missing: 'none' } })).toBe(decidingHash(before))
    expect(decidingHash({ ...REST, credit: { mode: 'stages', missing: 'next' } })).not.toBe(
      decidingHash(before),
    )
    const scaffolded = { ...REST, scaffold: { showPoints: true } }
    expect(decidingHash({ ...REST, scaffold: { showPoints: true, place: 'system' } })).toBe(
      decidingHash(scaffolded),
    )
    expect(decidingSettings({ ...REST, credit: 'plain' })).toEqual({ ...REST, credit: 'plain' })
    const curriculum = (own: object) => decidingHash({ ...REST, curriculum: own })
    expect(curriculum({ keyframes: [] })).toBe(curriculum({ knots: [] }))
  })

  it('is of judges and environments who they are, wherever the settings name them, not where they run', () => {
    const judge = (url: string, model = 'm') => ({
      ...{
        fleet: { endpoints: [{ url, model, extraBody: {}, concurrency: url.length }] },
        ask: { repairs: 1 },
      },
      ...{ cache: url, heldOut: { fleet: { endpoints: [] }, rollouts: { share: url.length } } },
    })
    const settings = (url: string, model?: string) => ({
      ...REST,
      verifier: { kind: 'judge', judge: judge(url, model) },
      task: { kind: 'openenv', url, headers: { a: url }, rubric: null },
    })
    expect(decidingHash(settings('http://a'))).toBe(decidingHash(settings('http://another')))
    expect(decidingHash(settings('http://a'))).not.toBe(decidingHash(settings('http://a', 'other')))
    expect(decidingSettings(settings('http://a')).task).toEqual({ kind: 'openenv', rubric: null })
  })
})
