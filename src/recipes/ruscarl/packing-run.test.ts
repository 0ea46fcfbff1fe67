import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sample } from '../../policy/policy.ts'
import { readEvals, readMetrics, readRollouts, readRunInfo, withoutTimings } from '../../runs/readers.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { listTokens, tripName } from '../../tasks/checklist/index.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { fixedPasses, problemStream, shuffledPasses } from '../common/problem-order.ts'
import { type RuscarlOn, ruscarlSchema } from './config.ts'
import { runRuscarl } from './run.ts'
import { selectDemonstrations } from './sft.ts'
import { packingTraining } from './tasks.ts'

const SLOW_MS = 120_000

let folder: string
let model: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-packing-'))
  const config = ruscarlSchema.parse({ ...tiny, coldStart, steps: 1 })
  await runRuscarl(config, { dir: join(folder, 'cold'), resume: false })
  model = join(folder, 'cold', 'cold-start', 'checkpoints', 'step-000004')
}, SLOW_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const coldStart = {
  steps: 4,
  batch: 8,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 } },
  policy: { threads: 1 },
  evaluation: { problems: 4 },
}

const tiny = {
  policy: { threads: 1 },
  steps: 3,
  rollout: { prompts: 2, samples: 4, maxTokens: 26 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 4 },
}

const onPacking = (config: object) => ruscarlSchema.parse(config) as RuscarlOn<'packing'>

const train = (name: string, more: Record<string, unknown> = {}, resume = false) =>
  runRuscarl(ruscarlSchema.parse({ ...tiny, model: { folder: model }, ...more }), {
    dir: join(folder, name),
    resume,
  })

describe('topics that are held out', () => {
  it(
    'are never trained on, and tested on their own at the start and the end',
    async () => {
      await train('held out', {
        task: { kind: 'packing', heldOutTopics: 3 },
        evaluation: { problems: 4, every: 1 },
      })
      const dir = join(folder, 'held out')
      const sets = readEvals(dir).map(({ step, set }) => `${step} ${set}`)
      expect(sets.filter(set => set.endsWith('held-out topics'))).toEqual([
        '0 held-out topics',
        '3 held-out topics',
      ])
      expect(sets.filter(set => set.endsWith('seen topics'))).toHaveLength(4)
      expect(readRunInfo(dir).primarySet).toBe('seen topics')
      const task = packingTraining(onPacking({ task: { kind: 'packing', heldOutTopics: 3 } })).truth
      const unseen = new Set(task.tests['held-out topics'].map(({ topic }) => topic))
      expect(unseen.size).toBe(3)
      expect(task.train.some(({ topic }) => unseen.has(topic))).toBe(false)
      expect(Object.keys(packingTraining(onPacking({})).truth.tests)).toEqual(['unseen trips'])
    },
    SLOW_MS,
  )
})

describe('ruscarl on packing, the arms of the paper', () => {
  it('begins with its own cold start', () => {
    expect(readMetrics(join(folder, 'cold', 'cold-start'))).toHaveLength(4)
    expect(readMetrics(join(folder, 'cold'))).toHaveLength(1)
  })

  const all = (metrics: readonly MetricsRow[], holds: (row: MetricsRow) => boolean) =>
    expect(metrics.map(holds)).toEqual(metrics.map(() => true))
  /** Whether the policy that sampled a step is another one than the one that it updates. */
  const offPolicy = ({ logprobGapMax }: MetricsRow) => Number(logprobGapMax) > 1e-3

  /** What shows in a run that it is this arm and no other. */
  const ARMS: [string, Record<string, unknown>, (metrics: MetricsRow[], dir: string) => void][] = [
    [
      'RuscaRL',
      {},
      metrics => {
        expect(metrics.map(({ scaffoldTokens }) => Number(scaffoldTokens) > 0)).toEqual([true, false, false])
        expect(metrics.map(offPolicy)).toEqual([false, false, false])
        all(metrics, ({ time }) => !('weights' in time!))
      },
    ],
    [
      'Rubric RL',
      { scaffold: { group: { kind: 'none' } } },
      metrics => all(metrics, row => row.scaffoldTokens === 0 && row.rewardFullScaffold === null),
    ],
    [
      'RL-S',
      { scaffold: { group: { kind: 'all' }, decay: { kind: 'constant' } } },
      metrics => all(metrics, row => row.rewardPlain === null && row.rewardFullScaffold === row.reward),
    ],
    [
      'RuscaRL without decay',
      { scaffold: { decay: { kind: 'constant' } } },
      metrics => all(metrics, row => Number(row.scaffoldTokens) > 0 && row.rewardPlain !== null),
    ],
    [
      'true-is, pipelined',
      { ratio: 'true-is', pipeline: true },
      // Scaffolded samples keep the log-probs of what they were shown.
      metrics => expect(metrics.map(offPolicy)).toEqual([true, true, true]),
    ],
    [
      'pipelined on two engines',
      { pipeline: true, policy: { threads: 1, sampler: {} } },
      metrics => {
        expect(metrics.map(offPolicy)).toEqual([false, true, true])
        all(metrics, ({ time }) => Number(time!.weights) >= 0)
      },
    ],
    [
      'curriculum',
      { exploration: { curriculum: {} }, steps: 1 },
      (_, dir) => {
        const scores = JSON.parse(readFileSync(join(dir, 'curriculum.json'), 'utf8')) as Record<
          string,
          number
        >
        const best = Object.entries(scores).sort(([, a], [, b]) => b - a)
        const first = readRollouts(dir).map(({ problemId }) => scores[problemId])
        expect(Math.min(...first)).toBeGreaterThanOrEqual(best[1][1])
      },
    ],
    [
      'lessons of earlier attempts',
      {
        memory: { kind: 'bank', retrieval: 'both', attempts: { discerning: false } },
        scaffold: { decay: { kind: 'constant' } },
      },
      (metrics, dir) => {
        expect(metrics.map(({ bankSize }) => bankSize)).toEqual([2, 4, 6])
        expect(metrics.map(({ scaffoldTokens }) => Number(scaffoldTokens) > 0)).toEqual([false, true, true])
        // What similar trips missed stands in the prompt, in the words of the world.
        const [, { prompt }] = readRollouts(dir).filter(({ step }) => step > 1)
        expect(
          readRollouts(dir).some(row =>
            / (include|without|first|few|some|many|spare|lean|once)\b/.test(row.prompt!),
          ),
        ).toBe(true)
        expect(prompt).toMatch(/:$/)
        expect(readFileSync(join(dir, 'bank.jsonl'), 'utf8')).toContain('"step":3')
      },
    ],
    [
      'ProRL',
      {
        exploration: { dynamicSampling: { rounds: 1 } },
        // Two lists of one word are often worth the same; then others are sampled.
        rollout: { prompts: 8, samples: 2, maxTokens: 2, temperature: 1.2 },
        loss: { preset: 'gradus:ruscarl', policy: { clipHigh: 0.28 } },
      },
      metrics => expect(Math.max(...metrics.map(({ rollouts }) => Number(rollouts)))).toBeGreaterThan(16),
    ],
  ]
  it.each(ARMS)(
    '%s',
    async (name, more, shows) => {
      const { finished, dir } = await train(name, more)
      expect(finished).toBe(true)
      shows(readMetrics(dir), dir)
      expect(readEvals(dir).filter(({ set }) => set === 'unseen trips')).toHaveLength(2)
      expect(readRunInfo(dir).primarySet).toBe('unseen trips')
      expect(readRunInfo(dir).criterionNames).toMatchObject({ avoid: '(penalty)', stray: '(penalty)' })
      expect(readRunInfo(dir).criterionNames).not.toHaveProperty('wanted-1')
    },
    SLOW_MS,
  )

  it(
    'an entropy bonus raises advantages, by the entropy on the prompt that is trained on',
    async () => {
      const bonus = { exploration: { entropyBonus: { kappa1: 100, kappa2: 1e-3 } }, steps: 1 }
      const advantagesOf = async (name: string, more: Record<string, unknown>) => {
        const { dir } = await train(name, more)
        return readRollouts(dir).map(({ advantage }) => advantage!)
      }
      const without = await advantagesOf('no bonus', { steps: 1 })
      const plain = await advantagesOf('bonus', bonus)
      const sampled = await advantagesOf('bonus, sampled', { ...bonus, ratio: 'sampled' })
      // The same rollouts in all three; the best one has an advantage, and it was shown something.
      expect(plain[0]).toBeGreaterThan(without[0] + 1)
      expect(sampled[0]).toBeGreaterThan(without[0] + 1)
      expect(Math.abs(sampled[0] - plain[0])).toBeGreaterThan(1e-4)
    },
    SLOW_MS,
  )

  it(
    'rollouts without an advantage leave the update unless they are asked to stay',
    async () => {
      // A group of one has nothing to compare with.
      const alone = { rollout: { ...tiny.rollout, samples: 1 }, steps: 2 }
      const lossesOf = async (name: string, more: Record<string, unknown>) =>
        readMetrics((await train(name, { ...alone, ...more })).dir).map(({ loss }) => loss)
      expect(await lossesOf('dropped', {})).toEqual([null, null])
      expect(await lossesOf('dropped, said', { dropZero: true })).toEqual([null, null])
      expect(await lossesOf('kept', { dropZero: false })).toEqual([expect.any(Number), expect.any(Number)])
    },
    SLOW_MS,
  )

  it(
    'SFT alone, and before the reinforcement',
    async () => {
      const sft = { problems: 8, samples: 4, minScore: -100, steps: 2, batch: 4 }
      const alone = await train('SFT', { sft, steps: 0 })
      expect(alone).toMatchObject({ step: 0, finished: true })
      expect(readMetrics(join(alone.dir, 'sft'))).toHaveLength(2)
      // What the phase ends with is what the reinforcement starts from.
      const [after] = readEvals(join(alone.dir, 'sft')).filter(
        ({ step, set }) => step === 2 && set === 'unseen trips',
      )
      const [start] = readEvals(alone.dir)
      expect(start.scores.rubric.value).toBeCloseTo(after.scores.rubric.value!, 9)
    },
    SLOW_MS,
  )

  it(
    'keeps demonstrations of an SFT phase that was killed before its first checkpoint, unless settings changed',
    async () => {
      const sft = { problems: 4, samples: 2, minScore: -100, steps: 1, batch: 2 }
      const again = async (resume: boolean, more: Record<string, unknown> = {}) => {
        const config = ruscarlSchema.parse({ ...tiny, model: { folder: model }, steps: 0, sft, ...more })
        const killed = {
          onStep: () => {
            throw new Error('killed')
          },
        }
        const run = runRuscarl(config, { dir: join(folder, 'killed'), resume, events: killed })
        await expect(run).rejects.toThrow('killed')
        return statSync(join(folder, 'killed', 'sft', 'demonstrations.jsonl')).mtimeMs
      }
      const first = await again(false)
      expect(await again(true)).toBe(first)
      // How far the reinforcement goes is none of the phase's settings.
      expect(await again(true, { steps: 1 })).toBe(first)
      expect(await again(true, { sft: { ...sft, problems: 5 } })).not.toBe(first)
    },
    SLOW_MS,
  )

  it(
    'has no teacher without good demonstrations',
    async () => {
      const sft = { problems: 4, samples: 1, minScore: 1, steps: 1 }
      await expect(train('no-demonstrations', { sft })).rejects.toThrow(
        'expected demonstrations that score 1 or more',
      )
    },
    SLOW_MS,
  )

  it(
    'random rewards and flipped verdicts are the same again for the same seed',
    async () => {
      const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)
      const random = { reward: 'random', steps: 2 }
      await train('random 1', random)
      await train('random 2', random)
      expect(rowsOf('random 1')).toEqual(rowsOf('random 2'))
      await train('plain', { steps: 2 })
      expect(rowsOf('plain')[0].reward).not.toEqual(rowsOf('random 1')[0].reward)
    },
    SLOW_MS,
  )
})

describe('the order of problems', () => {
  it('is another one each pass, and every problem comes once a pass', () => {
    const stream = shuffledPasses([0, 1, 2, 3, 4, 5, 6, 7], 'label')
    const pass = (n: number) => Array.from({ length: 8 }, (_, i) => stream(8 * n + i))
    expect(pass(0)).not.toEqual(pass(1))
    expect(pass(1).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(stream(3)).toBe(shuffledPasses([0, 1, 2, 3, 4, 5, 6, 7], 'label')(3))
    expect([0, 1, 2, 3].map(fixedPasses(['a', 'b']))).toEqual(['a', 'b', 'a', 'b'])
  })

  it('of a curriculum is from easy to hard by the policy that the run starts from', async () => {
    const config = onPacking({ exploration: { curriculum: { samples: 1 } } })
    const task = packingTraining(config).reward
    // The policy packs for trip p what meets more of the rubric the larger p is: nothing but the first item for p = 0.
    const train = task.train.slice(0, 3)
    const lists = train.map((trip, p) => {
      const wanted = task.rubric(trip).criteria.filter(({ verifier }) => verifier?.fn === 'contains')
      const items = wanted.flatMap(({ points, verifier }) =>
        points > 0 ? (verifier!.params!.all as string[]) : [],
      )
      return listTokens(items.slice(0, 2 * p + 1))
    })
    const policy = new FakePolicy(prompt => lists[prompt])
    const stream = await problemStream(
      { ...config, curriculum: { samples: 1 } },
      policy,
      { ...task, train },
      folder,
    )
    expect([0, 1, 2, 3].map(i => tripName(stream(i)))).toEqual([2, 1, 0, 2].map(p => tripName(train[p])))
    // A resumed run asks nobody.
    const resumed = await problemStream(
      { ...config, curriculum: { samples: 1 } },
      new FakePolicy(() => []),
      { ...task, train },
      folder,
    )
    expect(tripName(resumed(0))).toBe(tripName(train[2]))
  })
})

describe('selectDemonstrations', () => {
  const written = (
    problem: string,
    score: number | null,
    end: Sample['finishReason'] = 'stop',
    token = 5,
  ) => ({ problem, tokens: Int32Array.of(token), end, said: { score, verdicts: [], wellFormed: true } })

  it('keeps the best of each problem that ended, scored enough and leaked nothing', () => {
    const all = [
      [written('a', 0.6), written('a', 0.9), written('a', 0.7), written('a', 1, 'length')],
      [written('b', 0.4), written('b', null)],
      [written('c', 0.95, 'stop', 7), written('c', 0.5)],
    ]
    const kept = selectDemonstrations(all, { best: 2, minScore: 0.5 }, tokens => tokens[0] === 7)
    expect(kept.map(({ problem, said }) => [problem, said.score])).toEqual([
      ['a', 0.9],
      ['a', 0.7],
      ['c', 0.5],
    ])
  })
})
