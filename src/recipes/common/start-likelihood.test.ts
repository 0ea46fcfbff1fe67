import { describe, expect, it } from 'vitest'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import { TINY } from '../../policy/local/tiny-model.fixture.ts'
import { updateOnce } from '../../policy/update.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { mean } from '../../util/statistics.ts'
import { StartLikelihood } from './rubric-task.ts'

const ITEMS = [
  { promptTokens: [1, 2], tokens: Int32Array.from([3, 4, 5]) },
  { promptTokens: [1, 2], tokens: Int32Array.of() },
  { promptTokens: [6], tokens: Int32Array.from([7]) },
]

describe('likelihood under the starting model', () => {
  it('is the mean log-prob of its tokens by the weights of the start, whatever is learnt since', async () => {
    const policy = await LocalPolicy.start({ init: { config: TINY, seed: 1 } }, { threads: 1 })
    const start = new StartLikelihood()
    try {
      expect(await start.of(ITEMS)).toEqual([null, null, null])
      const [first, last] = await policy.score([ITEMS[0], ITEMS[2]])
      await start.startAt(policy)
      const datum = {
        ...ITEMS[0],
        mask: Float32Array.of(1, 1, 1),
        oldLogprobs: first.logprobs,
        advantages: Float32Array.of(1, 1, 1),
      }
      await updateOnce(policy, [datum], { loss: LOSS_PRESETS['trl:dapo'], optimizer: { learningRate: 0.1 } })
      const [moved] = await policy.score([ITEMS[0]])
      expect(mean(moved.logprobs)).not.toBeCloseTo(mean(first.logprobs), 2)
      const [one, empty, other] = await start.of(ITEMS)
      expect(one).toBeCloseTo(mean(first.logprobs), 5)
      expect(empty).toBeNull()
      expect(other).toBeCloseTo(last.logprobs[0], 5)
    } finally {
      await policy.close()
    }
  })
})
