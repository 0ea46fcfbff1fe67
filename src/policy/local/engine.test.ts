import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { createEngine } from './engine.ts'
import { tinyEngine } from './tiny-model.fixture.ts'

const folder = sharedData('models/stories260K/config.json')?.replace('/config.json', '')

describe.skipIf(!folder)('stories260K (skipped where ../shared/data is missing)', () => {
  const expected = JSON.parse(folder ? readFileSync(`${folder}/expected.json`, 'utf8') : '{}')
  const ids: number[] = expected.ids ?? []

  it('generates the reference tokens greedily, with the reference log-probs', async () => {
    const engine = createEngine({ folder: folder! })
    const [sample] = await engine.sample({ prompts: [[ids[0]]], maxTokens: ids.length - 1, temperature: 0 })
    expect([...sample.tokens]).toEqual(ids.slice(1))
    const difference = Math.max(
      ...[...sample.logprobs].map((logprob, i) => Math.abs(logprob - expected.greedy_logprobs[i])),
    )
    expect(difference).toBeLessThan(1e-4)
  })

  it('scores the reference tokens like the sampler', async () => {
    const engine = createEngine({ folder: folder! })
    const [scores] = await engine.score([{ promptTokens: ids.slice(0, 5), tokens: ids.slice(5) }])
    const difference = Math.max(
      ...[...scores.logprobs].map((logprob, i) => Math.abs(logprob - expected.greedy_logprobs[i + 4])),
    )
    expect(difference).toBeLessThan(1e-4)
  })
})

it('computes the same whether its threads spin or sleep while they wait', async () => {
  const request = { prompts: [[1, 2, 3]], samplesPerPrompt: 4, maxTokens: 8, seed: 'spin' }
  const tokens = async (spinning: boolean) =>
    (await tinyEngine({}, { threads: 2, spinning }).sample(request)).map(sample => [...sample.tokens])
  expect(await tokens(false)).toEqual(await tokens(true))
})
