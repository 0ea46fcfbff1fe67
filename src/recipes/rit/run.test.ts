import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { parseRubric } from '../../rubric/criterion.ts'
import { lintRubric } from '../../rubric/lint.ts'
import { readEvals, readMetrics, readRollouts, readRunInfo, withoutTimings } from '../../runs/readers.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { natureOf, ORACLE_IDS, THINKING_BANK } from '../../tasks/checklist/index.ts'
import { ritSchema } from './config.ts'
import { ritEntry } from './entry.ts'
import { fileRubrics } from './rubric.ts'
import { runRit } from './run.ts'

const SLOW_MS = 180_000

const MODEL = 'package:models/packing-thinking-start'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rit-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tiny = {
  policy: { threads: 1 },
  steps: 4,
  rollout: { prompts: 2, samples: 4, maxTokens: 48 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 4, samples: 2, problemsBetween: 3, every: 2 },
  checkpoint: { every: 1 },
}

const train = (
  name: string,
  more: Record<string, unknown> = {},
  { resume = false, stopAfter = 100 }: { resume?: boolean; stopAfter?: number } = {},
) => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  const config = ritSchema.parse({ ...tiny, model: { folder: MODEL }, ...more })
  return runRit(config, { dir: join(folder, name), resume, events })
}
const metricsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)
const rubricOf = (name: string) =>
  parseRubric(JSON.parse(readFileSync(join(folder, name, 'thinking-rubric.json'), 'utf8')))

describe('a run of rit on packing', () => {
  it(
    'leaves both rewards apart in every row, and evaluations by every judge',
    async () => {
      expect(await train('whole')).toMatchObject({ step: 4, finished: true })
      const metrics = metricsOf('whole')
      expect(metrics).toHaveLength(4)
      for (const row of metrics)
        for (const name of [
          'thinking',
          'response',
          'fused',
          'reward',
          'rubric',
          'gateBites',
          'noRubric',
          'entropy',
          'thinkingWords',
          'answerWords',
          'truncationRate',
        ])
          expect(row[name], name).toEqual(expect.any(Number))
      const evals = readEvals(join(folder, 'whole'))
      expect(evals.map(({ step, n, samples }) => [step, n, samples])).toEqual([
        [0, 4, 2],
        [2, 3, 1],
        [4, 4, 2],
      ])
      // The first sample's thinking alone is kept of single problems, and is no score of the set.
      for (const { items, scores } of evals) {
        expect(items!.every(item => (item.scores.thinkingWords ?? -1) >= 0)).toBe(true)
        expect(items!.every(item => typeof item.scores.thinkingFirst === 'number')).toBe(true)
        expect(Object.keys(scores)).not.toContain('thinkingWords')
        const words = items!.flatMap(({ sample }) => sample!.verdicts!.map(({ text }) => text))
        expect(words.length).toBeGreaterThan(0)
        expect(words.every(text => typeof text === 'string')).toBe(true)
      }
      const [start, between, end] = evals.map(({ scores }) => Object.keys(scores))
      for (const name of ['rubric', 'pass@1', 'avg@2', 'max@2', 'thinking', 'judge.train', 'judge.held-4'])
        expect(start, name).toContain(name)
      expect(between).not.toContain('judge.train')
      expect(end).toContain('judge.gap')
      const [item] = evals[0].items!
      for (const name of ['max@2', 'thinkingFirst', 'thinkingWords']) expect(item.scores).toHaveProperty(name)
      expect(start).not.toContain('thinkingWords')
      const [row] = readRollouts(join(folder, 'whole'))
      expect(row.verdicts!.map(({ criterionId }) => criterionId)).toContain('thinking.companion-need')
      expect(readRunInfo(join(folder, 'whole')).primarySet).toBe('unseen trips')
      expect(rubricOf('whole').criteria.map(({ id }) => id)).toEqual(ORACLE_IDS)
    },
    SLOW_MS,
  )

  it.each<[string, Record<string, unknown>]>([
    ['refined', { rubric: { source: 'refined', problems: 12 }, scaffold: {} }],
    ['critic', { critic: {}, pipeline: true, fusion: { adaptive: { patience: 1 } } }],
  ])(
    'goes on where it was stopped, with the same rows: %s',
    async (name, more) => {
      await train(name, more)
      expect(await train(`${name}-stopped`, more, { stopAfter: 2 })).toMatchObject({ finished: false })
      expect(await train(`${name}-stopped`, more, { resume: true })).toMatchObject({ finished: true })
      expect(metricsOf(`${name}-stopped`)).toEqual(metricsOf(name))
      expect(readEvals(join(folder, `${name}-stopped`))).toEqual(readEvals(join(folder, name)))
      expect(rubricOf(`${name}-stopped`)).toEqual(rubricOf(name))
    },
    SLOW_MS,
  )

  const every = (rows: readonly MetricsRow[], holds: (row: MetricsRow) => boolean) =>
    expect(rows.map(holds)).toEqual(rows.map(() => true))

  it.each<[string, Record<string, unknown>, (rows: MetricsRow[]) => void]>([
    [
      'ORM',
      { reward: 'response', fusion: { alpha: 1 } },
      rows => every(rows, row => row.reward === row.response),
    ],
    ['w/o RR', { reward: 'thinking' }, rows => every(rows, row => row.reward === row.thinking)],
    [
      'PRM',
      { thinkingBy: 'steps', rubric: { source: 'refined' } },
      rows => every(rows, row => row.judgeNullRate === null),
    ],
    [
      'PPO',
      { critic: { learningRate: { peak: 1e-2 } } },
      rows => every(rows, row => Number(row.valueError) > 0),
    ],
    ['by part', { normalise: 'part' }, rows => every(rows, row => Number(row.zeroVarianceGroups) < 1)],
    [
      'no rubric',
      { rubric: { source: 'none' } },
      rows => every(rows, row => row.noRubric === 8 && row.reward === row.response),
    ],
    ['gate none', { fusion: { gate: 'none' } }, rows => every(rows, row => row.gateBites === 0)],
  ])(
    'shows that it is the arm %s',
    async (name, more, shows) => {
      await train(name, more)
      shows(metricsOf(name))
    },
    SLOW_MS,
  )

  it(
    'begins with a cold start of its own',
    async () => {
      const coldStart = {
        steps: 3,
        batch: 4,
        model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
        policy: { threads: 1 },
        evaluation: { problems: 2, maxTokens: 48 },
      }
      await train('cold', { steps: 1, model: {}, coldStart, dropZero: false })
      expect(readMetrics(join(folder, 'cold', 'cold-start'))).toHaveLength(3)
      expect(metricsOf('cold')).toHaveLength(1)
    },
    SLOW_MS,
  )

  it(
    'has a ladder of rubrics',
    async () => {
      const rubric = { problems: 12, traces: { initial: 3, refined: 12 } }
      await train('random', { steps: 1, rubric: { ...rubric, source: 'random' } })
      await train('initial', { steps: 1, rubric: { ...rubric, source: 'initial' } })
      const texts = new Set(THINKING_BANK.map(({ text }) => text))
      for (const name of ['random', 'initial', 'refined']) {
        const { criteria } = rubricOf(name)
        expect(criteria.length, name).toBeGreaterThan(0)
        expect(criteria.length, name).toBeLessThanOrEqual(7)
        expect(
          criteria.every(one => texts.has(one.text) && natureOf(one) !== 'outcome'),
          name,
        ).toBe(true)
      }
      expect(rubricOf('random').criteria).toHaveLength(7)
    },
    SLOW_MS,
  )
})

describe('a run of rit with a language model as the judge', () => {
  it(
    'that is out of order from the start is gone on with as the error says',
    async () => {
      const judge = { fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'judge' }] } }
      const config = ritSchema.parse({ ...tiny, steps: 1, model: { folder: MODEL }, judge, dropZero: false })
      const options = { dir: join(folder, 'out of order'), resume: false }
      const broken = runRit(
        config,
        options,
        scriptedModel(() => 'no idea'),
      )
      // Nothing was saved by then: --resume alone would refuse.
      await expect(broken).rejects.toThrow(/got none that decides anything.*--resume-or-start/)
      await expect(runRit(config, { ...options, resume: true }, judgeModel)).rejects.toThrow(
        'nothing to resume',
      )
    },
    SLOW_MS,
  )

  /** Decides by the length of what it is asked, for all seven criteria of the oracle. */
  const judgeModel = scriptedModel(({ messages }) => {
    const characters = messages.reduce((sum, { content }) => sum + content.length, 0)
    const judgement = Array.from({ length: 7 }, (_, i) => (characters + i) % 2)
    return JSON.stringify({ judgement })
  })

  it(
    'is paid by its verdicts, and names the calls',
    async () => {
      const judge = { fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'judge' }] } }
      const config = ritSchema.parse({ ...tiny, steps: 1, model: { folder: MODEL }, judge, dropZero: false })
      await runRit(config, { dir: join(folder, 'judged'), resume: false }, judgeModel)
      const [row] = readMetrics(join(folder, 'judged'))
      expect(row.judgeNullRate).toBe(0)
      expect(Number(row.time!.verifierCallCount)).toBeGreaterThan(0)
      expect(row.time!.verifierFailedCalls).toBe(0)
    },
    SLOW_MS,
  )

  it.each(['strategyqa', 'logiqa', 'truthfulqa', 'longbench-write', 'writingbench'])(
    'has a rubric for the thinking of %s, without fault and without the answer',
    name => {
      const file = `package:examples/thinking/${name}.yaml`
      const [{ rubric }] = fileRubrics(file)
      expect(rubric.about).toBe('thinking')
      expect(rubric.criteria.length).toBeGreaterThanOrEqual(6)
      expect(lintRubric(rubric, { thinking: true }).filter(({ severity }) => severity !== 'info')).toEqual([])
    },
  )

  it('plans the paper’s runs before model and data are there', () => {
    const { presets, schema, plan } = ritEntry
    const paper = schema.parse(presets.paper.config)
    // Rows of LongBench-Write ask for up to 12,000 words, and are thought about before; Qwen3-8B has 40,960 places.
    expect(paper.rollout.maxTokens).toBeGreaterThan(1.4 * 12_000 + 8192)
    expect(paper.rollout.maxTokens).toBeLessThanOrEqual(40_960 - Object(paper.task).maxPromptTokens)
    const open = plan(paper)
    // The rubric is there.
    expect(open.lines.join('\n')).toMatch(
      /rubric +file \(package:examples\/thinking\/longbench-write\.yaml\)/,
    )
    expect(open.json).toMatchObject({ steps: 200, prompts: 32, samples: 8, judge: { callsPerStep: 512 } })
    expect(open.lines.join('\n')).toContain('sizes as published')
    expect(open.lines.join('\n')).toMatch(/time +about [\d,.]+ ?\w* h to about [\d,.]+ ?\w* h on two cores/)
    const reasoning = plan(schema.parse(presets['paper-reasoning'].config))
    expect(reasoning.json).toMatchObject({ steps: 500, prompts: 128, judge: { callsPerStep: 1024 } })
  })
})

describe('rit refuses', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'an oracle file',
      { rubric: { file: 'rubric.yaml' } },
      'rubric.file: expected nothing with rubric.source "oracle"',
    ],
    [
      'a file that nobody named',
      { rubric: { source: 'file' } },
      'rubric.source: expected rubric.file for "file"',
    ],
    [
      'a gate without fusion',
      { reward: 'response', fusion: { gate: 'max' } },
      'fusion.gate: expected nothing set',
    ],
    [
      'an adaptive weight without fusion',
      { reward: 'thinking', fusion: { adaptive: {} } },
      'fusion.adaptive: expected null',
    ],
    ['parts of one', { reward: 'thinking', normalise: 'part' }, 'normalise: expected "reward"'],
    ['a control of nothing', { reward: 'response', control: 'random' }, 'control: expected nothing'],
    ['a critic by parts', { critic: {}, normalise: 'part' }, 'critic: expected null with normalise "part"'],
    ['a ratio without scaffold', { ratio: 'sampled' }, 'ratio: expected "plain" without a scaffold'],
    [
      'missing verdicts where there are none',
      { thinkingBy: 'steps', fusion: { nulls: 'as-false' } },
      'fusion.nulls: expected nothing set with thinkingBy "steps"',
    ],
    [
      'lessons of no criteria',
      {
        ...{ task: { kind: 'arithmetic' }, rubric: { source: 'none' } },
        ...{ memory: { kind: 'bank' }, scaffold: {} },
      },
      'memory.file: expected a bank with rubric.source "none"',
    ],
    [
      'a floor above the ceiling',
      { fusion: { adaptive: { floor: 0.9, ceiling: 0.5 } } },
      'fusion.adaptive.floor: expected at most',
    ],
    [
      'too many with the whole scaffold',
      { scaffold: { group: { kind: 'binary', full: 9 } } },
      'scaffold.group.full: expected at most 8',
    ],
    [
      'a second engine without pipeline',
      { policy: { sampler: {} } },
      'policy.sampler: expected null without pipeline',
    ],
  ])('%s', (_, more, message) => {
    const config = ritSchema.parse({ model: { folder: 'later' }, ...more })
    expect(() => ritEntry.plan(config)).toThrow(message)
  })

  it(
    'a model that cannot think',
    () => {
      const config = ritSchema.parse({ model: { folder: 'package:models/packing-start' } })
      expect(() => ritEntry.plan(config)).toThrow(
        "expected a model of the packing task with thinking's 131 tokens",
      )
    },
    SLOW_MS,
  )

  it('says what it would do', () => {
    const config = ritSchema.parse({ model: { folder: MODEL }, fusion: { adaptive: {} }, critic: {} })
    const lines = ritEntry.plan(config).lines.join('\n')
    expect(lines).toContain('alpha from 0.5, adaptive, gate min')
    expect(lines).toContain('PPO with a critic')
  })
})

describe('a run of rit on arithmetic', () => {
  const arithmetic = {
    model: { folder: 'package:models/arithmetic-start' },
    task: { kind: 'arithmetic' },
    rollout: { prompts: 2, samples: 4, maxTokens: 96 },
    fusion: { alpha: 1 },
    dropZero: false,
  }

  it(
    'pays right answers by how they were reached, and nothing for wrong ones',
    async () => {
      await train('arithmetic', { ...arithmetic, steps: 2 })
      const rows = readRollouts(join(folder, 'arithmetic'))
      for (const { correct, reward, parts } of rows)
        expect(reward).toBeCloseTo(correct ? Number(parts!.thinking) : 0, 12)
      const [start] = readEvals(join(folder, 'arithmetic'))
      expect(start.primary).toBe('accuracy')
      expect(Object.keys(start.scores)).toEqual(
        expect.arrayContaining(['accuracy', 'pass@1', 'pass@2', 'thinking']),
      )
      expect(start.scores['judge.train'].value).toBe(start.scores.accuracy.value)
      expect(start.scores.accuracy.value).toBeGreaterThan(0)
    },
    SLOW_MS,
  )

  it(
    'conditional and min are the same run',
    async () => {
      await train('arithmetic-conditional', {
        ...arithmetic,
        steps: 2,
        fusion: { alpha: 1, gate: 'conditional' },
      })
      expect(metricsOf('arithmetic-conditional')).toEqual(metricsOf('arithmetic'))
    },
    SLOW_MS,
  )

  it('refuses what is about packing', () => {
    const plan = (more: object) => () => ritEntry.plan(ritSchema.parse({ ...arithmetic, ...more }))
    expect(plan({ scaffold: {} })).toThrow('scaffold: expected nothing with task "arithmetic"')
    expect(plan({ task: { kind: 'arithmetic', world: 'other' } })).toThrow(/Unrecognized key.*world/)
    expect(plan({ seed: 'held-out:arithmetic' })).toThrow('names held-out problems')
    expect(plan({ model: { folder: MODEL } })).toThrow("expected a model of the arithmetic task's")
  })
})
