import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import { grpoAdvantages } from '../../rl/advantages.ts'
import { lossPreset } from '../../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../../rl/rollout.ts'
import { readEvents, readMetrics, readRollouts } from '../../runs/readers.ts'
import { writeReport } from '../../runs/report/report.ts'
import { RunFolder } from '../../runs/run-folder.ts'
import {
  demonstration,
  PackingWorld,
  packingTask,
  splitTrips,
  type Trip,
} from '../../tasks/checklist/index.ts'
import { type ScoredResponse, scored } from '../../tasks/scored-response.ts'
import { modelShapeSchema } from '../../train/config.ts'
import { type LoopSettings, train } from '../../train/loop.ts'
import { monitorsSchema } from '../../train/monitors/config.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import { supervisedStep } from '../../train/supervised.ts'
import { mean } from '../../util/statistics.ts'
import { freshModel } from './word-models.ts'

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
const truth = scored(packingTask(world))
const trips = splitTrips().train

/** Packing, paid by the length of the list alone; the true rubrics are the held-out grader. */
const paidForLength: Recipe<Graded<Trip, ScoredResponse>[][]> = {
  rollOut: (step, io) =>
    io.rollOut({
      problems: Array.from({ length: 8 }, (_, i) => trips[(step * 8 + i) % trips.length]),
      prompt: trip => truth.prompt(trip),
      samples: 8,
      sampling: { maxTokens: MAX_TOKENS, temperature: 1 },
      grade: items => truth.grade(items.map(({ problem, rollout: { tokens } }) => ({ problem, tokens }))),
      last: true,
    }),
  learn: async (step, graded) => {
    const groups = graded.map(group =>
      group.map(item => ({ ...item, reward: item.rollout.tokens.length / MAX_TOKENS })),
    )
    const rewards_P_G = groups.map(group => group.map(({ reward }) => reward))
    const { advantages_P_G, zeroVarianceGroups } = grpoAdvantages(rewards_P_G, {})
    const credited = creditRollouts(groups, advantages_P_G)
    const loss = { ...lossPreset('gradus:ruscarl'), kl: { kind: 'none', coef: 0 } as const }
    const datums = datumsOf(credited, { dropZero: true })
    return {
      phases: [{ name: 'policy', datums, loss, temperature: 1, minibatches: 1, epochs: 1 }],
      metrics: { reward: mean(rewards_P_G.flat()), zeroVarianceGroups: zeroVarianceGroups / groups.length },
      rollouts: learntFrom(credited, ({ problem, reward, rollout: { prompt, tokens, sample, end } }) => ({
        step,
        problemId: truth.id(problem),
        sample,
        prompt: truth.show(prompt),
        response: truth.show(tokens),
        reward,
        tokens: tokens.length,
        finishReason: end,
      })),
      heldOut: Promise.resolve({ scores: groups.flat().map(({ grade }) => grade.score) }),
    }
  },
  evaluate: async () => [],
}

const settings: LoopSettings = {
  steps: STEPS,
  seed: 1,
  optimizer,
  learningRate: { kind: 'constant', peak: 5e-3, warmup: 0, floor: 0 },
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
      const policy = await LocalPolicy.start(freshModel('packing', shape, 1), { threads: 1 })
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
