import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HashedNgrams, RubricBank } from '../../memory/index.ts'
import type { Environment } from '../../rl/environment.ts'
import { readMetrics, readRollouts, readRubricRows, withoutTimings } from '../../runs/readers.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import {
  decodeRecords,
  type RecordsQuestion,
  recordsQuestion,
  recordsQuestionText,
  recordsTask,
} from '../../tasks/records/index.ts'
import { type LoopSettings, type Pipeline, train } from '../../train/loop.ts'
import { type RecordsJudgeConfig, rubricemSchema } from './config.ts'
import { rubricemPresets } from './entry.ts'
import { rubricem } from './recipe.ts'
import { ScriptedAgent } from './scripted-agent.fixture.ts'
import { scriptedJudge } from './tasks.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-rubricem-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const QUESTIONS = Array.from({ length: 60 }, (_, i) => recordsQuestion('train/1', i))

const SETTINGS: LoopSettings = {
  steps: 8,
  seed: 1,
  optimizer: { maxGradNorm: 1 },
  learningRate: { kind: 'constant', peak: 0.01, warmup: 0, floor: 0 },
  evalEvery: 0,
  checkpointEvery: 1,
  keepCheckpoints: 2,
  maxMinutes: null,
  configHash: 'hash',
  monitors: null,
}

const configOf = (changes: Record<string, unknown> = {}) =>
  rubricemSchema.parse({
    ...rubricemPresets.quick.config,
    seed: 1,
    rollout: { prompts: 4, samples: 4, maxTokens: 48, temperature: 1 },
    ...changes,
    window: { steps: 2, ...(changes.window as object) },
    reflection: { candidates: 3, ...(changes.reflection as object) },
  })

interface Outcome {
  policy: ScriptedAgent
  bank: RubricBank
  metrics: ReturnType<typeof withoutTimings>[]
  rubrics: ReturnType<typeof readRubricRows>
  rollouts: ReturnType<typeof readRollouts>
}

const trained = async (
  name: string,
  changes: Record<string, unknown> = {},
  {
    stopAfter = 0,
    pipeline = false,
    broken = () => false,
    failFirst = false,
  }: {
    stopAfter?: number
    pipeline?: Pipeline
    broken?: (p: number, i: number) => boolean
    failFirst?: boolean
  } = {},
): Promise<Outcome> => {
  const config = configOf(changes)
  const run = RunFolder.create(join(root, name), { config: {} })
  const part = async (from: { dir: string; step: number } | null) => {
    const policy = new ScriptedAgent(QUESTIONS, broken)
    const judge = scriptedJudge(config.judge as RecordsJudgeConfig, config.seed)
    const task = recordsTask({ stream: i => QUESTIONS[i] }, { calls: 8, judge })
    if (failFirst) failFirstAttempts(task.world.environment)
    const bank = new RubricBank({ embedder: new HashedNgrams(), takeaways: task.stages.takeaways })
    const recipe = rubricem(config, { task, bank, evaluate: async () => [] })
    const shouldStop = () => from === null && readMetrics(run.dir).length === stopAfter
    await train(policy, recipe, run, { ...SETTINGS, pipeline }, from?.step ?? 0, { shouldStop })
    return { policy, bank }
  }
  const first = await part(null)
  const last = stopAfter > 0 ? await part(run.resume('hash')) : first
  run.close()
  return {
    ...last,
    metrics: readMetrics(run.dir).map(withoutTimings),
    rubrics: readRubricRows(run.dir),
    rollouts: readRollouts(run.dir),
  }
}

/** The world fails at the first attempt of each question. */
const failFirstAttempts = (environment: Environment<RecordsQuestion>): void => {
  const { start } = environment
  const met = new Set<string>()
  environment.start = (question, key) => {
    const episode = start(question, key)
    if (!met.has(question.id))
      episode.reply = async () => {
        throw new Error('the archive burnt down')
      }
    met.add(question.id)
    return episode
  }
}

/** The policy by script makes the gap up from how many steps it has taken itself. */
const computed = ({ logprobGapMax: _, ...row }: Outcome['metrics'][number]) => row

describe('rubricem', { timeout: 120_000 }, () => {
  it('has windows of fresh batches that come again, with the lessons of the first time', async () => {
    const { metrics, policy, bank } = await trained('window')
    expect(metrics.map(({ repeats }) => repeats)).toEqual([0, 0, 1, 1, 0, 0, 1, 1])
    expect(metrics.map(({ bankSize }) => bankSize)).toEqual([4, 8, 8, 8, 12, 16, 16, 16])
    expect(metrics.map(({ fallbacks }) => fallbacks)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
    // Nothing is known at first; repeated questions have their own lesson, one each.
    expect(metrics[0].references).toBe(0)
    expect(metrics[2].references).toBe(1)
    const first = policy.sampled.filter(({ seed }) => seed === '1/3/agent')
    expect(first).toHaveLength(1)
    for (const prompt of first[0].prompts) expect(decodeRecords(prompt)).toMatch(/^\n<reference> \w+ \w+/)
    expect(bank.within(recordsQuestionText(QUESTIONS[0]))?.step).toBe(1)
    // Steps 5 and 6 are fresh: lessons of similar questions, never of itself.
    expect(metrics[4].references).toBe(2)
  })

  it('learns from reflections one step later, and from none in the step after a repeated one', async () => {
    const { policy, metrics } = await trained('deferred')
    const phases = policy.updates.map(({ datums, options: { temperature } }) => [
      temperature,
      datums.length > 0,
    ])
    // Reflection at its own temperature, then the task; step 1 has nothing put off, steps 4 and 5 follow repeated ones.
    const wanted = metrics.flatMap((_, i) =>
      [1, 2, 5, 6].includes(i)
        ? [
            [0.7, true],
            [1, true],
          ]
        : [[1, true]],
    )
    expect(phases).toEqual(wanted)
    const [reflected] = policy.updates.filter(({ options }) => options.temperature === 0.7)
    expect(decodeRecords(Array.from(reflected.datums[0].promptTokens))).toContain('<reflect>')
    expect(metrics[1].gradientCosines).toEqual({ 'reflection/task': 0.5 })
    expect(metrics[0].gradientCosines).toEqual({ 'reflection/task': null })
  })

  it('at once where nothing is deferred', async () => {
    const { policy } = await trained('at once', { reflection: { deferred: false } })
    expect(policy.updates.slice(0, 2).map(({ options }) => options.temperature)).toEqual([0.7, 1])
  })

  it('keeps the most useful reflection of a question, and never a broken one', async () => {
    const { bank, metrics, rollouts } = await trained('broken', {}, { broken: (_, index) => index < 2 })
    expect(bank.size).toBe(16)
    expect(metrics[0].reflectionValid).toBeCloseTo(1 / 3, 6)
    const reflectors = rollouts.filter(({ role }) => role === 'reflector')
    expect(reflectors.length).toBeGreaterThan(0)
    for (const { flags, reward } of reflectors) if (flags?.unformatted) expect(reward).toBe(0)
    const { bank: none, metrics: without } = await trained('all broken', {}, { broken: () => true })
    expect(none.size).toBe(0)
    // Repeated steps find nothing of their own.
    expect(without[2].fallbacks).toBe(4)
  })

  it.each([
    ['plain', false, [2]],
    ['two steps ahead', 2, [1, 2, 3]],
  ] as const)('goes on where it was stopped, as if it had not been: %s', async (name, pipeline, stops) => {
    // Two steps ahead a batch may come back after three.
    const changes = { window: { steps: pipeline === 2 ? 3 : 2 } }
    const whole = await trained(`${name}, whole`, changes, { pipeline })
    expect(whole.metrics.map(({ fallbacks }) => fallbacks)).toEqual(whole.metrics.map(() => 0))
    for (const stopAfter of stops) {
      const stopped = await trained(`${name}, stopped ${stopAfter}`, changes, { pipeline, stopAfter })
      expect(stopped.metrics.map(computed)).toEqual(whole.metrics.map(computed))
      expect(stopped.rubrics).toEqual(whole.rubrics)
      expect(stopped.rollouts).toEqual(whole.rollouts)
      expect(stopped.bank.save()).toEqual(whole.bank.save())
    }
  })

  it('knows nothing of an attempt whose world failed: it is not paid for how far it came', async () => {
    for (const mode of ['stages', 'terminal']) {
      const { policy, metrics } = await trained(
        `failed world, ${mode}`,
        { credit: { mode }, reflection: { enabled: false }, dropZero: false },
        { failFirst: true },
      )
      expect(metrics[0].failedRollouts).toBe(0.25)
      const [{ datums }] = policy.updates
      // Nothing was said to them any more.
      const failed = datums.filter(({ mask }) => mask.every(own => own === 1))
      expect([datums.length, failed.length]).toEqual([16, 4])
      for (const { advantages } of failed) expect(advantages.every(own => own === 0)).toBe(true)
    }
  })

  it("credits stages by their own returns, and with mode terminal every token by the answer's", async () => {
    const advantagesOf = async (mode: string) => {
      const { policy } = await trained(mode, { credit: { mode }, reflection: { enabled: false } })
      return policy.updates[0].datums.map(
        ({ advantages, mask }) => new Set(Array.from(advantages).filter((_, t) => mask[t] === 1)),
      )
    }
    const terminal = await advantagesOf('terminal')
    expect(terminal.every(values => values.size === 1)).toBe(true)
    const stages = await advantagesOf('stages')
    expect(stages.some(values => values.size > 2)).toBe(true)
    expect(stages.every(values => values.size <= 4)).toBe(true)
  })
})
