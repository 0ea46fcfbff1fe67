/** @file Runs of rlcer that are measured and thrown away. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChatModel } from '../chat/chat-model.ts'
import { type RlcerConfig, rlcerSchema } from '../recipes/rlcer/config.ts'
import { rlcerPresets } from '../recipes/rlcer/presets.ts'
import { runRlcer } from '../recipes/rlcer/run.ts'
import type { MetricsRow } from '../runs/rows.ts'
import { median } from '../util/statistics.ts'

export const DEFAULTS = {
  questions: 16,
  samples: 8,
  criteria: 10,
  latencyMs: 50,
  slots: 64,
  steps: 4,
  rounds: 3,
  threads: 2,
  folder: 'package:models/arithmetic-start',
  constrained: false,
}

export type RlcerBenchSettings = typeof DEFAULTS

/** The preset `quick` without what is not training. */
export const configOf = (
  { questions, samples, steps, threads, folder, constrained }: RlcerBenchSettings,
  changes: Partial<Record<keyof RlcerConfig, unknown>>,
): RlcerConfig =>
  rlcerSchema.parse({
    ...rlcerPresets.quick.config,
    model: { folder },
    policy: { threads },
    rubricator: { ...(rlcerPresets.quick.config.rubricator as object), constrained },
    rollout: { ...(rlcerPresets.quick.config.rollout as object), prompts: questions, samples },
    evaluation: { problems: 1, hinted: false, rubrics: 0 },
    monitors: null,
    steps,
    ...changes,
  })

export interface MeasuredParts {
  verifierModel?: ChatModel
  onStep?(row: MetricsRow): void
}

/** Rows of all steps but the first, which warms up. */
export const warmRows = async (
  config: RlcerConfig,
  { verifierModel, onStep }: MeasuredParts = {},
): Promise<MetricsRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-rlcer-'))
  const rows: MetricsRow[] = []
  const events = {
    onStep: (row: MetricsRow) => {
      rows.push(row)
      onStep?.(row)
    },
  }
  try {
    await runRlcer(config, { dir: join(folder, 'run'), resume: false, events }, { verifierModel })
    return rows.slice(1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Median over rows, seconds. */
export const timeOf = (rows: readonly MetricsRow[], name: string): number =>
  median(rows.map(({ time }) => time?.[name] ?? 0))
