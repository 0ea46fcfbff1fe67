import { expect, it } from 'vitest'
import type { Credited } from '../rl/rollout.ts'
import {
  keptRollouts,
  partMeans,
  rewardMetrics,
  rolloutMetrics,
  rolloutRow,
  spokenTurns,
} from './update-rows.ts'

const kept = (step: number, rewards: readonly (number | null)[]) =>
  keptRollouts(
    step,
    rewards.map((reward, i) => ({ reward, i })),
  ).map(({ i }) => i)

it('keeps the best, the worst and one that changes with the step', () => {
  expect(kept(4, [0.5, 0.9, null, 0.1])).toEqual([1, 3, 0])
  expect(kept(6, [0.5, 0.9, null, 0.1])).toEqual([1, 3, 2])
})

it('keeps each once, also where nothing is known of any', () => {
  expect(kept(1, [0.5, 0.9, null, 0.1])).toEqual([1, 3])
  expect(kept(3, [null, null])).toEqual([1])
  expect(kept(7, [1])).toEqual([0])
  expect(kept(1, [])).toEqual([])
})

const groups = [
  [
    { reward: 1, parts: { right: 1, asked: 1 } },
    { reward: 0, parts: { right: 0, asked: null } },
  ],
  [{ reward: null, parts: { asked: 0, other: null } }],
]

it('means leave out what is not known', () => {
  expect(rewardMetrics(groups)).toEqual({ reward: 0.5, rewardStd: 0.5 })
  expect(partMeans(groups)).toEqual({ right: 0.5, asked: 0.5 })
})

it('counts the tokens of all roles, and of what was sampled in vain', () => {
  const rollout = (role: string, written: number) => ({
    role,
    turns: [{ start: 0, end: written }],
    tokens: Int32Array.from({ length: written }),
    mask: Uint8Array.from({ length: written }, () => 1),
    end: 'stop' as const,
  })
  const drawn = [rollout('reasoner', 3), rollout('rubricator', 5), rollout('rubricator', 7)] as never[]
  const learnt = drawn.slice(0, 2).map(one => ({ rollout: one })) as never[]
  expect(rolloutMetrics(learnt, drawn)).toMatchObject({
    tokens: 15,
    rollouts: 3,
    roleTokens: { reasoner: 3, rubricator: 5 },
  })
})

it('has no metrics of nothing', () => {
  expect(rewardMetrics([])).toEqual({ reward: null, rewardStd: null })
  expect(partMeans([[]])).toEqual({})
})

const WORDS = ['where', 'bob', 'ask', 'hall']
const show = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')

/** "ask bob", answered with "hall"; then "hall". */
const item = (): Credited<string, null> => ({
  problem: 'bob on Monday',
  grade: null,
  reward: 1,
  parts: { right: 1, asked: null },
  advantages: Float32Array.of(0.5, 0.5, 0, 0.5),
  rollout: {
    ...{ key: '1/3/0/1', role: 'policy', group: '1/3/0', sample: 1, prompt: [0, 1], end: 'over' },
    tokens: Int32Array.of(2, 1, 3, 3),
    mask: Uint8Array.of(1, 1, 0, 1),
    logprobs: new Float32Array(4),
    turns: [
      { start: 0, end: 2 },
      { start: 3, end: 4 },
    ],
  },
})

it('says who spoke', () => {
  expect(spokenTurns(item().rollout, show)).toEqual([
    { by: 'policy', text: 'ask bob' },
    { by: 'environment', text: 'hall' },
    { by: 'policy', text: 'hall' },
  ])
})

it('tells of a rollout in words; turns only where there are several', () => {
  const several = item()
  expect(rolloutRow(3, several, show)).toEqual({
    ...{ step: 3, sample: 1, problemId: 'where bob', prompt: 'where bob', response: 'ask bob hall hall' },
    ...{ reward: 1, parts: { right: 1, asked: null }, advantage: 0.5, finishReason: 'over', tokens: 4 },
    turns: spokenTurns(several.rollout, show),
  })
  const { rollout } = item()
  const one = { ...item(), rollout: { ...rollout, turns: [{ start: 0, end: 4 }] } }
  expect(rolloutRow(3, one, show)).not.toHaveProperty('turns')
})
