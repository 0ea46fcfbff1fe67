/** @file Episodes of an OpenEnv server. */

import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { sharedRubric } from '../../tasks/conversation/rows.ts'
import { type OpenEnvProblem, openOpenEnv, turnFormatOf } from '../../tasks/openenv/index.ts'
import { spokenTurns } from '../../train/lesson-rows.ts'
import { largestOf } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { EnvironmentConfig, OpenEnvConfig } from './config.ts'
import type { Kit } from './kit.ts'

/** Rollouts that are under way together. */
const togetherOf = ({ rollout, evaluation }: EnvironmentConfig, test: number): number =>
  Math.max(rollout.prompts * rollout.samples, Math.min(evaluation.problems, test) * evaluation.samples)

/** @throws ConfigError, DataError, ToolError, CheckpointError for a server, or a model, that cannot be used */
export const openEnvKit = async (
  config: EnvironmentConfig,
  task: OpenEnvConfig,
  folder: string,
): Promise<Kit<OpenEnvProblem>> => {
  const format = turnFormatOf(folder, task.format, task.maxObservationTokens)
  const rubric: Rubric | null = task.rubric === null ? null : sharedRubric({ rubric: task.rubric })
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
    ...{ train, test, testName: 'unseen seeds', world, close },
    limits: { turns: task.maxTurns, tokens: Math.min(task.maxTokens, room) },
    stopTokens: format.stopTokens,
    name: ({ id }) => id,
    prompt: ({ prompt }) => prompt,
    question: ({ text }) => text,
    rubric: () => rubric,
    response: rollout => transcript(rollout, read),
    show: tokens => format.show(tokens),
    outcome: key => world.take(key),
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
