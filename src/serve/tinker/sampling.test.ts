import { afterEach, describe, expect, it } from 'vitest'
import { SamplingClient, type TrainingClient } from '../../tinker/index.ts'
import { ADAM, endAll, startService, supervised } from './service.fixture.ts'

afterEach(endAll)

const PARAMS = { maxTokens: 8, temperature: 1, topP: 1, topK: -1, seed: 7 }

const samplerOf = async (client: TrainingClient): Promise<SamplingClient> => {
  const made = await client.snapshot()
  return new SamplingClient(client.session, 'sessionId' in made ? made.sessionId : '')
}

const learn = async (client: TrainingClient, sequence: number[]): Promise<void> => {
  const computed = client.forwardBackward([supervised(sequence)], 'cross_entropy')
  await client.optimStep({ ...ADAM, learningRate: 0.05 }).result
  await computed.result
}

describe('samples', () => {
  it('have the log-probs that the model in training gives them, and are the same for the same seed', async () => {
    const { client } = await startService()
    const model = await client()
    await learn(model, [1, 2, 3, 4, 5])
    const sampler = await samplerOf(model)
    const { sequences } = await sampler.sample([1, 2], 4, PARAMS)
    expect(sequences).toHaveLength(4)
    expect(new Set(sequences.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1)
    const data = sequences.map(({ tokens }) => supervised([1, 2, ...tokens]))
    const { outputs } = await model.forward(data, 'cross_entropy').result
    sequences.forEach(({ tokens, logprobs, stopReason }, i) => {
      expect(stopReason).toBe(tokens.at(-1) === 16 ? 'stop' : 'length')
      outputs[i].logprobs.data.slice(1).forEach((logprob, t) => {
        expect(logprobs![t]).toBeCloseTo(logprob, 4)
      })
    })
    expect((await sampler.sample([1, 2], 4, PARAMS)).sequences).toEqual(sequences)
    expect((await sampler.sample([1, 2], 4, { ...PARAMS, seed: 8 })).sequences).not.toEqual(sequences)
  })

  it('come from weights that stay what they were', async () => {
    const { client } = await startService({ limits: { snapshotBytes: 1 } })
    const model = await client()
    const [first, params] = [await samplerOf(model), { ...PARAMS, seed: 3 }]
    const before = await first.sample([1], 3, params)
    await learn(model, [1, 2, 3, 4, 5])
    // With room for none the first snapshot is in a file now.
    const second = await samplerOf(model)
    const after = await second.sample([1], 3, params)
    expect(after.sequences).not.toEqual(before.sequences)
    expect((await first.sample([1], 3, params)).sequences).toEqual(before.sequences)
    await learn(model, [1, 2, 3, 4, 5])
    expect((await second.sample([1], 3, params)).sequences).toEqual(after.sequences)
  })

  it('of the base model do not know of what is trained', async () => {
    const { client } = await startService()
    const model = await client({ rank: 0 })
    const untrained = await (await samplerOf(model)).sample([1, 4], 2, PARAMS)
    await learn(model, [1, 4, 3, 4, 5])
    const base = await SamplingClient.open(model.session, { baseModel: 'tiny' })
    const { sequences } = await base.sample([1, 4], 2, PARAMS)
    expect(sequences.map(({ tokens }) => tokens)).toEqual(untrained.sequences.map(({ tokens }) => tokens))
    await expect(SamplingClient.open(model.session, { baseModel: 'large' })).rejects.toThrow(
      /expected one of tiny, got large/,
    )
  })

  it('end with stop tokens, and have log-probs of their prompt where they are asked for', async () => {
    const { client } = await startService()
    const model = await client()
    const sampler = await samplerOf(model)
    const [{ tokens }] = (await sampler.sample([1, 2], 1, { ...PARAMS, temperature: 0 })).sequences
    const stop = [tokens[2]]
    const stopped = await sampler.sample([1, 2], 1, { ...PARAMS, temperature: 0, stop })
    const end = tokens.indexOf(tokens[2])
    expect(stopped.sequences[0]).toMatchObject({ stopReason: 'stop', tokens: tokens.slice(0, end + 1) })
    const { promptLogprobs } = await sampler.sample([1, 2, 9], 1, PARAMS, { promptLogprobs: true })
    const { outputs } = await model.forward([supervised([1, 2, 9])], 'cross_entropy').result
    expect(promptLogprobs).toHaveLength(3)
    expect(promptLogprobs![0]).toBeNaN()
    outputs[0].logprobs.data.forEach((logprob, t) => {
      expect(promptLogprobs![t + 1]).toBeCloseTo(logprob, 5)
    })
    await expect(sampler.sample([1, 2], 1, { ...PARAMS, maxTokens: 63 })).rejects.toThrow(
      /exceed the context/,
    )
    await expect(sampler.sample([1, 2], 1, { ...PARAMS, temperature: 1e-9 })).rejects.toThrow(
      /takes the likeliest token/,
    )
    await expect(sampler.sample([1, 2], 1, { ...PARAMS, stop: [''] })).rejects.toThrow(/stop/)
    await expect(sampler.sample([1, 99], 1, PARAMS)).rejects.toThrow(/token 99 is outside the vocabulary/)
  })
})
