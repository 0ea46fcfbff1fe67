/** @file Trajectories that new rubrics are tried on: of a file, or attempts of the starting policy. */

import { z } from 'zod'
import { type StageAnchors, type StagedRollout, stagedRollout } from '../../grade/evolving/index.ts'
import type { Policy } from '../../policy/policy.ts'
import { parseTrajectory, STAGES } from '../../tasks/research/index.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { type AnchorRow, checkAnchors, openAnchors } from '../common/anchors.ts'
import { episodes } from '../common/answers.ts'
import { problemsOf } from '../common/problem-order.ts'
import { type RunMode, refuse } from '../common/refuse.ts'
import { samplingOf } from '../common/training.ts'
import type { RubricemConfig } from './config.ts'

const stagedSchema = z.object({
  key: z.string(),
  stages: z.tuple([z.string(), z.string(), z.string(), z.string()]),
  parts: z.array(z.object({ stage: z.literal([1, 2, 3, 4]).nullable(), text: z.string() })).optional(),
}) satisfies z.ZodType<StagedRollout>

const readStaged = (response: string, name: string): StagedRollout =>
  stagedRollout(name, response, parseTrajectory(response).stages)

/**
 * The rows of the file, where one is named that is there.
 * @throws ConfigError, DataError as `checkAnchors`; ConfigError for a stage that no good trajectory has, or no bad one: no rubric
 * of it could ever count
 */
export const checkStageAnchors = (config: RubricemConfig, purpose: RunMode): readonly AnchorRow[] => {
  const asked = { proposes: config.evolving.generate, madeUp: config.task.kind === 'records' }
  const rows = checkAnchors(config, asked, purpose)
  const read = rows.map(({ response, good }) => ({ good, staged: readStaged(response, '') }))
  for (const [k, stage] of STAGES.entries())
    for (const side of [true, false])
      if (rows.length > 0 && !read.some(({ good, staged }) => good === side && staged.stages[k] !== ''))
        refuse(
          `anchors.file: expected whole trajectories, good ones and bad ones, got none with good ${side} that has a stage ${stage}`,
          'give all that the agent wrote and was told, with its tags: `gradus verify stages` says how they are parted',
        )
  return rows
}

/** Anchors of a run: trajectories as its judge sees them. @param dir of the run */
export const openStageAnchors = <Problem>(
  config: RubricemConfig,
  dir: string,
  { task, policy }: { task: TaskWith<Problem, 'world' | 'stages'>; policy: Policy },
): Promise<StageAnchors<Problem> | undefined> =>
  openAnchors(config, dir, {
    ...{ task, problem: problemsOf(task, config.seed), shown: stagedSchema },
    read: (_, response, name) => readStaged(response, name),
    async answers(problems) {
      const { samples } = config.rollout
      const sampling = samplingOf(config, task.stopTokens)
      const rollouts_P = await episodes(policy, task, problems, { samples, sampling })
      return Promise.all(
        problems.map(async (problem, p) => {
          const rollouts = rollouts_P[p]
          const said = await scored(task).grade(
            rollouts.map(rollout => ({ problem, tokens: rollout.tokens, rollout })),
          )
          return rollouts.map((rollout, i) => ({
            response: task.show(rollout.tokens),
            shown: task.stages.read(rollout).staged,
            right:
              rollout.end === 'failed' || said[i].unjudged || said[i].score === null
                ? null
                : said[i].score! >= 1,
          }))
        }),
      )
    },
  })
