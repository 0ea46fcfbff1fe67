import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakePolicy } from './fake-policy.fixture.ts'
import { type GradeItem, type RatioMode, rollOut } from './rollout.ts'

const settings = { maxTokens: 4, samplesPerPrompt: 2, gradeBatch: 2 }
const promptOf = (problem: string) => [problem.length]
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Names a sample by its problem and index. */
const nameOf = ({ problem, sample }: GradeItem<string>) => `${problem}${sample.index}`

describe('rollOut', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', note)
  })
  afterEach(() => {
    process.off('unhandledRejection', note)
  })

  it('keeps groups in the order of the problems, each grade with its sample', async () => {
    const policy = new FakePolicy()
    const { groups } = await rollOut(policy, ['a', 'bb', 'ccc'], promptOf, async items => items.map(nameOf), {
      ...settings,
      gradeBatch: 4,
    })
    expect(groups.map(({ problem }) => problem)).toEqual(['a', 'bb', 'ccc'])
    expect(groups.map(({ promptTokens }) => promptTokens)).toEqual([[1], [2], [3]])
    expect(groups.map(({ grades }) => grades)).toEqual([
      ['a0', 'a1'],
      ['bb0', 'bb1'],
      ['ccc0', 'ccc1'],
    ])
    expect(groups[1].samples.map(({ tokens }) => [...tokens])).toEqual([
      [11, 20],
      [11, 21],
    ])
    expect(policy.sampled[0]).toMatchObject({ prompts: [[1], [2], [3]], samplesPerPrompt: 2, maxTokens: 4 })
  })

  it.each([
    ['fewer', (items: readonly GradeItem<string>[]) => items.slice(1).map(nameOf)],
    ['more', (items: readonly GradeItem<string>[]) => [...items.map(nameOf), 'one too many']],
  ])('refuses %s grades than rollouts', async (_, grade) => {
    const result = rollOut(new FakePolicy(), ['a', 'b'], promptOf, async items => grade(items), settings)
    await expect(result).rejects.toThrow(/grader: expected one grade for each of 2 rollouts, got [13]/)
  })

  it('grades finished samples while the others are still being sampled', async () => {
    let sampling = true
    const during: boolean[] = []
    const policy = new FakePolicy(undefined, 15)
    const { sample } = policy
    policy.sample = async (...args) => {
      const samples = await sample.apply(policy, args)
      sampling = false
      return samples
    }
    const grader = async (items: readonly GradeItem<string>[]) => {
      during.push(sampling)
      await pause(5)
      return items.map(nameOf)
    }
    const { time } = await rollOut(policy, ['a', 'b', 'c'], promptOf, grader, settings)
    // Three batches of two; the last starts with the last sample.
    expect(during).toEqual([true, true, true])
    expect(time.gradeBusy).toBeGreaterThan(0.01)
    expect(time.sample).toBeGreaterThan(0.08)
  })

  it('hands on what is left over when sampling is done', async () => {
    const sizes: number[] = []
    const grader = async (items: readonly GradeItem<string>[]) => {
      sizes.push(items.length)
      return items.map(nameOf)
    }
    await rollOut(new FakePolicy(), ['a', 'b', 'c'], promptOf, grader, { ...settings, gradeBatch: 4 })
    expect(sizes).toEqual([4, 2])
  })

  it('batches may overtake each other', async () => {
    let wait = 40
    const grader = async (items: readonly GradeItem<string>[]) => {
      wait -= 15
      await pause(wait)
      return items.map(nameOf)
    }
    const { groups } = await rollOut(new FakePolicy(), ['a', 'b'], promptOf, grader, settings)
    expect(groups.map(({ grades }) => grades)).toEqual([
      ['a0', 'a1'],
      ['b0', 'b1'],
    ])
  })

  it("a grader's error surfaces once, after sampling, and nothing stays unhandled", async () => {
    const policy = new FakePolicy(undefined, 10)
    const grader = async (): Promise<string[]> => {
      throw new Error('the solver is gone')
    }
    await expect(rollOut(policy, ['a', 'b', 'c'], promptOf, grader, settings)).rejects.toThrow(
      'the solver is gone',
    )
    await pause(20)
    expect(unhandled).toEqual([])
    expect(policy.calls).toEqual(['sample'])
  })

  it("a policy's error comes through while a batch is being graded", async () => {
    const policy = new FakePolicy()
    const { sample } = policy
    policy.sample = async (...args) => {
      await sample.apply(policy, args)
      throw new Error('out of memory')
    }
    const grader = async (): Promise<string[]> => {
      await pause(10)
      throw new Error('nobody waits for this')
    }
    await expect(rollOut(policy, ['a'], promptOf, grader, settings)).rejects.toThrow('out of memory')
    await pause(30)
    expect(unhandled).toEqual([])
  })

  it('grades nothing for no problems', async () => {
    const grader = async (): Promise<string[]> => {
      throw new Error('not to be called')
    }
    expect((await rollOut(new FakePolicy(), [], promptOf, grader, settings)).groups).toEqual([])
  })

  describe('from prompts of their own', () => {
    const problems = ['a', 'bb']
    const prompts_P_G = [
      [[50, 1], [1]],
      [[2], [51, 2]],
    ]
    const start = (policy: FakePolicy, ratio: RatioMode) =>
      rollOut(policy, problems, promptOf, async items => items.map(nameOf), settings, { prompts_P_G, ratio })

    it('samples one response to each and keeps groups, grades and the plain prompt', async () => {
      const policy = new FakePolicy()
      const { groups } = await start(policy, 'true-is')
      expect(policy.sampled[0]).toMatchObject({ prompts: prompts_P_G.flat(), samplesPerPrompt: 1 })
      expect(groups.map(({ promptTokens }) => promptTokens)).toEqual([[1], [2]])
      expect(groups.map(({ sampledPrompts }) => sampledPrompts)).toEqual(prompts_P_G)
      expect(groups.map(({ grades }) => grades)).toEqual([
        ['a0', 'a1'],
        ['bb0', 'bb1'],
      ])
      expect(groups[1].samples.map(({ prompt, index }) => [prompt, index])).toEqual([
        [1, 0],
        [1, 1],
      ])
      expect(groups[0].oldLogprobs).toBeUndefined()
      expect(policy.scored).toEqual([])
    })

    it('takes old log-probs from the plain prompt, computed only where a scaffold was shown', async () => {
      const policy = new FakePolicy()
      const { groups } = await start(policy, 'plain')
      expect(policy.scored[0].items.map(({ promptTokens }) => promptTokens)).toEqual([[1], [2]])
      const [[scaffolded, plain]] = groups.map(({ oldLogprobs }) => oldLogprobs!)
      expect([...plain]).toEqual([...groups[0].samples[1].logprobs])
      expect([...scaffolded]).not.toEqual([...groups[0].samples[0].logprobs])
    })

    it('refuses another number of prompts than samples', async () => {
      const prompts = { prompts_P_G: [[[1]], [[2], [2]]], ratio: 'plain' as const }
      const result = rollOut(new FakePolicy(), problems, promptOf, async () => [], settings, prompts)
      await expect(result).rejects.toThrow('expected 2 for problem 0, one a sample, got 1')
    })
  })
})
