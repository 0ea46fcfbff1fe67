import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { broadcastAdvantage } from '../rl/datum.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { writeReport } from '../runs/report/report.ts'
import { RunFolder, readEvents, readMetrics, readRollouts } from '../runs/run-folder.ts'
import { demonstration, PackingWorld, splitTrips, type Trip } from '../tasks/checklist/index.ts'
import type { ScoredResponse } from '../tasks/scored-response.ts'
import { modelShapeSchema } from '../train/config.ts'
import { type LoopSettings, type Recipe, train } from '../train/loop.ts'
import { monitorsSchema } from '../train/monitors/config.ts'
import { supervisedStep } from '../train/supervised.ts'
import { mean } from '../util/statistics.ts'
import { freshPackingModel, PackingTask } from './checklist/packing.ts'

const SLOW_MS = 120_000
const MAX_TOKENS = 26
const STEPS = 30
const optimizer = { maxGradNorm: 1, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0 }
const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-hacked-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const world = new PackingWorld('packing')
const truth = new PackingTask(world)
const trips = splitTrips().train

/** Packing, paid by the length of the list alone; the true rubrics are the held-out grader. */
const paidForLength: Recipe<Trip, ScoredResponse> = {
  draw: step => Array.from({ length: 8 }, (_, i) => trips[(step * 8 + i) % trips.length]),
  prompt: trip => truth.prompt(trip),
  grade: items => truth.grade(items.map(({ problem, sample }) => ({ problem, tokens: sample.tokens }))),
  credit: groups => {
    const rewards_P_G = groups.map(({ samples }) => samples.map(({ tokens }) => tokens.length / MAX_TOKENS))
    const { advantages_P_G, zeroVarianceGroups } = grpoAdvantages(rewards_P_G, {})
    return {
      advantages: groups.map(({ samples }, p) =>
        samples.map(({ tokens }, g) =>
          broadcastAdvantage(advantages_P_G[p][g], new Float32Array(tokens.length).fill(1)),
        ),
      ),
      metrics: { reward: mean(rewards_P_G.flat()), zeroVarianceGroups: zeroVarianceGroups / groups.length },
    }
  },
  heldOut: groups => groups.map(({ grades }) => grades.map(({ score }) => score)),
  rows: (step, groups) =>
    groups.map(({ problem, samples, promptTokens }) =>
      samples.map(({ tokens, finishReason, index }) => ({
        step,
        problemId: truth.name(problem),
        sample: index,
        prompt: truth.show(promptTokens),
        response: truth.show(tokens),
        reward: tokens.length / MAX_TOKENS,
        tokens: tokens.length,
        finishReason,
      })),
    ),
  record: () => [],
  evaluate: async () => [],
}

const settings: LoopSettings = {
  steps: STEPS,
  seed: 1,
  rollout: { maxTokens: MAX_TOKENS, samplesPerPrompt: 8, temperature: 1 },
  update: {
    loss: { ...lossPreset('gradus:ruscarl'), kl: { kind: 'none', coef: 0 } },
    optimizer,
    learningRate: { kind: 'constant', peak: 5e-3, warmup: 0, floor: 0 },
    minibatches: 1,
    epochs: 1,
    dropZero: true,
  },
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 1,
  maxMinutes: null,
  configHash: 'hash',
  monitors: monitorsSchema.parse({ window: 5 }),
}

describe('a run that is paid for length', () => {
  it(
    'is seen for what it is while it goes on: length, cut responses, and the true rubric falling',
    async () => {
      const policy = await LocalPolicy.start(freshPackingModel(shape, 1), { threads: 1 })
      const run = RunFolder.create(join(folder, 'run'), { config: {}, steps: STEPS })
      const said: string[] = []
      try {
        const habits = supervisedStep(
          policy,
          step => Array.from({ length: 32 }, (_, i) => demonstration(world, step * 32 + i, 1, 0)),
          {
            steps: 120,
            optimizer: { ...optimizer, learningRate: { kind: 'constant', peak: 5e-3, warmup: 0, floor: 0 } },
          },
        )
        for (let step = 1; step <= 120; step++) await habits(step)
        await train(policy, paidForLength, run, settings, 0, { onMessage: text => said.push(text) })
      } finally {
        await policy.close()
        run.close()
      }
      const rows = readMetrics(run.dir)
      const lastReward = mean(rows.slice(-5).map(({ reward }) => reward!))
      const lastTruth = mean(rows.slice(-5).map(({ heldOut }) => heldOut!))
      expect(lastReward).toBeGreaterThan(rows[0].reward! + 0.3)
      expect(lastTruth).toBeLessThan(rows[0].heldOut! - 0.1)

      const warnings = readEvents(run.dir).filter(({ turn }) => turn === 'on')
      const names = warnings.map(({ monitor }) => monitor)
      expect(names).toEqual(expect.arrayContaining(['heldOutFalls', 'lengthDrift', 'truncation']))
      expect(said.length).toBeGreaterThanOrEqual(3)
      const drift = warnings.find(({ monitor }) => monitor === 'lengthDrift')!
      expect(drift.message).toMatch(/responses grew from .* longer ones are rewarded more/)
      for (const { monitor, step } of warnings) {
        const kept = readRollouts(run.dir).filter(row => row.monitor === monitor && row.step === step)
        expect(kept.length, monitor).toBeGreaterThan(0)
      }
      const report = readFileSync(writeReport(run.dir), 'utf8')
      expect(report).toContain('<h2>Warnings</h2>')
      expect(report).toContain('longer ones are rewarded more')
    },
    SLOW_MS,
  )
})
