/** @file Runs distill: the frame of RuscaRL, whose rollouts see nothing of the rubric and are taught by a teacher that does. */

import type { RunOptions, RunResult } from '../common/recipe.ts'
import type { RuscarlRunParts } from '../ruscarl/check.ts'
import { runRuscarl } from '../ruscarl/run.ts'
import { checkDistill, isUnmeasured } from './check.ts'
import { type DistillConfig, ruscarlFrame } from './config.ts'
import { distill } from './recipe.ts'

/** Parts of a run in place of the configured ones. */
export type DistillRunParts = Omit<RuscarlRunParts, 'written' | 'method' | 'mayLackJudge'>

const NO_JUDGE =
  'no judge for criteria that no rule checks: distillation needs none, but the run is not evaluated; `gradus eval` measures its checkpoints'

/**
 * Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report.
 * @param parts in place of the configured ones: judges, or a task of one's own
 * @throws ConfigError for a task whose prompts show no rubric; as `runRuscarl`
 */
export const runDistill = async (
  config: DistillConfig,
  options: RunOptions,
  parts: DistillRunParts = {},
): Promise<RunResult> => {
  const { teacher, loss } = config
  const { events = {} } = options
  const { task, mayLackJudge, conversations } = checkDistill(config, 'run', parts.task)
  const unmeasured = mayLackJudge && isUnmeasured(config, conversations)
  if (unmeasured) (events.onWarning ?? events.onMessage)?.(NO_JUDGE)
  return runRuscarl(ruscarlFrame(config), options, {
    ...parts,
    ...(task && { task }),
    ...{ written: config, mayLackJudge },
    method: {
      rewardFormula: formulaOf(config),
      async recipe(own) {
        // A KL term has it frozen anyway. A resume loads its checkpoint after this.
        const isFrozen = loss.kl.kind !== 'none' && loss.kl.coef > 0
        if (teacher === 'start' && !isFrozen) await own.policy.freezeReference()
        return distill(config, unmeasured ? { ...own, evaluate: async () => [] } : own)
      },
    },
  })
}

const formulaOf = ({ rewards }: DistillConfig): string => {
  const taught =
    'The advantage of a token is its log-prob under the teacher, which is shown the rubric, less that under the policy, which is not; responses are not graded'
  return rewards === null
    ? `${taught}.`
    : `${taught} in the first ${rewards.after} steps. Afterwards the reward of a response is its score by the rubric.`
}
