import { describe, expect, it } from 'vitest'
import type { Policy, Sample, SampleRequest } from '../policy.ts'
import { Batcher, QueueFullError } from './batcher.ts'

describe('batches', () => {
  /** Answers each prompt with its own first token, and notes what was sampled together. */
  const scripted = () => {
    const calls: SampleRequest[] = []
    const policy = {
      sample: async (request: SampleRequest, onSample?: (sample: Sample) => void) => {
        calls.push(request)
        await new Promise(resolve => setTimeout(resolve, 5))
        if (request.prompts.some(prompt => prompt[0] === 13)) throw new Error('unlucky')
        request.prompts.forEach((prompt, p) => {
          for (let index = 0; index < request.samplesPerPrompt!; index++)
            onSample?.({
              prompt: p,
              index,
              tokens: Int32Array.of(prompt[0]),
              logprobs: Float32Array.of(0),
              finishReason: 'stop',
            })
        })
        return []
      },
    } as unknown as Policy
    return { policy, calls }
  }
  const job = (token: number, temperature = 1, count = 1) => ({
    promptTokens: [token],
    options: { maxTokens: 4, temperature },
    count,
    seed: token,
  })
  const first = (samples: Sample[]) => samples.map(({ tokens }) => tokens[0])

  it('join those with the same settings, up to the room there is, and give each its own', async () => {
    const { policy, calls } = scripted()
    const batcher = new Batcher(policy, { maxRows: 4 })
    const jobs = [job(1), job(2), job(3, 0.5), job(4), job(5), job(6), job(7, 1, 2)]
    const results = await Promise.all(jobs.map(one => batcher.submit(one)))
    expect(results.map(first)).toEqual([[1], [2], [3], [4], [5], [6], [7, 7]])
    expect(calls.map(({ prompts }) => prompts.map(prompt => prompt[0]))).toEqual([
      [1, 2, 4, 5],
      [3],
      [6],
      [7],
    ])
  })

  it('refuse more than may wait, fail alone, and drain', async () => {
    const { policy } = scripted()
    const batcher = new Batcher(policy, { maxWaiting: 2 })
    const accepted = Promise.allSettled([batcher.submit(job(13)), batcher.submit(job(2, 0.5))])
    await expect(batcher.submit(job(3))).rejects.toThrow(QueueFullError)
    await batcher.drain()
    expect(await accepted).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }])
    expect(batcher.waiting).toBe(0)
  })
})
