/** @file An OpenEnv server as a task: its episodes by seed, looked at once before anything is learnt. */

import { OpenEnvClient, type OpenEnvRuntime } from '../../tools/index.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError, GradusError } from '../../util/errors.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { argumentsCheck, type CheckArguments } from '../research/tool-schema.ts'
import type { OpenEnvTaskSettings } from './settings.ts'
import type { TurnFormat } from './turn-format.ts'
import { assertPlaces } from './words.ts'
import { describeObservation, type OpenEnvProblem, OpenEnvWorld } from './world.ts'

export interface OpenEnvTask {
  train: OpenEnvProblem[]
  test: OpenEnvProblem[]
  world: OpenEnvWorld
  close(): Promise<void>
}

/** Sessions that are looked at together. */
const TOGETHER = 4

/**
 * Opens the episodes of a task: every seed is reset once for its prompt.
 * @param sessions rollouts that are under way together, as many as the server must have room for
 * @throws ConfigError for an environment that does not go by its seed, has no room, or is over when it begins; DataError for
 * templates that say nothing of its observations; ToolError for a server that cannot be reached
 */
export const openOpenEnv = async (
  settings: OpenEnvTaskSettings,
  format: TurnFormat,
  sessions: number,
  runtime?: OpenEnvRuntime,
): Promise<OpenEnvTask> => {
  const client = new OpenEnvClient(settings, runtime)
  try {
    const { train, test, firstSeed } = settings
    const check = await actionCheck(client)
    await assertRoom(client, { ...settings.reset, seed: firstSeed }, sessions)
    const problems: OpenEnvProblem[] = []
    const seeds = Array.from({ length: train + test }, (_, i) => firstSeed + i)
    const opened = mapInOrder(seeds, seed => openProblem(client, settings, format, seed), {
      concurrency: Math.min(TOGETHER, sessions),
    })
    for await (const problem of opened) problems.push(problem)
    await assertSeeded(client, problems[0])
    return {
      train: problems.slice(0, train),
      test: problems.slice(train),
      world: new OpenEnvWorld({ client, settings, format, ...(check && { check }) }),
      close: () => client.close(),
    }
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The schema is a stranger's: one that cannot be used checks nothing, and the server says what it refuses. */
const actionCheck = async (client: OpenEnvClient): Promise<CheckArguments | null> => {
  const { action } = await client.schemas()
  try {
    return argumentsCheck('openenv', action)
  } catch (error) {
    if (error instanceof GradusError) return null
    throw error
  }
}

const openProblem = async (
  client: OpenEnvClient,
  settings: OpenEnvTaskSettings,
  format: TurnFormat,
  seed: number,
): Promise<OpenEnvProblem> => {
  const reset = { ...settings.reset, seed }
  const { session, first } = await client.start(reset)
  session.close()
  const id = `seed ${seed}`
  if (first.done)
    throw new ConfigError(`task.url: expected episodes to act in, got one that is over at its start (${id})`)
  assertPlaces(settings.prompt, first.observation, 'task.prompt')
  const text = describeObservation(settings, first.observation, true)
  return { id, reset, first: first.observation, text, prompt: format.prompt(text) }
}

/** Rollouts of a problem have one prompt: they begin alike. */
const assertSeeded = async (client: OpenEnvClient, { reset, first, id }: OpenEnvProblem): Promise<void> => {
  const again = await client.start(reset)
  again.session.close()
  if (canonicalJson(again.first.observation) === canonicalJson(first)) return
  throw new ConfigError(
    `task.url: expected the same observation after a reset by the same seed, got another (${id})`,
    { hint: 'have reset(seed) draw everything from its seed: the rollouts of a group begin alike' },
  )
}

/** Every rollout has a session of its own, all at the same time. */
const assertRoom = async (
  client: OpenEnvClient,
  reset: OpenEnvProblem['reset'],
  sessions: number,
): Promise<void> => {
  const opened = await Promise.allSettled(Array.from({ length: sessions }, () => client.start(reset)))
  for (const one of opened) if (one.status === 'fulfilled') one.value.session.close()
  const refused = opened.filter(one => one.status === 'rejected')
  if (refused.length === 0) return
  throw new ConfigError(
    `task.url: expected room for ${sessions} sessions at a time, one a rollout, got ${sessions - refused.length}: ${(refused[0].reason as Error).message}`,
  )
}
