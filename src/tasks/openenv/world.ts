/** @file The world of an OpenEnv server: a session a rollout; turns become actions, observations what is said to the next turn. */

import type { TokenIds } from '../../rl/datum.ts'
import {
  type OpenEnvClient,
  OpenEnvError,
  type OpenEnvSession,
  REFUSED_ACTION,
  type StepResult,
} from '../../tools/index.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { DataError } from '../../util/errors.ts'
import type { CheckArguments } from '../research/tool-schema.ts'
import type { EpisodeOutcome } from '../task.ts'
import type { OpenEnvTaskSettings } from './settings.ts'
import type { TurnFormat } from './turn-format.ts'
import { type Action, ActionFault, actionOf, fillTemplate } from './words.ts'

/** An episode as it begins: the same for every rollout of a group. */
export interface OpenEnvProblem {
  id: string
  reset: Readonly<Record<string, unknown>>
  /** The first observation. */
  first: Readonly<Record<string, unknown>>
  /** As the policy is shown it, in words and in tokens. */
  text: string
  prompt: TokenIds
}

export interface WorldOptions {
  client: Pick<OpenEnvClient, 'start'>
  settings: Pick<OpenEnvTaskSettings, 'prompt' | 'observation' | 'action' | 'maxObservationTokens'>
  format: TurnFormat
  /** Says what is wrong with an action, before it is sent; absent: the environment says it. */
  check?: CheckArguments
}

/** Characters that an observation of so many tokens may have, before it is cut by tokens. */
const CHARS_PER_TOKEN = 8

/** An observation in the words that the policy is shown. */
export const describeObservation = (
  { prompt, observation, maxObservationTokens }: WorldOptions['settings'],
  value: Readonly<Record<string, unknown>>,
  first: boolean,
): string =>
  fillTemplate(first ? prompt : (observation ?? prompt), value, CHARS_PER_TOKEN * maxObservationTokens)

/** One rollout's episode; fits `Episode` of the layer of training. */
export class OpenEnvEpisode {
  readonly outcome = { rewards: [] as (number | null)[], done: false, faults: 0 }
  readonly #options: WorldOptions
  readonly #quit = new AbortController()
  readonly #session: Promise<OpenEnvSession>

  constructor(problem: OpenEnvProblem, options: WorldOptions) {
    this.#options = options
    this.#session = this.#start(problem)
    // Told by the first reply; the turn before it may take long.
    this.#session.catch(() => {})
  }

  async #start({ reset, first, id }: OpenEnvProblem): Promise<OpenEnvSession> {
    const started = await this.#options.client.start(reset, this.#quit.signal)
    if (canonicalJson(started.first.observation) === canonicalJson(first)) return started.session
    started.session.close()
    throw new DataError(
      `${id}: expected the observation of before after a reset by the same seed, got another`,
      {
        hint: 'rollouts of a group begin alike: the environment has to go by its seed',
      },
    )
  }

  /** @throws ToolError, DataError: what is the server's fault ends the rollout, without a reward */
  async reply(turn: Int32Array): Promise<TokenIds | null> {
    const { format, settings } = this.#options
    const session = await this.#session
    let result: StepResult
    try {
      result = await session.step(this.#actionOf(format.read(turn)), this.#quit.signal)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === null) throw error
      this.outcome.faults++
      return format.say(`The environment refused this turn: ${refusal}`, turn)
    }
    const { observation, reward, done } = result
    this.outcome.rewards.push(reward)
    this.outcome.done = done
    return done ? null : format.say(describeObservation(settings, observation, false), turn)
  }

  #actionOf(text: string): Action {
    const { settings, check } = this.#options
    const action = actionOf(text, settings.action)
    const fault = check?.(action) ?? null
    if (fault !== null) throw new ActionFault(`${fault}.`)
    return action
  }

  close(): void {
    this.#quit.abort()
    this.#session.then(
      session => session.close(),
      () => {},
    )
  }
}

/** What the policy can answer for; null for failures of the server. */
const refusalOf = (error: unknown): string | null => {
  if (error instanceof ActionFault) return error.message
  return error instanceof OpenEnvError && error.code === REFUSED_ACTION
    ? 'it does not fit the schema of its actions.'
    : null
}

/** Fits `Environment` of the layer of training. */
export class OpenEnvWorld {
  readonly #options: WorldOptions
  readonly #episodes = new Map<string, OpenEnvEpisode>()

  constructor(options: WorldOptions) {
    this.#options = options
  }

  start(problem: OpenEnvProblem, key: string): OpenEnvEpisode {
    const episode = new OpenEnvEpisode(problem, this.#options)
    this.#episodes.set(key, episode)
    return episode
  }

  /** What became of a rollout; told once. */
  take(key: string): EpisodeOutcome | null {
    const episode = this.#episodes.get(key)
    this.#episodes.delete(key)
    return episode?.outcome ?? null
  }
}
