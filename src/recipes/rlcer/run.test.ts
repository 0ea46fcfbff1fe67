import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpJudge } from '../../grade/judge/http-judge.fixture.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { engineService } from '../../policy/tinker/engine-service.fixture.ts'
import { readEvals, readMetrics, readRollouts, readRubricRows, withoutTimings } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { writeQuestions } from '../../tasks/questions/rows.fixture.ts'
import { FakeServer } from '../../tinker/fake-server.fixture.ts'
import { rlcerSchema } from './config.ts'
import { EVALUATED_SETS } from './evaluate-rubrics.ts'
import { runRlcer } from './run.ts'

const SLOW_MS = 240_000

let folder: string
let model: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rlcer-'))
  await runRlcer(rlcerSchema.parse({ ...tiny, coldStart, steps: 1 }), {
    dir: join(folder, 'cold'),
    resume: false,
  })
  model = join(folder, 'cold', 'cold-start', 'checkpoints', 'step-000060')
}, SLOW_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const coldStart = {
  steps: 60,
  batch: 16,
  task: { operations: { min: 2, max: 3 } },
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 160 } },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-2 } },
  policy: { threads: 1 },
  evaluation: { problems: 2, maxTokens: 40 },
}

const tiny = {
  policy: { threads: 1 },
  task: { kind: 'arithmetic', operations: { min: 2, max: 3 }, pool: 4 },
  rollout: { prompts: 3, samples: 4, maxTokens: 40 },
  // Held to the grammar, so that so small a model writes rubrics at all.
  rubricator: { maxTokens: 90, constrained: true, format: { maxCriteria: 6 }, unformattedSteers: true },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  questionsTogether: 2,
  steps: 3,
  evaluation: { problems: 6, samples: 2, bestOf: [2], rubrics: 4 },
}

const train = (name: string, more: object = {}, resume = false, stopAfter = Number.POSITIVE_INFINITY) => {
  let steps = 0
  return runRlcer(rlcerSchema.parse({ ...tiny, model: { folder: model }, ...more }), {
    ...{ dir: join(folder, name), resume },
    events: { onStep: () => steps++, shouldStop: () => steps >= stopAfter },
  })
}

const rowsOf = (name: string) => {
  const dir = join(folder, name)
  return {
    metrics: readMetrics(dir).map(withoutTimings),
    evals: readEvals(dir),
    rollouts: readRollouts(dir),
  }
}

describe('rlcer on arithmetic', () => {
  it('begins with its own cold start', () => {
    expect(readMetrics(join(folder, 'cold', 'cold-start'))).toHaveLength(60)
    expect(readMetrics(join(folder, 'cold'))).toHaveLength(1)
  })

  it(
    'keeps rows of both roles, metrics of rubrics, and evaluations with and without hints',
    async () => {
      await train('whole')
      const { metrics, evals, rollouts } = rowsOf('whole')
      expect(new Set(rollouts.map(({ role }) => role))).toEqual(new Set(['reasoner', 'rubricator']))
      for (const row of metrics) {
        expect(row).toMatchObject({ rollouts: 24, roleTokens: { reasoner: expect.any(Number) } })
        expect(Number(row.criteriaPerRubric)).toBeGreaterThanOrEqual(5)
        expect(row).toHaveProperty('validMinusNull')
      }
      const setsAt = (step: number) => evals.filter(row => row.step === step).map(({ set }) => set)
      expect(setsAt(0)).toEqual(Object.values(EVALUATED_SETS))
      const [answered] = evals[0].items!
      expect(answered.sample).toMatchObject({ prompt: expect.any(String), response: expect.any(String) })
      expect(setsAt(3)).toEqual(Object.values(EVALUATED_SETS))
      const rowOf = (set: string) => evals.find(row => row.step === 3 && row.set === set) as EvalRow
      const { scores, items } = rowOf('unseen')
      expect(Object.keys(scores)).toEqual(['accuracy', 'best@2', 'answered', 'greedy.accuracy'])
      expect(items).toHaveLength(6)
      expect(rowOf('hinted').items!.map(({ id }) => id)).toEqual(items!.map(({ id }) => id))
      const [hinted, placebo] = ['hinted', 'placebo'].map(set => rowOf(set).figures!)
      expect(hinted.hints).toBeGreaterThan(1)
      const promptIn = (set: string) => rowOf(set).items![0].sample!.prompt
      expect(promptIn('unseen')).not.toContain('\n')
      expect(promptIn('hinted')).toMatch(/^.+\n[+−]\d/)
      expect(promptIn('hinted').startsWith(promptIn('unseen'))).toBe(true)
      expect(Math.abs(Number(hinted.hintTokens) - Number(placebo.hintTokens))).toBeLessThan(6)
    },
    SLOW_MS,
  )

  it.each<[string, object]>([
    ['as it is', {}],
    ['with a critic of its own', { critic: { own: {}, learningRate: { peak: 1e-2 } } }],
    [
      'with a scaffold, pipelined, without a critic',
      { scaffold: { group: { kind: 'linear' }, decay: { kind: 'constant' } }, critic: null, pipeline: true },
    ],
  ])(
    'stops and goes on to the same rows, %s',
    async (name, settings) => {
      const more = { ...settings, evaluation: { problems: 2, hinted: false, rubrics: 0 } }
      await train(`${name} whole`, more)
      await train(`${name} stopped`, more, false, 2)
      expect(readMetrics(join(folder, `${name} stopped`))).toHaveLength(2)
      await train(`${name} stopped`, more, true)
      expect(rowsOf(`${name} stopped`)).toEqual(rowsOf(`${name} whole`))
    },
    SLOW_MS,
  )

  it(
    'learns on a training service that offers a critic, and goes on there',
    async () => {
      const server = new FakeServer(engineService({ source: { folder: model }, critics: 'offered' }))
      try {
        const url = await server.listen()
        const more = {
          policy: {
            ...{ kind: 'tinker', url, model: 'tiny', tokenizer: model },
            lora: { rank: 4 },
            reduction: 'sums',
          },
          ...{ model: {}, critic: { learningRate: { peak: 1e-2 } }, steps: 2 },
          rubricator: { ...tiny.rubricator, constrained: false },
          evaluation: { problems: 2, hinted: false, rubrics: 0 },
        }
        await train('service', more, false, 1)
        await train('service', more, true)
        const { metrics } = rowsOf('service')
        expect(metrics.map(({ step }) => step)).toEqual([1, 2])
        const learnt = server.bodies.flatMap(({ path, body }) =>
          path === 'forward_backward'
            ? [body.forward_backward_input as { loss_fn: string; loss_fn_config?: object }]
            : [],
        )
        const [of, ppo] = ['ppo_critic', 'ppo'].map(name => learnt.filter(own => own.loss_fn === name))
        expect([of.length, ppo.length]).toEqual([2, 2])
        expect(of[0].loss_fn_config).toEqual({ value_clip: 0.5 })
        const critic = join(folder, 'service', 'checkpoints', 'step-000002', 'critic', 'tinker.json')
        expect(JSON.parse(readFileSync(critic, 'utf8'))).toMatchObject({ steps: 2, sampler: null })
      } finally {
        await server.close()
      }
    },
    SLOW_MS,
  )

  it(
    'RLVR has no rubricators, and its metrics none of rubrics',
    async () => {
      const rubricator = { ...tiny.rubricator, enabled: false }
      await train('rlvr', { rubricator, reasonerReward: 'outcome', steps: 1 })
      const { metrics, rollouts } = rowsOf('rlvr')
      expect(metrics[0].rollouts).toBe(12)
      expect(metrics[0]).not.toHaveProperty('validRate')
      expect(rollouts.every(({ role }) => role === 'reasoner')).toBe(true)
    },
    SLOW_MS,
  )

  it(
    'a noisy verifier is compared with execution',
    async () => {
      await train('noisy', {
        ...{ verifier: { kind: 'noisy', flipRate: 0.25 }, steps: 1 },
        evaluation: { problems: 2, hinted: false, rubrics: 0 },
      })
      const { verifierAgreement } = rowsOf('noisy').metrics[0] as Record<string, Record<string, number>>
      expect(verifierAgreement.reward).toBeGreaterThan(0.6)
      expect(verifierAgreement.reward).toBeLessThan(0.9)
    },
    SLOW_MS,
  )

  it(
    'tries criteria on answers of the start, and goes on to the same rows',
    async () => {
      const settings = {
        anchors: { start: 4, minAgreement: 0.6 },
        evaluation: { problems: 2, hinted: false, rubrics: 0 },
      }
      await train('anchored', settings)
      await train('anchored, stopped', settings, false, 1)
      const anchors = readFileSync(join(folder, 'anchored, stopped', 'anchors.jsonl'), 'utf8')
      await train('anchored, stopped', settings, true)
      expect(rowsOf('anchored, stopped')).toEqual(rowsOf('anchored'))
      for (const name of ['anchored', 'anchored, stopped'])
        expect(readFileSync(join(folder, name, 'anchors.jsonl'), 'utf8')).toBe(anchors)
      expect(
        anchors
          .trim()
          .split('\n')
          .map(line => JSON.parse(line).good),
      ).toEqual([true, false, true, false])
      // Three questions in every step; what is kept out is told with the question.
      const kept = readRubricRows(join(folder, 'anchored'))
      expect(kept.every(({ refused }) => refused.every(({ rule }) => rule === 'anchors'))).toBe(true)
      expect(kept.length).toBeGreaterThan(0)
    },
    SLOW_MS,
  )

  it(
    'asks a language model over HTTP: N x N rubrics a question, and repeats from what is remembered',
    async () => {
      const judge = await HttpJudge.start(response => response.length % 2 === 0)
      try {
        await train('judged', {
          verifier: { kind: 'judge', judge: { fleet: { endpoints: [{ url: judge.url, model: 'm' }] } } },
          ...{ steps: 1, evaluation: { problems: 2, hinted: false, rubrics: 0 } },
        })
      } finally {
        await judge.close()
      }
      const [row] = readMetrics(join(folder, 'judged'))
      const { verifierCallCount, verifierCachedShare } = row.time as Record<string, number>
      expect(judge.calls).toBe(verifierCallCount)
      // 3 questions x 4 rubrics x 4 responses, less those that are the same.
      expect(Math.round(verifierCallCount / (1 - verifierCachedShare))).toBe(48)
      expect(row).toMatchObject({ judgeNullRatePositive: 0, verifierAgreement: expect.anything() })
      // The judge never sees the answer, which the policy writes last.
      expect(Number(row.criteriaPerRubric)).toBeGreaterThanOrEqual(5)
    },
    SLOW_MS,
  )

  it(
    'trains a chat model on questions of a file, and goes on to the same rows',
    async () => {
      const chat = join(folder, 'chat')
      writeTinyChat(chat, 8192)
      const file = writeQuestions(join(folder, 'rows'), 'dapo')
      const judge = await HttpJudge.start(response => response.length % 2 === 0)
      const settings = {
        model: { folder: chat },
        task: { kind: 'questions', format: 'dapo', file, holdOut: 2 },
        verifier: { kind: 'judge', judge: { fleet: { endpoints: [{ url: judge.url, model: 'm' }] } } },
        rollout: { prompts: 1, samples: 2, maxTokens: 8 },
        rubricator: { maxTokens: 8 },
        ...{ critic: null, dropZero: false, steps: 2 },
        evaluation: { problems: 2, rubrics: 0 },
      }
      // Where a verifier runs decides nothing: it may have moved when the run goes on.
      const moved = await HttpJudge.start(response => response.length % 2 === 0)
      const kind = 'judge'
      const elsewhere = { kind, judge: { fleet: { endpoints: [{ url: moved.url, model: 'm' }] } } }
      try {
        await train('chat whole', settings)
        await train('chat stopped', settings, false, 1)
        await train('chat stopped', { ...settings, verifier: elsewhere }, true)
      } finally {
        await judge.close()
        await moved.close()
      }
      expect(rowsOf('chat stopped')).toEqual(rowsOf('chat whole'))
      const { metrics, rollouts } = rowsOf('chat whole')
      // Random weights write no rubric, and are all wrong: neither format nor validity pays.
      expect(metrics[0]).toMatchObject({ rollouts: 4, formatRate: 0, criteriaPerRubric: 0 })
      expect(rollouts.find(({ role }) => role === 'rubricator')!.reward).toBe(0)
    },
    SLOW_MS,
  )
})
