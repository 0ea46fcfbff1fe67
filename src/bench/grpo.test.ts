import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../model/tiny-chat.fixture.ts'
import { benchGrpo, formatGrpoBenchmark } from './grpo.ts'
import { grpoPrompts, grpoWork } from './grpo-work.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-bench-grpo-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('gradus bench grpo', () => {
  it('measures the parts of a step', { timeout: 240_000 }, async () => {
    const size = { prompts: 2, samples: 3, maxTokens: 12, threads: 1 }
    const result = await benchGrpo({ ...size, steps: 1, rounds: 1 })
    expect(result).toMatchObject({ ...size, model: 'models/logic-start' })
    expect(result.responseTokens).toBeGreaterThan(6)
    expect(result.responseTokens).toBeLessThanOrEqual(72)
    const { stepSeconds, sampleSeconds, gradeSeconds, updateSeconds, restSeconds } = result
    expect(sampleSeconds).toBeGreaterThan(0)
    expect(updateSeconds).toBeGreaterThan(0)
    expect(sampleSeconds + gradeSeconds + updateSeconds + restSeconds).toBeCloseTo(stepSeconds, 6)
    expect(formatGrpoBenchmark(result)).toContain('2 prompts x 3, up to 12 tokens; 1 threads')
  })

  it('trains an adapter of a chat model on instructions', { timeout: 240_000 }, async () => {
    const model = writeTinyChat(join(folder, 'chat'))
    const size = { prompts: 2, samples: 3, maxTokens: 6, threads: 1, steps: 1, rounds: 1 }
    const result = await benchGrpo({ ...size, model, loraRank: 2 })
    expect(result).toMatchObject({ model, prompts: 2, samples: 3, maxTokens: 6 })
    expect(result.updateSeconds).toBeGreaterThan(0)
    const [first] = grpoPrompts(await grpoWork(model), 1)
    expect(first.prompt).not.toContain('<|im_start|>')
    expect(first.promptTokens.length).toBeGreaterThan(10)
  })

  it('without samples of advantage 0 learns from fewer tokens', { timeout: 240_000 }, async () => {
    const size = { prompts: 4, samples: 2, maxTokens: 8, threads: 1, steps: 1, rounds: 1 }
    const whole = await benchGrpo(size)
    expect(whole.learntTokens).toBe(whole.responseTokens)
    // Eight tokens are too few for an answer, so that every group is all alike.
    const dropped = await benchGrpo({ ...size, dropZero: true })
    expect(dropped).toMatchObject({ dropZero: true, learntTokens: 0, responseTokens: whole.responseTokens })
  })

  it('has prompts for peers: text, its tokens, the answer', async () => {
    const [first, second] = grpoPrompts(await grpoWork(undefined), 2)
    expect(first.prompt).toMatch(/^\D+\nquestion: /)
    expect(first.promptTokens[0]).toBe(1)
    expect(['True', 'False']).toContain(first.answer)
    expect(second.prompt).not.toBe(first.prompt)
  })
})
