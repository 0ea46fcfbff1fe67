/** @file The grpo recipe as the command line knows it: rubric rewards on rows of one's own, by GRPO, without a scaffold. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { RecipeEntry, RunOptions, RunResult } from '../common/recipe.ts'
import type { RuscarlRunParts } from '../ruscarl/check.ts'
import { planRuscarl } from '../ruscarl/plan.ts'
import { asRuscarl, type GrpoConfig, grpoSchema } from './config.ts'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of the configured ones: judges, or a task of one's own
 * @throws as `runRuscarl`
 * @example
 * const { arithmetic } = await import('gradus/tasks')
 * const [train, unseen] = ['mine', 'test'].map(seed => [0, 1].map(i => arithmetic.arithmeticProblem(seed, i)))
 * const task = arithmetic.arithmeticTask({ train, tests: { unseen } })
 * const rollout = { prompts: 2, samples: 2, maxTokens: 8 }
 * const config = grpo.schema.parse({ steps: 1, model: { folder: 'package:models/arithmetic-start' }, rollout })
 * const { finished } = await runGrpo(config, { dir: 'runs/sums' }, { task })
 * finished // true
 */
export const runGrpo = async (
  config: GrpoConfig,
  options: RunOptions,
  parts: RuscarlRunParts = {},
): Promise<RunResult> =>
  (await import('../ruscarl/run.ts')).runRuscarl(asRuscarl(config), options, { ...parts, written: config })

export const grpoEntry: RecipeEntry<GrpoConfig> = withDataFiles(
  {
    name: 'grpo',
    summary: 'your own prompts and rubrics, rewards by criterion, GRPO (no scaffold)',
    schema: grpoSchema,
    presets: {
      own: {
        summary: 'rows.jsonl in this folder, and the small chat model that ships',
        config: {
          model: { folder: 'package:models/chat-start' },
          task: { file: 'rows.jsonl', holdOut: 16 },
        },
      },
    },
    plan: config => planRuscarl(asRuscarl(config)),
    run: runGrpo,
  },
  taskFiles,
)
