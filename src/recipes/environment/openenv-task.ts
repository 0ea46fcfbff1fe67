/** @file Episodes of an OpenEnv server. */

import type { Grader } from '../../grade/grader.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { sharedRubric } from '../../tasks/conversation/rows.ts'
import { type OpenEnvProblem, openOpenEnv, turnFormatOf } from '../../tasks/openenv/index.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { spokenTurns } from '../../train/update-rows.ts'
import { largestOf } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { EnvironmentConfig, OpenEnvConfig } from './config.ts'
import { byEpisode } from './episodes.ts'

/** What settles how many episodes there are at a time. */
interface EpisodeCounts {
  rollout: Pick<EnvironmentConfig['rollout'], 'prompts' | 'samples'>
  evaluation: Pick<EnvironmentConfig['evaluation'], 'problems' | 'samples'>
}

/** Rollouts that are under way together. */
const togetherOf = ({ rollout, evaluation }: EpisodeCounts, test: number): number =>
  Math.max(rollout.prompts * rollout.samples, Math.min(evaluation.problems, test) * evaluation.samples)

const NOTHING: Rubric = { criteria: [] }

/** @throws ConfigError, DataError, ToolError, CheckpointError for a server, or a model, that cannot be used */
export const openEnvTask = async (
  config: EpisodeCounts,
  task: OpenEnvConfig,
  folder: string,
  grader: Grader,
): Promise<TaskWith<OpenEnvProblem, 'world' | 'close'>> => {
  const format = turnFormatOf(folder, task.format, task.maxObservationTokens)
  const rubric = sharedRubric(task) ?? NOTHING
  const { train, test, world, close } = await openOpenEnv(task, format, togetherOf(config, task.test))
  const longest = largestOf([...train, ...test].map(({ prompt }) => prompt.length))
  const room = format.maxPositions - longest
  if (room <= 0) {
    await close()
    throw new ConfigError(
      `task.prompt: expected prompts that leave room in a context of ${format.maxPositions}, got one of ${longest} tokens`,
      { hint: 'show less of an observation' },
    )
  }
  const read = (tokens: ArrayLike<number>) => format.read(tokens)
  return {
    ...{ train, tests: { 'unseen seeds': test }, label: 'environment', close },
    world: {
      environment: world,
      limits: { turns: task.maxTurns, tokens: Math.min(task.maxTokens, room) },
      outcome: key => world.take(key),
      pays: true,
    },
    stopTokens: format.stopTokens,
    id: ({ id }) => id,
    prompt: ({ prompt }) => prompt,
    question: ({ text }) => text,
    rubric: () => rubric,
    grade: byEpisode(grader, ({ problem, rollout }) => ({
      ...{ id: problem.id, prompt: [{ role: 'user', content: problem.text }] },
      response: transcript(rollout, read),
    })),
    show: tokens => format.show(tokens),
    gradeBatch: 1,
    notes:
      room < task.maxTokens
        ? [`episodes have at most ${room} tokens: the model's context is ${format.maxPositions}`]
        : [],
  }
}

/** One turn as it is, several with who spoke. */
const transcript = (rollout: Rollout, read: (tokens: ArrayLike<number>) => string): string => {
  const spoken = spokenTurns(rollout, tokens => read(tokens))
  return spoken.length === 1
    ? spoken[0].text
    : spoken.map(({ by, text }) => `${by}: ${text.trim()}`).join('\n')
}
