import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/linear.ts'
import { readMetrics, readRollouts } from '../../runs/readers.ts'
import { readRows } from '../../runs/row-files.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import type { Noise, ResponseItem, ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { FakePolicy, type Respond } from '../../train/fake-policy.fixture.ts'
import { type LoopSettings, train } from '../../train/index.ts'
import { spoiltRewards } from '../options/spoilt-rewards.ts'
import { ruscarlSchema } from './config.ts'
import { type RuscarlParts, ruscarl } from './recipe.ts'

const RUBRIC: Rubric = {
  criteria: Array.from({ length: 11 }, (_, i) => ({
    id: `c${i}`,
    text: `does ${i}`,
    points: i < 9 ? 1 : -1,
  })),
}

/** Prompt token of problem n is n; every criterion shown is one token more, 100 + its number. */
class CountingTask implements ScoredTask<number> {
  train = []
  tests = {}
  label = 'numbers'
  notes = []
  readonly graded: ResponseItem<number>[] = []
  readonly #noise: Noise

  constructor(spoilt: { flipRate?: number; reward?: 'rubric' | 'random' } = {}) {
    const none: Noise = { verdicts: verdicts => [...verdicts], score: score => score }
    this.#noise = spoiltRewards.noise!(spoilt) ?? none
  }

  id = (problem: number) => `problem ${problem}`
  question = this.id
  rubric = () => RUBRIC
  gradeBatch = 1
  prompt = (problem: number, shown: readonly Criterion[] = []) => [
    problem,
    ...shown.map(({ id }) => 100 + Number(id.slice(1))),
  ]
  show = (tokens: ArrayLike<number>) => Array.from(tokens).join(' ')
  leaks = (tokens: Int32Array) => tokens[0] === 7

  /** A response meets the criteria that its tokens name. */
  async grade(items: readonly ResponseItem<number>[]): Promise<ScoredResponse[]> {
    this.graded.push(...items)
    return items.map(({ tokens, key = '' }) => {
      const verdicts = this.#noise.verdicts(
        RUBRIC.criteria.map(({ id }) => ({
          criterionId: id,
          met: tokens.includes(Number(id.slice(1))),
          source: 'rule' as const,
        })),
        key,
      )
      return {
        score: this.#noise.score(signedScore(RUBRIC, verdicts).score, key),
        verdicts,
        wellFormed: true,
      }
    })
  }
}

/** Every other rollout meets a criterion: with a prompt for each sample `prompt` counts them, else `index` does. */
const byRollout: Respond = (prompt, index) => [(prompt + index) % 2 === 0 ? 3 : 50]

describe('recipe ruscarl on a policy that computes nothing', () => {
  let folder: string
  let run: RunFolder
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-recipe-'))
    run = RunFolder.create(join(folder, 'run'), { config: {} })
  })
  afterEach(() => {
    run.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const trained = async (
    more: Record<string, unknown> = {},
    {
      policy = new FakePolicy(byRollout),
      task = new CountingTask(),
      parts = {},
      loop = {},
    }: {
      policy?: FakePolicy
      task?: CountingTask
      parts?: Partial<RuscarlParts<number>>
      loop?: Partial<LoopSettings>
    } = {},
  ) => {
    const config = ruscarlSchema.parse({
      steps: 5,
      rollout: { prompts: 2, samples: 8, maxTokens: 4 },
      scaffold: { decay: { kind: 'sigmoid', alpha: 125, t0: 0.5 } },
      loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
      minibatches: 1,
      dropZero: false,
      ...more,
    })
    const asked: string[] = []
    const recipe = ruscarl(config, {
      problem: index => index,
      task,
      evaluate: async (step, last) => {
        asked.push(`${step} ${last}`)
        return []
      },
      policy,
      ...parts,
    })
    await train(policy, recipe, run, {
      steps: config.steps,
      seed: config.seed,
      optimizer: {},
      learningRate: { kind: 'constant', peak: 1, warmup: 0, floor: 0 },
      evalEvery: 0,
      checkpointEvery: 0,
      keepCheckpoints: 1,
      maxMinutes: null,
      configHash: 'hash',
      monitors: null,
      ...loop,
    })
    return { policy, task, asked, metrics: readMetrics(run.dir) }
  }

  it('shows the ladder to each group, other criteria each step, and nothing after the decay', async () => {
    const { policy } = await trained()
    const shown = policy.sampled.map(({ prompts }) => prompts.map(prompt => prompt.length - 1))
    const ladder = [11, 9, 8, 6, 5, 3, 2, 0]
    expect(shown[0]).toEqual([...ladder, ...ladder])
    expect(shown[1]).toEqual([...ladder, ...ladder])
    // At half the run the decay is at one half: round(.5 (G - i) / (G - 1) 11).
    expect(shown[2].slice(0, 8)).toEqual([6, 5, 4, 3, 2, 2, 1, 0])
    // Then the plain prompts, shared by their groups again.
    expect(shown[3]).toEqual([0, 0])
    expect(policy.sampled[3].samplesPerPrompt).toBe(8)
    const [first, second] = policy.sampled.map(({ prompts }) => prompts.map(prompt => [...prompt].slice(1)))
    expect(first[3]).not.toEqual(second[3])
    expect(first[3]).not.toEqual(first[11])
    // Rows say what was shown, and the request without it.
    for (const { step, prompt, plainPrompt } of readRollouts(run.dir)) {
      if (step === 1 && prompt.includes(' ')) expect(plainPrompt).toBe(prompt.split(' ')[0])
      else if (!prompt.includes(' ')) expect(plainPrompt).toBeUndefined()
    }
    expect(readRollouts(run.dir).some(({ plainPrompt }) => plainPrompt !== undefined)).toBe(true)
  })

  it('trains on the plain prompt with log-probs computed anew, sampled ones only where nothing was shown', async () => {
    const { policy } = await trained({ steps: 1 })
    const { datums } = policy.updates[0]
    expect(datums.map(({ promptTokens }) => [...promptTokens])).toEqual([
      ...Array.from({ length: 8 }, () => [0]),
      ...Array.from({ length: 8 }, () => [1]),
    ])
    // The fake policy scores a token at minus itself, and samples at -0.5.
    for (const [i, { oldLogprobs, tokens }] of datums.entries())
      expect(oldLogprobs[0]).toBeCloseTo(i % 8 === 7 ? -0.5 : -tokens[0], 6)
    expect(policy.scored).toHaveLength(1)
    expect(policy.scored[0].items.every(({ promptTokens }) => promptTokens.length === 1)).toBe(true)
  })

  it('has the other two ratios', async () => {
    const { policy } = await trained({ steps: 1, ratio: 'true-is' })
    expect(policy.scored).toHaveLength(0)
    expect(policy.updates[0].datums.every(({ oldLogprobs }) => oldLogprobs[0] === -0.5)).toBe(true)
    expect(policy.updates[0].datums[0].promptTokens).toHaveLength(1)
  })

  it('trains on what was seen with ratio sampled', async () => {
    const { policy } = await trained({ steps: 1, ratio: 'sampled' })
    expect(policy.updates[0].datums.map(({ promptTokens }) => promptTokens.length - 1).slice(0, 8)).toEqual([
      11, 9, 8, 6, 5, 3, 2, 0,
    ])
  })

  it.each([
    ['none', { kind: 'none' }, 0],
    ['all', { kind: 'all' }, 11],
  ])('has arms without a ladder: %s', async (_name, group, shown) => {
    const { policy } = await trained({ steps: 1, scaffold: { group, decay: { kind: 'constant' } } })
    const [{ prompts }] = policy.sampled
    expect(prompts.every(prompt => prompt.length - 1 === shown)).toBe(true)
    expect(prompts).toHaveLength(shown === 0 ? 2 : 16)
  })

  it('shows nothing to a group of one, which has nobody to differ from', async () => {
    const rollout = { prompts: 2, samples: 1, maxTokens: 4 }
    const { policy } = await trained({ steps: 1, rollout, scaffold: { group: { kind: 'all' } } })
    expect(policy.sampled[0].prompts).toEqual([[0], [1]])
  })

  it('evaluates by itself, before and after, and never draws for it', async () => {
    const { asked, policy } = await trained({ steps: 2 })
    expect(asked).toEqual(['0 false', '2 true'])
    expect(policy.sampled).toHaveLength(2)
  })

  it('reports the score of those that saw nothing and of those that saw everything, and leaks', async () => {
    // All answer 3 and meet one of nine; rollouts 7 of each group see nothing.
    const { metrics } = await trained(
      { steps: 1 },
      { policy: new FakePolicy((p, g) => ((p + g) % 8 === 7 ? [7, 3] : [3])) },
    )
    expect(metrics[0].rewardFullScaffold).toBeCloseTo(1 / 9, 6)
    expect(metrics[0].rewardPlain).toBeCloseTo(2 / 9, 6)
    expect(metrics[0].leakRate).toBeCloseTo(1 / 8, 6)
    expect(metrics[0].scaffoldTokens).toBeCloseTo(44 / 8, 6)
    expect(readRollouts(run.dir)).toHaveLength(3)
  })

  it('reports no score of those that saw everything once the decay shows it to nobody', async () => {
    const { metrics, policy } = await trained()
    expect(policy.sampled[2].prompts.map(prompt => prompt.length - 1)).toContain(6)
    expect(metrics.map(({ rewardFullScaffold }) => rewardFullScaffold === null)).toEqual([
      ...[false, false, true, true, true],
    ])
  })

  it('knows who saw everything also where rubrics differ in length', async () => {
    // The second problem's rubric is said in twice as many tokens.
    class Wordy extends CountingTask {
      override prompt = (problem: number, shown: readonly Criterion[] = []) => [
        problem,
        ...shown.flatMap(({ id }) => Array(problem + 1).fill(100 + Number(id.slice(1)))),
      ]
    }
    // The first samples of both groups saw everything; only that of the first meets anything.
    const policy = new FakePolicy(prompt => [prompt === 0 ? 3 : 50])
    const { metrics } = await trained({ steps: 1 }, { task: new Wordy(), policy })
    expect(metrics[0].rewardFullScaffold).toBeCloseTo(1 / 18, 6)
  })

  it('grades every response as soon as it is finished, before the others are', async () => {
    const task = new CountingTask()
    const policy = new FakePolicy(byRollout, 1)
    let gradedWhileSampling = 0
    const sample = policy.sample.bind(policy)
    policy.sample = async (...args) => {
      const samples = await sample(...args)
      gradedWhileSampling = task.graded.length
      return samples
    }
    await trained({ steps: 1 }, { policy, task })
    expect(gradedWhileSampling).toBeGreaterThanOrEqual(15)
    expect(new Set(task.graded.map(({ key }) => key)).size).toBe(16)
  })

  describe('where graders fail', () => {
    /** Graders fail for some rollouts; the first problem's rubric has nothing to score. */
    const failing = (fails: (key: string) => boolean) => {
      class Failing extends CountingTask {
        override async grade(items: readonly ResponseItem<number>[]): Promise<ScoredResponse[]> {
          const graded = await super.grade(items)
          return graded.map((grade, i) => {
            if (items[i].problem === 0) return { ...grade, score: null }
            const verdicts = grade.verdicts.map(verdict => ({
              ...verdict,
              source: 'llm' as const,
              met: fails(items[i].key!) ? null : verdict.met,
              explanation: 'time-out',
            }))
            return fails(items[i].key!)
              ? { ...grade, verdicts, score: null, unjudged: true }
              : { ...grade, verdicts }
          })
        }
      }
      return new Failing()
    }
    const half = { rollout: { prompts: 2, samples: 4, maxTokens: 4 }, scaffold: { group: { kind: 'none' } } }

    it('a rollout without a verdict is in no mean and has no advantage; a rubric without points is worth 0', async () => {
      // Samples 0 and 2 meet a criterion, 1 and 3 none; nothing is known of the last two.
      const policy = new FakePolicy((_, index) => [index % 2 === 0 ? 3 : 50])
      const task = failing(key => key.endsWith('/2') || key.endsWith('/3'))
      const { metrics } = await trained({ ...half, steps: 1 }, { policy, task })
      const advantages = policy.updates[0].datums.map(datum => datum.advantages[0])
      expect(advantages.slice(0, 4)).toEqual([0, 0, 0, 0])
      for (const [i, expected] of [1, -1, 0, 0].entries()) expect(advantages[4 + i]).toBeCloseTo(expected, 4)
      // Four times 0 for want of points, 1/9 and 0.
      expect(metrics[0].reward).toBeCloseTo(1 / 54, 9)
      expect(metrics[0].rewardPlain).toBeCloseTo(1 / 54, 9)
      expect(metrics[0]).toMatchObject({ unscored: 6 / 8, zeroVarianceGroups: 0.5 })
      const kept = readRollouts(run.dir)
      expect(kept.slice(0, 2).map(({ reward, flags }) => [reward, flags])).toEqual([
        [1 / 9, undefined],
        [0, undefined],
      ])
    })

    it('a rollout without a verdict has no reward in its row, and every verdict with its reason', async () => {
      const policy = new FakePolicy((_, index) => [index % 2 === 0 ? 3 : 50])
      const task = failing(key => key.endsWith('/2') || key.endsWith('/3'))
      // The third kept one changes with the step; at the sixth it is the second problem's third sample.
      await trained({ ...half, steps: 6 }, { policy, task, parts: { problem: i => i % 2 } })
      const rows = readRows<RolloutRow>(run.path('rollouts.jsonl'))
      const row = rows.find(({ flags }) => flags?.unjudged === 1)!
      expect(row).toMatchObject({ step: 6, reward: null, flags: { unjudged: 1 } })
      expect(row.verdicts).not.toHaveLength(0)
      for (const verdict of row.verdicts!)
        expect(verdict).toMatchObject({ met: null, explanation: 'time-out' })
    })

    it('groups are replaced that fewer than two rollouts are known of', async () => {
      const task = failing(key => !key.includes('round') && !key.endsWith('/0'))
      const more = { ...half, steps: 1, exploration: { dynamicSampling: { rounds: 1 } } }
      const { metrics } = await trained(more, { task })
      expect(metrics[0]).toMatchObject({ rollouts: 16, unscored: 0 })
    })

    it('on all of a step, the run stops and says why', async () => {
      // Every step but the first.
      const task = failing(key => !key.startsWith('1/1/'))
      const loop = { checkpointEvery: 1 }
      const more = { ...half, rollout: { ...half.rollout, prompts: 1 }, steps: 3 }
      await expect(trained(more, { task, loop, parts: { problem: i => i + 1 } })).rejects.toThrow(
        'judge: expected verdicts on 4 rollouts, got none that decides anything (time-out)',
      )
      expect(run.resume('hash').step).toBe(1)
    })

    it('on all of a step it stops also where a criterion without a verdict counts as not met', async () => {
      class AsFalse extends CountingTask {
        override async grade(items: readonly ResponseItem<number>[]): Promise<ScoredResponse[]> {
          const verdicts = [{ criterionId: 'c0', met: null, source: 'llm' as const }]
          return items.map(() => ({ score: 0, verdicts, wellFormed: true }))
        }
      }
      await expect(trained(half, { task: new AsFalse() })).rejects.toThrow('got none that decides anything')
    })
  })

  it('draws random rewards that have nothing to do with the response, the same for the same seed', async () => {
    const random = { flipRate: 0, reward: 'random' as const }
    const same = new FakePolicy(() => [3])
    const { metrics } = await trained({ steps: 4 }, { task: new CountingTask(random), policy: same })
    expect(metrics.every(({ rewardStd }) => (rewardStd as number) > 0.1)).toBe(true)
    expect(metrics[0].reward).not.toBe(metrics[1].reward)
    const again = await new CountingTask(random).grade([
      { problem: 0, tokens: Int32Array.of(3), key: '1/1/0/0' },
    ])
    const first = await new CountingTask(random).grade([
      { problem: 0, tokens: Int32Array.of(8), key: '1/1/0/0' },
    ])
    expect(first[0].score).toBe(again[0].score)
  })

  it('turns verdicts round at the given rate', async () => {
    const none = await new CountingTask({ flipRate: 1, reward: 'rubric' as const }).grade([
      { problem: 0, tokens: Int32Array.of(0), key: 'a' },
    ])
    expect(none[0].verdicts.map(({ met }) => met)).toEqual([false, ...Array.from({ length: 10 }, () => true)])
    const task = new CountingTask({ flipRate: 0.25, reward: 'rubric' as const })
    const items = Array.from({ length: 400 }, (_, i) => ({
      problem: 0,
      tokens: Int32Array.of(50),
      key: `k${i}`,
    }))
    const met = (await task.grade(items)).flatMap(({ verdicts }) =>
      verdicts.map(verdict => Number(verdict.met)),
    )
    expect(met.reduce((a, b) => a + b, 0) / met.length).toBeCloseTo(0.25, 1)
  })

  it('adds the entropy bonus to the advantage of every token', async () => {
    const plain = await trained({ steps: 1 })
    const before = plain.policy.updates[0].datums.map(({ advantages }) => advantages[0])
    run.close()
    run = RunFolder.create(join(folder, 'bonus'), { config: {} })
    const unsure = new FakePolicy(byRollout)
    const score = unsure.score.bind(unsure)
    unsure.score = async (...args) =>
      (await score(...args)).map(each => ({ ...each, entropies: each.entropies.fill(2) }))
    const more = { steps: 1, exploration: { entropyBonus: { kappa1: 0.1, kappa2: 2 } } }
    const bonus = await trained(more, { policy: unsure })
    const after = bonus.policy.updates[0].datums.map(({ advantages }) => advantages[0])
    // Half of a group scores 1/9, half nothing: advantages of 1 and -1. Entropy 2 everywhere: .2 more.
    expect(before[0]).toBeCloseTo(1, 3)
    for (const [i, advantage] of before.entries())
      expect(after[i]).toBeCloseTo(advantage + Math.min(0.2, Math.abs(advantage) / 2), 5)
  })

  it('replaces groups without variance by further problems, up to a bound, and counts what was thrown away', async () => {
    // The first problem's group always agrees; further problems (above 1) never do.
    const seen: number[] = []
    class Agreeing extends CountingTask {
      override async grade(items: readonly ResponseItem<number>[]) {
        const graded = await super.grade(items)
        seen.push(...items.map(({ problem }) => problem))
        return graded.map((grade, i) => (items[i].problem === 0 ? { ...grade, score: 0 } : grade))
      }
    }
    const more = { steps: 1, exploration: { dynamicSampling: { rounds: 3 } } }
    const { policy, metrics } = await trained(more, { task: new Agreeing() })
    expect(policy.sampled).toHaveLength(2)
    expect(metrics[0]).toMatchObject({ zeroVarianceGroups: 0, rollouts: 24, tokens: 24 })
    expect(policy.updates[0].datums).toHaveLength(16)
    expect(policy.updates[0].datums[0].promptTokens[0]).toBeGreaterThan(1)
    expect(new Set(seen).size).toBe(3)
  })

  it('stops replacing at the bound', async () => {
    const more = { steps: 1, exploration: { dynamicSampling: { rounds: 2 } } }
    const { policy, metrics } = await trained(more, { policy: new FakePolicy(() => [3]) })
    expect(policy.sampled).toHaveLength(3)
    expect(metrics[0]).toMatchObject({ zeroVarianceGroups: 1, rollouts: 48 })
  })
})
