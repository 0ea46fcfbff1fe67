import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../util/errors.ts'
import { draft, rollout, rubric } from './evolving.fixture.ts'
import type { Level, Stage } from './rubrics.ts'
import { type StageNoise, scriptedStageJudge } from './scripted-judge.ts'

const rubrics = [rubric('a', 1), rubric('b', 4)]

const judgeWith = (noise: StageNoise, level: Level | null = 2) =>
  scriptedStageJudge<string>({ seed: 1, propose: () => [], level: () => level, noise })

/** Levels of many rollouts on the two rubrics; null where the scoring failed. */
const levelsOf = async (noise: StageNoise, level: Level | null = 2, count = 400) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { scores } = await judgeWith(noise, level).score({
        ...{ question: 'q', key: 'q', step: 1 },
        rollout: rollout(`x${i}`),
        rubrics,
      })
      return scores && [scores.a.level, scores.b.level]
    }),
  )

const share = (values: readonly unknown[], value: unknown) =>
  values.filter(own => own === value).length / values.length

describe('noise', () => {
  it('is none where there is none', async () => {
    expect(new Set((await levelsOf({ seed: 1 })).flat())).toEqual(new Set([2]))
  })

  it('turns levels round at its rate, one stays one', async () => {
    const found = (await levelsOf({ seed: 1, flipRate: 0.3 })).map(own => own![0])
    expect(share(found, 0)).toBeGreaterThan(0.22)
    expect(share(found, 0)).toBeLessThan(0.38)
    expect(share(found, 1)).toBe(0)
    expect(new Set((await levelsOf({ seed: 1, flipRate: 1 }, 1, 20)).flat())).toEqual(new Set([1]))
  })

  it('moves levels by one, in the middle either way', async () => {
    expect(new Set((await levelsOf({ seed: 1, levelRate: 1 }, 2, 20)).flat())).toEqual(new Set([1]))
    expect(new Set((await levelsOf({ seed: 1, levelRate: 1 }, 0, 20)).flat())).toEqual(new Set([1]))
    const middle = (await levelsOf({ seed: 1, levelRate: 1 }, 1)).flat()
    expect(share(middle, 0)).toBeGreaterThan(0.4)
    expect(share(middle, 2)).toBeGreaterThan(0.4)
  })

  it('may keep to some stages', async () => {
    const stages: Stage[] = [1, 2, 3]
    const found = await levelsOf({ seed: 1, flipRate: 1, stages })
    expect(new Set(found.map(own => own!.join()))).toEqual(new Set(['0,2']))
  })

  it('withholds levels and whole scorings at their rates', async () => {
    const hidden = (await levelsOf({ seed: 1, nullRate: 0.5 })).flat()
    expect(share(hidden, null)).toBeGreaterThan(0.4)
    expect(share(hidden, null)).toBeLessThan(0.6)
    const failed = await levelsOf({ seed: 1, failRate: 0.5 })
    expect(share(failed, null)).toBeGreaterThan(0.4)
    expect(share(failed, null)).toBeLessThan(0.6)
    expect(new Set((await levelsOf({ seed: 1, flipRate: 1 }, null, 5)).flat())).toEqual(new Set([null]))
  })

  it('is the same for the same names, and one rate does not move what another hits', async () => {
    const plain = await levelsOf({ seed: 1, flipRate: 0.3 })
    expect(await levelsOf({ seed: 1, flipRate: 0.3 })).toEqual(plain)
    expect(await levelsOf({ seed: 2, flipRate: 0.3 })).not.toEqual(plain)
    const withNulls = await levelsOf({ seed: 1, flipRate: 0.3, nullRate: 0.2 })
    for (const [i, own] of withNulls.entries())
      for (const k of [0, 1]) expect([plain[i]![k], null]).toContain(own![k])
  })

  it.each(['flipRate', 'levelRate', 'nullRate', 'failRate'])('refuses a %s that is no share', name => {
    for (const rate of [-0.1, 1.1, Number.NaN])
      expect(() => judgeWith({ seed: 1, [name]: rate })).toThrow(ConfigError)
  })
})

it('a proposer draws by seed, step and question', async () => {
  const judge = scriptedStageJudge<string>({
    seed: 1,
    propose: ({ rng }) => [draft(1, String(rng.uint32()))],
    level: () => 1,
  })
  const titles = async (step: number, key: string) =>
    (await judge.propose({ question: 'q', key, step, rollouts: [], existing: [] })).drafts!.map(
      own => (own as { title: string }).title,
    )
  expect(await titles(1, 'a')).toEqual(await titles(1, 'a'))
  expect(await titles(1, 'a')).not.toEqual(await titles(2, 'a'))
  expect(await titles(1, 'a')).not.toEqual(await titles(1, 'b'))
})
