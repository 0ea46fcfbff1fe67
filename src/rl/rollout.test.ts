import { describe, expect, it } from 'vitest'
import { rlooAdvantages } from './advantages.ts'
import {
  advantagesOf,
  creditRollouts,
  datumsOf,
  type Graded,
  meanAdvantage,
  type Rollout,
  writtenTokens,
} from './rollout.ts'

const rolloutOf = (group: number, sample: number, changes: Partial<Rollout> = {}): Rollout => ({
  key: `7/1/${group}/${sample}`,
  role: 'policy',
  group: `7/1/${group}`,
  sample,
  prompt: [group],
  tokens: Int32Array.of(10 + group, 20 + sample),
  mask: Uint8Array.of(1, 1),
  logprobs: Float32Array.of(-0.5, -0.5),
  turns: [{ start: 0, end: 2 }],
  end: 'stop',
  ...changes,
})

const graded = (rollout: Rollout): Graded<string, null> => ({
  problem: '',
  rollout,
  grade: null,
  reward: 0,
  parts: {},
})

const GROUPS = [0, 1].map(p => [0, 1].map(g => graded(rolloutOf(p, g))))

describe('advantagesOf', () => {
  const paid = (reward: number | null) => ({ reward, parts: {} })
  const groups = [
    [paid(3), paid(null), paid(1)],
    [paid(2), paid(2), paid(2)],
  ]

  it('compares what is known within its group; the rest has advantage 0', () => {
    const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups)
    expect(advantages_P_G.map(group => group.map(a => Math.round(a * 1e4) / 1e4))).toEqual([
      [1, 0, -1],
      [0, 0, 0],
    ])
    expect(zeroVarianceGroups).toBe(1)
  })

  it('goes by another rule where it is given one', () => {
    const { advantages_P_G } = advantagesOf([[paid(4), paid(null), paid(1)]], rlooAdvantages)
    expect(advantages_P_G).toEqual([[3, 0, -3]])
  })
})

describe('datumsOf', () => {
  it('makes one datum a rollout, with its own tokens, log-probs and advantages', () => {
    const datums = datumsOf(
      creditRollouts(GROUPS, [
        [-5, -4],
        [5, 6],
      ]),
    )
    expect(datums.map(({ group }) => group)).toEqual(['7/1/0', '7/1/0', '7/1/1', '7/1/1'])
    expect(datums.map(({ datum }) => [...datum.tokens])).toEqual([
      [10, 20],
      [10, 21],
      [11, 20],
      [11, 21],
    ])
    expect(datums.map(({ datum }) => datum.advantages[0])).toEqual([-5, -4, 5, 6])
    expect(datums[3].datum).toMatchObject({
      promptTokens: [1],
      mask: Float32Array.of(1, 1),
      oldLogprobs: Float32Array.of(-0.5, -0.5),
    })
  })

  it('leaves out rollouts without any advantage, if asked', () => {
    const credited = creditRollouts(GROUPS, [
      [0, 0],
      [1, 1],
    ])
    credited[0][1].advantages[1] = -1
    expect(datumsOf(credited, { dropZero: true }).map(({ group }) => group)).toEqual([
      '7/1/0',
      '7/1/1',
      '7/1/1',
    ])
    expect(datumsOf(credited)).toHaveLength(4)
  })

  it('trains scaffolded rollouts on the prompt that the ratio says, from the log-probs that belong to it', () => {
    const own = [Float32Array.of(-7, -7), Float32Array.of(-8, -8)]
    const shown = [[9, 9], [0]]
    const group = [0, 1].map(g => graded(rolloutOf(0, g, { sampledFrom: shown[g], oldLogprobs: own[g] })))
    const credited = creditRollouts([group], [[1, 1]])
    const promptsFor = (ratio: 'plain' | 'true-is' | 'sampled') =>
      datumsOf(credited, { ratio }).map(({ datum }) => datum.promptTokens)
    expect(promptsFor('plain')).toEqual([[0], [0]])
    expect(promptsFor('true-is')).toEqual([[0], [0]])
    expect(promptsFor('sampled')).toEqual([[9, 9], [0]])
    expect([...datumsOf(credited)[0].datum.oldLogprobs]).toEqual([-7, -7])
  })

  it('teaches nothing where the environment wrote', () => {
    const rollout = rolloutOf(0, 0, {
      tokens: Int32Array.of(1, 2, 3, 4),
      mask: Uint8Array.of(1, 0, 0, 1),
      logprobs: Float32Array.of(-1, 0, 0, -1),
    })
    const [[item]] = creditRollouts([[graded(rollout)]], [[3]])
    expect([...item.advantages]).toEqual([3, 0, 0, 3])
    expect(meanAdvantage(item)).toBe(3)
    expect(writtenTokens(rollout)).toBe(2)
    expect([...datumsOf([[item]])[0].datum.mask]).toEqual([1, 0, 0, 1])
  })

  it('refuses advantages of another length', () => {
    const [[item]] = creditRollouts(GROUPS, [
      [1, 1],
      [1, 1],
    ])
    expect(() => datumsOf([[{ ...item, advantages: Float32Array.of(1) }]])).toThrow(
      '7/1/0/0: expected 2 advantages, one a token, got 1',
    )
  })
})
