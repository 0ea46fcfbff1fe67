import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readMetrics, withoutTimings } from '../../runs/readers.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import { logicPhaseSchema, phaseConfig } from './config.ts'
import { runSftRecipe } from './run.ts'

const SLOW_MS = 120_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-waiting-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Short problems until the loss has fallen, then long ones: which of them a step has shows in its tokens. */
const configOf = (loss: number) =>
  logicPhaseSchema.parse({
    steps: 12,
    batch: 4,
    model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 256 } },
    policy: { threads: 1, spinning: false },
    task: {
      tests: { hops: [1], greedy: 'only' },
      curriculum: {
        kind: 'custom',
        sources: [
          { hops: 1, recite: 1 },
          { hops: 5, style: 'real' },
        ],
        keyframes: [
          { at: 0, weights: [1, 0], until: { loss, window: 2, atMost: 0.75 } },
          { at: 0.001, weights: [0, 1] },
        ],
      },
    },
    optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
    evaluation: { problems: 1, maxTokens: 8 },
    checkpoint: { every: 1, keepLast: 1 },
  })

const train = async (name: string, loss: number, stops: readonly number[] = []) => {
  for (const [nth, stop] of [...stops, 100].entries()) {
    const events = { shouldStop: () => readMetrics(join(folder, name)).length >= stop }
    await runSftRecipe(phaseConfig(configOf(loss)), { dir: join(folder, name), resume: nth > 0, events })
  }
  return readMetrics(join(folder, name)).map(withoutTimings)
}

const longSteps = (rows: readonly Omit<MetricsRow, 'time'>[]) =>
  rows.filter(({ tokens }) => Number(tokens) > 4 * 100).map(({ step }) => Number(step))

describe('a keyframe that waits', () => {
  it(
    'is left when the loss is below its bound, or where it must be; a stopped training finds it as it was',
    async () => {
      // Any loss will do: two steps of the window, one at the keyframe, then on. None will: nine of twelve steps, and one.
      const easy = longSteps(await train('easy', 1e3))
      expect(easy[0]).toBe(4)
      const hard = await train('hard', 1e-9)
      expect(longSteps(hard)[0]).toBe(11)
      const losses = hard.slice(0, 8).map(({ loss }) => loss!)
      const means = losses.slice(1).map((loss, i) => (loss + losses[i]) / 2)
      const lowest = means.indexOf(Math.min(...means))
      expect(lowest).toBeGreaterThan(0)
      const bound = means[lowest] + 1e-9
      const whole = await train('whole', bound)
      const [first] = longSteps(whole)
      expect(first).toBe(lowest + 4)
      expect(await train('stopped', bound, [1, first - 2, first + 1])).toEqual(whole)
    },
    SLOW_MS,
  )
})
