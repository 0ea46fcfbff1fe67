import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Datum } from '../../rl/datum.ts'
import { lossSchema } from '../../rl/loss.ts'
import type { SampleRequest } from '../policy.ts'
import { updateOnce } from '../update.ts'
import { openTinker } from './settings.ts'
import type { SplitPolicy } from './split-policy.ts'
import { loadAdapter, SplitWorld } from './split-world.fixture.ts'

/** Each policy that is opened probes its server first. */
const SLOW_MS = 240_000
const UPDATE = {
  loss: lossSchema.parse({ policy: { kind: 'clip' }, aggregation: { mode: 'sequence-mean' } }),
  optimizer: { learningRate: 0.02 },
}
const REQUEST: SampleRequest = { prompts: [[1, 2], [3]], samplesPerPrompt: 2, maxTokens: 5, stopTokens: [16] }

let world = new SplitWorld()
beforeEach(() => {
  world = new SplitWorld()
})
afterEach(() => world.close())

const start = async (...given: Parameters<SplitWorld['servers']>) => {
  const all = await world.servers(...given)
  return { ...all, policy: await world.open(all.settings) }
}

const datumsOf = (request: SampleRequest, samples: Awaited<ReturnType<SplitPolicy['sample']>>): Datum[] =>
  samples.map(({ prompt, tokens, logprobs }, i) => ({
    promptTokens: Array.from(request.prompts[prompt]),
    ...{ tokens, mask: new Float32Array(tokens.length).fill(1), oldLogprobs: logprobs },
    advantages: new Float32Array(tokens.length).fill(i % 2 === 0 ? 1 : -1),
  }))

/** Largest distance of the samples' log-probs from what the trainer makes of them. */
const gapOf = async (policy: SplitPolicy, samples: Awaited<ReturnType<SplitPolicy['sample']>>) => {
  const scores = await policy.score(datumsOf(REQUEST, samples))
  return Math.max(
    ...samples.flatMap(({ logprobs }, i) =>
      Array.from(logprobs, (logprob, t) => Math.abs(logprob - scores[i].logprobs[t])),
    ),
  )
}

describe('a policy that learns on a training service and samples on an inference server', {
  timeout: SLOW_MS,
}, () => {
  it('brings every version over, says of each sample which one drew it, and drops the one before', async () => {
    const { policy, sampler, folder } = await start()
    expect(sampler.log).toEqual([expect.stringMatching(/^load gradus-[0-9a-f]{8}-1-step-0$/)])
    const first = await policy.sample(REQUEST)
    expect(first.map(({ version }) => version)).toEqual([0, 0, 0, 0])
    expect(await gapOf(policy, first)).toBeLessThan(1e-4)
    await updateOnce(policy, datumsOf(REQUEST, first), UPDATE)
    expect(policy.version).toBe(1)
    // Until it is told to, it samples from the weights that it has.
    const stale = await policy.sample(REQUEST)
    expect(stale.map(({ tokens }) => [...tokens])).toEqual(first.map(({ tokens }) => [...tokens]))
    expect(stale[0].version).toBe(0)
    expect(await gapOf(policy, stale)).toBeGreaterThan(1e-3)
    await policy.syncWeights()
    await policy.syncWeights()
    const seen: (number | undefined)[] = []
    const second = await policy.sample(REQUEST, ({ version }) => seen.push(version))
    expect(seen).toEqual([1, 1, 1, 1])
    expect(await gapOf(policy, second)).toBeLessThan(1e-4)
    await vi.waitFor(() =>
      expect(sampler.log.map(line => line.replace(/gradus-\w+-/, ''))).toEqual([
        ...['load 1-step-0', 'load 2-step-1', 'unload 1-step-0'],
      ]),
    )
    await vi.waitFor(() => expect(readdirSync(folder)).toEqual([expect.stringMatching(/-2-step-1$/)]))
    const [sampling] = await policy.score([{ promptTokens: [1, 2], tokens: second[0].tokens }], {
      weights: 'sampling',
    })
    expect(Math.max(...sampling.logprobs.map((x, t) => Math.abs(x - second[0].logprobs[t])))).toBeLessThan(
      1e-4,
    )
  })

  it('finishes what is being sampled with the version that it was begun with', async () => {
    const { policy, sampler } = await start()
    const first = await policy.sample(REQUEST)
    let release = () => {}
    sampler.gate = new Promise<void>(resolve => {
      release = resolve
    })
    const late = policy.sample(REQUEST)
    await updateOnce(policy, datumsOf(REQUEST, first), UPDATE)
    await policy.syncWeights()
    expect(sampler.adapters.size).toBe(2)
    release()
    expect((await late).map(({ version, tokens }) => [version, ...tokens])).toEqual(
      first.map(({ tokens }) => [0, ...tokens]),
    )
    await policy.close()
    expect(sampler.adapters.size).toBe(0)
  })

  it('goes on from a checkpoint with the weights of then', async () => {
    const { policy } = await start()
    const first = await policy.sample(REQUEST)
    const folder = join(mkdtempSync(join(tmpdir(), 'split-run-')), 'step-1')
    await updateOnce(policy, datumsOf(REQUEST, first), UPDATE)
    await policy.save(folder, { last: true })
    // The last checkpoint has the adapter itself, which is what the trainer has.
    expect(readdirSync(folder).sort()).toEqual(['adapter', 'tinker.json'])
    const brought = await loadAdapter(join(folder, 'adapter'))
    const items = datumsOf(REQUEST, first)
    const [own, theirs] = [await brought.score(items), await policy.score(items)]
    expect(own[0].logprobs.map((x, t) => Math.abs(x - theirs[0].logprobs[t]))[0]).toBeLessThan(1e-5)
    await updateOnce(policy, items, UPDATE)
    await policy.load(folder)
    expect(policy.version).toBe(1)
    const again = await policy.sample(REQUEST)
    expect(again[0].version).toBe(1)
    expect(await gapOf(policy, again)).toBeLessThan(1e-4)
  })

  it('refuses at the start what would fail after a step', async () => {
    const withoutArchives = await world.servers({ archives: false })
    await expect(openTinker(withoutArchives.settings, { seed: 3 })).rejects.toThrow(
      /archive of the adapter.*set policy.sampler to null/,
    )
    expect(withoutArchives.trainer.calls.at(-1)).toBe('retrieve_future')
    const fixed = await world.servers({}, { fixed: true })
    await expect(openTinker(fixed.settings, { seed: 3 })).rejects.toThrow(
      /expected it to load the adapter.*VLLM_ALLOW_RUNTIME_LORA_UPDATING/,
    )
    expect(readdirSync(fixed.folder)).toEqual([])
    const blind = await world.servers()
    const settings = { ...blind.settings, sampler: { ...blind.settings.sampler!, seenAs: '/elsewhere' } }
    await expect(openTinker(settings, { seed: 3 })).rejects.toThrow(/see the folder under this name/)
  })
})
