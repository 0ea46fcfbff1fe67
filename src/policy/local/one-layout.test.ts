import { expect, it, vi } from 'vitest'
import { lossOf } from '../../rl/loss-presets.ts'
import { tinyEngine } from './tiny-model.fixture.ts'

// A model of 17 million weights takes many seconds to make.
vi.mock(import('./weight-sizes.ts'), async original => ({
  ...(await original()),
  hasTwoLayouts: () => false,
}))

it('responses of which none has a token are scored and learnt from, where batches have one layout', async () => {
  const engine = tinyEngine()
  const empty = { promptTokens: [1, 2, 3], tokens: [] }
  const [{ logprobs }] = await engine.score([empty])
  expect(logprobs).toHaveLength(0)
  const datum = { ...empty, mask: [], oldLogprobs: [], advantages: [] }
  expect(await engine.accumulate([datum], { loss: lossOf('trl:grpo') })).toMatchObject({ loss: 0, tokens: 0 })
})
