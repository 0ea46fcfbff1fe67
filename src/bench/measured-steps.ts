/** @file Steps of the training loop that are measured and thrown away. */

import { join } from 'node:path'
import type { Policy } from '../policy/policy.ts'
import { readMetrics } from '../runs/readers.ts'
import { RunFolder } from '../runs/run-folder.ts'
import { type LoopSettings, type Pipeline, train } from '../train/loop.ts'
import type { Recipe } from '../train/recipe.ts'
import { median } from '../util/statistics.ts'
import { inTemporaryFolder } from './server-process.ts'

/** Median seconds between the ends of one step and the next, and of what is timed inside the steps. */
export interface MeasuredSteps {
  stepS: number
  timeS(name: string): number
  /** Nats between a token's log-prob at sampling and at training, mean over a step's tokens. */
  logprobGap: number
}

/** Steps at the end that sample nothing ahead of them: one that is not measured at least, for each way to be measured alike. */
const lastSteps = (pipeline: Pipeline = false): number => Math.max(1, Number(pipeline))

/** The loop without anything but its steps; so small a step of the optimiser that every run samples the same lengths. */
export const measuredLoop = (steps: number, pipeline: Pipeline): LoopSettings => ({
  // The first step and the last ones are not measured: nothing is sampled ahead of it, or by them.
  steps: steps + 1 + lastSteps(pipeline),
  seed: 'overlap',
  optimizer: { beta2: 0.95 },
  learningRate: { kind: 'constant', peak: 1e-9, warmup: 0, floor: 0 },
  pipeline,
  monitors: null,
  evalEvery: 0,
  checkpointEvery: 0,
  keepCheckpoints: 1,
  maxMinutes: null,
  configHash: 'bench',
})

/** Trains the steps of `measuredLoop`. */
export const measureSteps = <Rolled>(
  policy: Policy,
  recipe: Recipe<Rolled>,
  settings: LoopSettings,
): Promise<MeasuredSteps> =>
  inTemporaryFolder(async folder => {
    const run = RunFolder.create(join(folder, 'run'), { config: {} })
    const ends: number[] = []
    try {
      const onStep = () => ends.push(performance.now())
      await train(policy, recipe, run, settings, 0, { onStep })
      const last = -lastSteps(settings.pipeline)
      const gaps = ends.slice(1, last).map((end, i) => (end - ends[i]) / 1000)
      const rows = readMetrics(run.dir).slice(1, last)
      return {
        stepS: median(gaps),
        timeS: name => median(rows.map(({ time }) => time?.[name] ?? 0)),
        logprobGap: median(rows.map(({ logprobGapMean }) => logprobGapMean ?? 0)),
      }
    } finally {
      run.close()
    }
  })
