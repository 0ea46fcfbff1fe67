import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RatioMode } from '../rl/rollout.ts'
import { FakePolicy } from './fake-policy.fixture.ts'
import type { AnsweredItem, ItemGrader } from './grading.ts'
import { type RollOutRequest, StepRollouts } from './rollout.ts'

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Names a rollout by its problem and index. */
const nameOf = ({ problem, rollout }: AnsweredItem<string>) => `${problem}${rollout.sample}`

/** Two samples of every problem, whose prompt is its length; graded two at a time. */
const rollOut = async (
  policy: FakePolicy,
  problems: string[],
  grade: ItemGrader<string, string>,
  changes: Partial<RollOutRequest<string, string>> = {},
) => {
  const io = new StepRollouts(policy, { seed: 7, step: 3 })
  const groups = await io.rollOut({
    ...{ problems, samples: 2, sampling: { maxTokens: 4 }, gradeBatch: 2, grade },
    prompt: problem => [problem.length],
    ...changes,
  })
  return { groups, time: io.time, io }
}

const names = async (items: readonly AnsweredItem<string>[]) => items.map(nameOf)

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

  it('tells of a problem as soon as all of its rollouts are there, before they are graded', async () => {
    const logged: [number, string[]][] = []
    let graded = 0
    const { groups, io } = await rollOut(
      new FakePolicy(),
      ['a', 'bb', 'ccc'],
      async items => {
        await pause(1)
        graded += items.length
        return names(items)
      },
      {
        gradeBatch: 1,
        onGroup: (p, rollouts) => {
          expect(graded).toBe(0)
          logged.push([p, rollouts.map(({ key }) => key)])
        },
      },
    )
    // The fake policy finishes the last ones first; samples are in their order all the same.
    expect(logged).toEqual([2, 1, 0].map(p => [p, groups[p].map(({ rollout }) => rollout.key)]))
    const again = new StepRollouts(new FakePolicy(), { seed: 7, step: 3 }, io.journal)
    const known: number[] = []
    await again.rollOut({
      ...{ problems: ['a', 'bb', 'ccc'], samples: 2, sampling: { maxTokens: 4 }, grade: names },
      prompt: problem => [problem.length],
      onGroup: p => known.push(p),
    })
    expect(known).toEqual([0, 1, 2])
  })

  it("a failure of who is told is the request's", async () => {
    const onGroup = () => {
      throw new Error('told too much')
    }
    await expect(rollOut(new FakePolicy(), ['a'], names, { onGroup })).rejects.toThrow('told too much')
  })

  it('keeps groups in the order of the problems, each grade with its sample', async () => {
    const policy = new FakePolicy()
    const { groups } = await rollOut(policy, ['a', 'bb', 'ccc'], names, { gradeBatch: 4 })
    expect(groups.map(([{ problem }]) => problem)).toEqual(['a', 'bb', 'ccc'])
    expect(groups.map(([{ rollout }]) => rollout.prompt)).toEqual([[1], [2], [3]])
    expect(groups.map(([{ rollout }, other]) => [rollout.key, other.rollout.key])).toEqual([
      ['7/3/0/0', '7/3/0/1'],
      ['7/3/1/0', '7/3/1/1'],
      ['7/3/2/0', '7/3/2/1'],
    ])
    expect(groups.map(group => group.map(({ grade }) => grade))).toEqual([
      ['a0', 'a1'],
      ['bb0', 'bb1'],
      ['ccc0', 'ccc1'],
    ])
    expect(groups[1].map(({ rollout }) => [...rollout.tokens])).toEqual([
      [11, 20],
      [11, 21],
    ])
    expect(policy.sampled[0]).toMatchObject({ prompts: [[1], [2], [3]], samplesPerPrompt: 2, maxTokens: 4 })
  })

  it.each([
    ['fewer', (items: readonly AnsweredItem<string>[]) => items.slice(1).map(nameOf)],
    ['more', (items: readonly AnsweredItem<string>[]) => [...items.map(nameOf), 'one too many']],
  ])('refuses %s grades than rollouts', async (_, grade) => {
    const result = rollOut(new FakePolicy(), ['a', 'b'], async items => grade(items))
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
    const grader = async (items: readonly AnsweredItem<string>[]) => {
      during.push(sampling)
      await pause(5)
      return items.map(nameOf)
    }
    const { time } = await rollOut(policy, ['a', 'b', 'c'], grader)
    // Three batches of two; the last starts with the last sample.
    expect(during).toEqual([true, true, true])
    expect(time.gradeBusy).toBeGreaterThan(0.01)
    expect(time.sample).toBeGreaterThan(0.08)
  })

  it('hands on what is left over when sampling is done', async () => {
    const sizes: number[] = []
    const grader = async (items: readonly AnsweredItem<string>[]) => {
      sizes.push(items.length)
      return items.map(nameOf)
    }
    await rollOut(new FakePolicy(), ['a', 'b', 'c'], grader, { gradeBatch: 4 })
    expect(sizes).toEqual([4, 2])
  })

  it('batches may overtake each other', async () => {
    let wait = 40
    const grader = async (items: readonly AnsweredItem<string>[]) => {
      wait -= 15
      await pause(wait)
      return items.map(nameOf)
    }
    const { groups } = await rollOut(new FakePolicy(), ['a', 'b'], grader)
    expect(groups.map(group => group.map(({ grade }) => grade))).toEqual([
      ['a0', 'a1'],
      ['b0', 'b1'],
    ])
  })

  it("a grader's error surfaces once, after sampling, and nothing stays unhandled", async () => {
    const policy = new FakePolicy(undefined, 10)
    const grader = async (): Promise<string[]> => {
      throw new Error('the solver is gone')
    }
    await expect(rollOut(policy, ['a', 'b', 'c'], grader)).rejects.toThrow('the solver is gone')
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
    await expect(rollOut(policy, ['a'], grader)).rejects.toThrow('out of memory')
    await pause(30)
    expect(unhandled).toEqual([])
  })

  it('grades nothing for no problems', async () => {
    const grader = async (): Promise<string[]> => {
      throw new Error('not to be called')
    }
    expect((await rollOut(new FakePolicy(), [], grader)).groups).toEqual([])
  })

  it('names roles and rounds in seeds and keys, and refuses the same name twice', async () => {
    const policy = new FakePolicy()
    const { io } = await rollOut(policy, ['a'], names)
    const request = {
      ...{ problems: ['a'], samples: 1, sampling: { maxTokens: 4 }, grade: names },
      prompt: () => [1],
    }
    const [[writer]] = await io.rollOut({ ...request, role: 'writer' })
    const [[again]] = await io.rollOut({ ...request, role: 'writer', round: 2 })
    expect(policy.sampled.map(({ seed }) => seed)).toEqual(['7/3', '7/3/writer', '7/3/writer/round 2'])
    expect([writer.rollout.key, again.rollout.key]).toEqual(['7/3/writer/0/0', '7/3/writer/round 2/0/0'])
    expect(writer.rollout.role).toBe('writer')
    await expect(io.rollOut({ ...request, role: 'writer' })).rejects.toThrow(
      'rollouts of 7/3/writer: expected one request, got a second one',
    )
    expect(io.drawn).toHaveLength(4)
  })

  it('has no reward where the request says none, and computes it once where it does', async () => {
    const { groups } = await rollOut(new FakePolicy(), ['a'], names)
    expect(groups[0].map(({ reward, parts }) => [reward, parts])).toEqual([
      [null, {}],
      [null, {}],
    ])
    const asked: string[] = []
    const paid = await rollOut(new FakePolicy(), ['a'], names, {
      reward: (grade, problem) => {
        asked.push(`${grade} of ${problem}`)
        return { reward: asked.length, parts: { length: 2 } }
      },
    })
    expect(paid.groups[0].map(({ reward }) => reward)).toEqual([1, 2])
    expect(asked).toEqual(['a0 of a', 'a1 of a'])
  })

  it('what comes after the last request waits until the step has its turn', async () => {
    const policy = new FakePolicy()
    const { io } = await rollOut(policy, ['a'], names, { last: true })
    await io.lastSampled
    const request = {
      ...{ problems: ['b'], round: 1, samples: 1, sampling: { maxTokens: 4 }, grade: names },
      prompt: () => [1],
    }
    const more = io.rollOut(request)
    await pause(5)
    expect(policy.sampled).toHaveLength(1)
    io.open()
    await more
    expect(policy.sampled).toHaveLength(2)
  })

  it('is not done with the last request before it is done with those made before it', async () => {
    const policy = new FakePolicy()
    const { sample } = policy
    // The one that was asked for first takes longer, as an environment of many turns does.
    policy.sample = async (...args) => {
      if (args[0].prompts[0][0] === 99) await pause(20)
      return sample.apply(policy, args)
    }
    const io = new StepRollouts(policy, { seed: 7, step: 3 })
    const request = { ...{ problems: ['a'], samples: 2, sampling: { maxTokens: 4 }, grade: names } }
    const slow = io.rollOut({ ...request, role: 'slow', prompt: () => [99] })
    const last = io.rollOut({ ...request, prompt: () => [1], last: true })
    await io.lastSampled
    expect([...io.journal].map(([seed, { responses }]) => [seed, responses.length])).toEqual([
      ['7/3/slow', 2],
      ['7/3', 2],
    ])
    await Promise.all([slow, last])
  })

  describe('from prompts of their own', () => {
    const problems = ['a', 'bb']
    const prompts_P_G = [
      [[50, 1], [1]],
      [[2], [51, 2]],
    ]
    const start = (policy: FakePolicy, ratio: RatioMode) =>
      rollOut(policy, problems, names, { sampledFrom: prompts_P_G, ratio })

    it('samples one response to each and keeps groups, grades and the plain prompt', async () => {
      const policy = new FakePolicy()
      const { groups } = await start(policy, 'true-is')
      expect(policy.sampled[0]).toMatchObject({ prompts: prompts_P_G.flat(), samplesPerPrompt: 1 })
      expect(groups.map(([{ rollout }]) => rollout.prompt)).toEqual([[1], [2]])
      expect(groups.map(group => group.map(({ rollout }) => rollout.sampledFrom))).toEqual(prompts_P_G)
      expect(groups.map(group => group.map(({ grade }) => grade))).toEqual([
        ['a0', 'a1'],
        ['bb0', 'bb1'],
      ])
      expect(groups[0][0].rollout.oldLogprobs).toBeUndefined()
      expect(policy.scored).toEqual([])
    })

    it('takes old log-probs from the plain prompt, computed only where a scaffold was shown', async () => {
      const policy = new FakePolicy()
      const { groups } = await start(policy, 'plain')
      expect(policy.scored[0].items.map(({ promptTokens }) => promptTokens)).toEqual([[1], [2]])
      const [scaffolded, plain] = groups[0].map(({ rollout }) => rollout)
      expect([...plain.oldLogprobs!]).toEqual([...plain.logprobs])
      expect([...scaffolded.oldLogprobs!]).not.toEqual([...scaffolded.logprobs])
    })

    it('refuses another number of prompts than samples', async () => {
      const sampledFrom = [[[1]], [[2], [2]]]
      const result = rollOut(new FakePolicy(), problems, names, { sampledFrom })
      await expect(result).rejects.toThrow('expected 2 for problem 0, one a sample, got 1')
    })
  })
})
