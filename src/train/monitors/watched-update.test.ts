import { expect, it } from 'vitest'
import type { Rollout } from '../../rl/rollout.ts'
import type { LearntRollout } from '../recipe.ts'
import { watchUpdate } from './watched-update.ts'

/** The policy writes `own`, then a tool says `told`. */
const learnt = (own: number[], found: number[], advantage: number): LearntRollout => {
  const tokens = Int32Array.from([...own, ...found])
  const mask = Uint8Array.from([...own.map(() => 1), ...found.map(() => 0)])
  const rollout: Rollout = {
    ...{ key: `${own}`, role: 'policy', group: 'g', sample: 0, prompt: [1], tokens, mask },
    ...{ logprobs: new Float32Array(tokens.length), turns: [{ start: 0, end: own.length }], end: 'over' },
  }
  const row = () => ({ step: 1, problemId: '', prompt: '', response: '', reward: advantage })
  return { rollout, reward: advantage, advantages: Float32Array.from(mask, m => m * advantage), row }
}

it("a tool's words are neither the policy's repetition nor its length", async () => {
  const echo = Array.from({ length: 60 }, () => 7)
  const short = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
  const long = Array.from({ length: 30 }, (_, i) => 30 + i)
  const alone = watchUpdate({ rollouts: [learnt(short, [], -1), learnt(long, [], 1)] })
  const found = watchUpdate({ rollouts: [learnt(short, echo, -1), learnt(long, [], 1)] })
  expect((await alone.metrics).repetition).toBe(0)
  expect(await found.metrics).toEqual(await alone.metrics)
  expect(found.rollouts().map(({ tokens }) => tokens.length)).toEqual([10, 30])
  expect(found.rollouts().map(({ logprobs }) => logprobs.length)).toEqual([10, 30])
})
