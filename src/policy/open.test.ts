import { describe, expect, it } from 'vitest'
import { assertWebGpu } from '../tensor/index.ts'
import { CheckpointError } from '../util/errors.ts'
import { LocalPolicy } from './local/local-policy.ts'
import { PairedPolicy } from './local/paired-policy.ts'
import { TINY } from './local/tiny-model.fixture.ts'
import { openPolicy, pipelinedPolicySchema, policySchema } from './open.ts'

const SOURCE = { init: { config: TINY, seed: 1 } }

describe('a policy opened from its section of a configuration', () => {
  it('is of this process unless the section says otherwise, and samples', async () => {
    for (const section of [{ threads: 1 }, { kind: 'local', threads: 1 }]) {
      const policy = await openPolicy(policySchema.parse(section), SOURCE)
      expect(policy).toBeInstanceOf(LocalPolicy)
      const [{ tokens }] = await policy.sample({ prompts: [[1]], maxTokens: 3, stopTokens: [] })
      expect(tokens).toHaveLength(3)
      await policy.close()
    }
  })

  it('has two engines where one of them only samples', async () => {
    const section = pipelinedPolicySchema.parse({ threads: 1, sampler: {} })
    expect(section).toMatchObject({ kind: 'local', threads: 1, sampler: { threads: 1 } })
    const policy = await openPolicy(section, SOURCE)
    expect(policy).toBeInstanceOf(PairedPolicy)
    await policy.syncWeights!()
    await policy.close()
  })

  it('computes on the processor unless a GPU is named', () => {
    expect(policySchema.parse({})).toMatchObject({ provider: 'cpu' })
    expect(policySchema.parse({ provider: 'webgpu' })).toMatchObject({ provider: 'webgpu' })
    expect(() => policySchema.parse({ provider: 'cuda' })).toThrow(/cpu.*webgpu/s)
    // A server's model computes where the server is.
    const elsewhere = { kind: 'tinker', url: 'http://127.0.0.1:1', model: 'm' }
    expect(() => policySchema.parse({ ...elsewhere, provider: 'webgpu' })).toThrow(/provider/)
    expect(() => pipelinedPolicySchema.parse({ sampler: { provider: 'webgpu' } })).toThrow(/provider/)
  })

  it('on a GPU starts or says at once what is missing, before the model is loaded', async () => {
    const starting = assertWebGpu().then(
      () => null,
      (error: Error) => error.message,
    )
    const opening = openPolicy(policySchema.parse({ provider: 'webgpu' }), { folder: '/nowhere' })
    await expect(opening).rejects.toThrow((await starting) ?? /no such checkpoint folder/)
  }, 60_000)

  it('rounds weights for sampling where it is told to, on the processor alone', async () => {
    const drawn = async (section: object) => {
      const policy = await openPolicy(pipelinedPolicySchema.parse({ threads: 1, ...section }), SOURCE)
      const [{ tokens, logprobs }] = await policy.sample({ prompts: [[1]], maxTokens: 8, stopTokens: [] })
      const [scored] = await policy.score([{ promptTokens: [1], tokens }])
      await policy.close()
      return Math.max(...logprobs.map((x, t) => Math.abs(x - scored.logprobs[t])))
    }
    expect(await drawn({})).toBeLessThan(1e-5)
    for (const section of [{}, { engines: 2 }, { sampler: {} }])
      expect(await drawn({ ...section, sampleBits: 8 })).toBeGreaterThan(1e-4)
    const onGpu = { sampleBits: 8, provider: 'webgpu', sampler: {} }
    expect(pipelinedPolicySchema.parse(onGpu)).toMatchObject(onGpu)
    for (const schema of [policySchema, pipelinedPolicySchema]) {
      expect(() => schema.parse({ sampleBits: 8, provider: 'webgpu' })).toThrow(/32 with provider webgpu/)
      expect(() => schema.parse({ sampleBits: 4 })).toThrow(/sampleBits/)
    }
  })

  it('refuses kinds that there are none of, and settings of another kind', () => {
    expect(() => policySchema.parse({ kind: 'elsewhere' })).toThrow()
    expect(() => policySchema.parse({ kind: 'local', url: 'http://127.0.0.1:1' })).toThrow()
    // Sampling and learning take turns here: a second engine would only take memory.
    expect(() => policySchema.parse({ sampler: {} })).toThrow()
  })

  it('fails with the reason when the model cannot be loaded', async () => {
    const opening = openPolicy(policySchema.parse({}), { folder: '/nowhere' })
    await expect(opening).rejects.toThrow(CheckpointError)
  })
})
