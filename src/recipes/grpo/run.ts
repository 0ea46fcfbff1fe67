/** @file Runs grpo: RuscaRL that shows nothing of its rubrics. */

import type { RunOptions, RunResult } from '../common/recipe.ts'
import type { RuscarlRunParts } from '../ruscarl/check.ts'
import { runRuscarl } from '../ruscarl/run.ts'
import { asRuscarl, type GrpoConfig } from './config.ts'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of the configured ones: judges, or a task of one's own
 * @throws as `runRuscarl`
 */
export const runGrpo = (
  config: GrpoConfig,
  options: RunOptions,
  parts: RuscarlRunParts = {},
): Promise<RunResult> => runRuscarl(asRuscarl(config), options, { ...parts, written: config })
