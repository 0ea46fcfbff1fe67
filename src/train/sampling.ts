/** @file Rollouts as a policy draws them: one turn, or several with an environment's words between them. */

import type { NextTurn, Policy, Sample, SamplingOptions } from '../policy/policy.ts'
import type { TokenIds, TokenSpan } from '../rl/datum.ts'
import type { Environment, Episode, TurnLimits } from '../rl/environment.ts'
import type { Rollout, RolloutEnd } from '../rl/rollout.ts'
import { DataError } from '../util/errors.ts'

/** What of a policy is asked. */
export type SamplingPolicy = Pick<Policy, 'sample' | 'score' | 'converse'>

/** A rollout that is to be drawn: all that is known of it before. */
export type PlannedRollout<Problem> = Pick<
  Rollout,
  'key' | 'role' | 'group' | 'sample' | 'prompt' | 'sampledFrom'
> & {
  problem: Problem
}

/** What drawing adds to a place. */
export type Continuation = Pick<
  Rollout,
  'tokens' | 'mask' | 'logprobs' | 'turns' | 'end' | 'failure' | 'version'
>

export interface DrawOptions<Problem> {
  /** `maxTokens` is that of a turn. */
  sampling: Omit<SamplingOptions, 'seed'>
  /** Samples of a problem; those of one problem are beside each other. */
  samples: number
  /** Names the random streams: seed, number of the prompt, sample. */
  seed: string
  /** Absent: one turn. */
  environment?: { world: Environment<Problem>; limits: TurnLimits }
}

/** Called as soon as a rollout is finished; the others may still be on their way. */
export type OnResponse = (index: number, response: Continuation) => void

/**
 * Draws a response for every place. Turns are the policy's business where it can keep what it computed of a rollout between them;
 * else they go in rounds: all episodes that wait for the policy are sampled together. Each turn has a random stream of its own,
 * so that neither batching nor the order in which they finish changes what is drawn.
 * @returns in the order of the places
 */
export const drawResponses = async <Problem>(
  policy: SamplingPolicy,
  places: readonly PlannedRollout<Problem>[],
  options: DrawOptions<Problem>,
  onResponse: OnResponse,
): Promise<Continuation[]> => {
  const responses = new Array<Continuation>(places.length)
  const finish: OnResponse = (index, response) => {
    responses[index] = response
    onResponse(index, response)
  }
  const { environment } = options
  if (!environment) {
    await firstTurns(policy, places, options, (index, sample) => finish(index, oneTurn(sample)))
    return responses
  }
  const { world, limits } = environment
  let waiting = places.map(
    ({ problem, key, prompt, sampledFrom }, index) =>
      new Growing({
        ...{ key, limits, prompt: sampledFrom ?? prompt },
        start: () => world.start(problem, key),
        finish: response => finish(index, response),
      }),
  )
  if (policy.converse) {
    await converse(policy.converse.bind(policy), places, waiting, options, world.instant ?? false)
    return responses
  }
  for (let turn = 1; waiting.length > 0; turn++) {
    const replies: Promise<unknown>[] = []
    const now = waiting
    const take = (i: number, sample: Sample) => {
      replies.push(now[i].take(sample))
    }
    if (turn === 1) await firstTurns(policy, places, withinLimits(options, limits), take)
    else await furtherTurns(policy, now, options, take)
    await Promise.all(replies)
    waiting = now.filter(({ over }) => !over)
  }
  return responses
}

/** All turns in one call, which is told what follows each of them. */
const converse = async <Problem>(
  call: NonNullable<Policy['converse']>,
  places: readonly PlannedRollout<Problem>[],
  episodes: readonly Growing[],
  { sampling, samples, seed }: DrawOptions<Problem>,
  instant: boolean,
): Promise<void> => {
  const isShown = places.some(({ sampledFrom }) => sampledFrom !== undefined)
  // The streams that `firstTurns` names by a prompt's number and a sample's index.
  const streamOf = (i: number) =>
    isShown ? `${seed}/${i}/0` : `${seed}/${Math.floor(i / samples)}/${i % samples}`
  const { maxTokens, ...options } = sampling
  const rows = episodes.map((episode, i) => ({
    ...{ prompt: episode.context(), stream: streamOf(i) },
    maxTokens: Math.min(maxTokens, episode.room),
  }))
  await call({ ...options, rows, instant }, async (row, turn): Promise<NextTurn | null> => {
    const episode = episodes[row]
    const said = await episode.take(turn)
    if (said === null) return null
    return {
      ...{ tokens: said, maxTokens: Math.min(maxTokens, episode.room) },
      stream: `${turnSeed(episode)}/0`,
    }
  })
}

/** Names the stream of the turn that an episode is to take next. */
const turnSeed = ({ key, taken }: Growing): string => `${key}/turn ${taken + 1}`

/** A first turn is asked for no more tokens than the whole rollout may have. */
const withinLimits = <Problem>(
  options: DrawOptions<Problem>,
  { tokens }: TurnLimits,
): DrawOptions<Problem> => ({
  ...options,
  sampling: { ...options.sampling, maxTokens: Math.min(options.sampling.maxTokens, tokens) },
})

const oneTurn = ({ tokens, logprobs, finishReason, version }: Sample): Continuation => ({
  tokens,
  mask: new Uint8Array(tokens.length).fill(1),
  logprobs,
  turns: [{ start: 0, end: tokens.length }],
  end: finishReason,
  ...(version !== undefined && { version }),
})

/** A group's prompt is computed once where all of it have the same. */
const firstTurns = async <Problem>(
  policy: SamplingPolicy,
  places: readonly PlannedRollout<Problem>[],
  { sampling, samples, seed }: DrawOptions<Problem>,
  onSample: (index: number, sample: Sample) => void,
): Promise<void> => {
  if (places.length === 0) return
  const request = { ...sampling, seed }
  if (places.some(({ sampledFrom }) => sampledFrom !== undefined)) {
    const prompts = places.map(({ prompt, sampledFrom }) => sampledFrom ?? prompt)
    await policy.sample({ ...request, prompts, samplesPerPrompt: 1 }, sample =>
      onSample(sample.prompt, sample),
    )
    return
  }
  const prompts = places.flatMap(({ prompt, sample }) => (sample === 0 ? [prompt] : []))
  await policy.sample({ ...request, prompts, samplesPerPrompt: samples }, sample =>
    onSample(sample.prompt * samples + sample.index, sample),
  )
}

/**
 * One call for those that have the same room, nearly always all of them: near the end of its tokens an episode is not asked for
 * more than it may have, which the policy's context need not hold.
 */
const furtherTurns = async (
  policy: SamplingPolicy,
  episodes: readonly Growing[],
  { sampling }: Pick<DrawOptions<unknown>, 'sampling'>,
  onSample: (index: number, sample: Sample) => void,
): Promise<void> => {
  const rooms = episodes.map(({ room }) => Math.min(sampling.maxTokens, room))
  for (const maxTokens of new Set(rooms)) {
    const own = [...episodes.keys()].filter(i => rooms[i] === maxTokens)
    await policy.sample(
      {
        ...sampling,
        maxTokens,
        prompts: own.map(i => episodes[i].context()),
        samplesPerPrompt: 1,
        promptSeeds: own.map(i => turnSeed(episodes[i])),
      },
      sample => onSample(own[sample.prompt], sample),
    )
  }
}

/** @throws DataError for anything else: an environment is code of others, and what it says becomes part of a prompt */
const tokensOrNull = (reply: unknown): TokenIds | null => {
  const isToken = (id: unknown) => typeof id === 'number' && Number.isInteger(id) && id >= 0
  const isList = Array.isArray(reply) || reply instanceof Int32Array
  if (reply === null || (isList && Array.from<unknown>(reply).every(isToken))) return reply as TokenIds | null
  const got = isList ? 'a list of other things' : typeof reply
  throw new DataError(`reply of the environment: expected token ids, or null at its end, got ${got}`)
}

/** What a rollout of several turns begins with. */
interface Seed {
  key: string
  prompt: TokenIds
  limits: TurnLimits
  start(): Episode
  finish(response: Continuation): void
}

/** A rollout of several turns on its way. */
class Growing {
  over = false
  readonly #seed: Seed
  #episode: Episode | null = null
  readonly #tokens: number[] = []
  readonly #mask: number[] = []
  readonly #logprobs: number[] = []
  readonly #turns: TokenSpan[] = []
  #version: number | undefined

  constructor(seed: Seed) {
    this.#seed = seed
  }

  get key(): string {
    return this.#seed.key
  }

  /** The prompt and all that was said since. */
  context(): number[] {
    return [...this.#seed.prompt, ...this.#tokens]
  }

  /** Tokens that it may still have. */
  get room(): number {
    return this.#seed.limits.tokens - this.#tokens.length
  }

  /** Turns that the policy has taken. */
  get taken(): number {
    return this.#turns.length
  }

  /** Takes in a turn, and what the environment says to it, which it returns; null at the end of the rollout. */
  async take({ tokens, logprobs, finishReason, version }: Sample): Promise<number[] | null> {
    const start = this.#tokens.length
    if (version !== undefined) this.#version = Math.min(this.#version ?? version, version)
    const turn = tokens.slice(0, this.room)
    this.#add(turn, 1, logprobs)
    this.#turns.push({ start, end: this.#tokens.length })
    let end: RolloutEnd | null
    let failure: string | undefined
    try {
      this.#episode ??= this.#seed.start()
      const cut = finishReason === 'length' || turn.length < tokens.length
      end = cut ? 'length' : this.#hear(tokensOrNull(await this.#episode.reply(turn)))
    } catch (error) {
      end = 'failed'
      failure = error instanceof Error ? error.message : String(error)
    }
    if (end === null) return this.#tokens.slice(start + turn.length)
    // What goes wrong in letting go says nothing about the rollout.
    await (async () => this.#episode?.close?.())().catch(() => {})
    this.#end(end, failure)
    return null
  }

  /** Takes in what the environment says; how the rollout ends, if it does. */
  #hear(reply: TokenIds | null): RolloutEnd | null {
    if (reply === null) return 'over'
    if (this.#turns.length >= this.#seed.limits.turns) return 'turns'
    // A reply that leaves no room for another turn teaches nothing.
    if (this.#tokens.length + reply.length >= this.#seed.limits.tokens) return 'length'
    this.#add(reply, 0)
    return null
  }

  #add(tokens: TokenIds, mask: 0 | 1, logprobs?: ArrayLike<number>): void {
    for (let t = 0; t < tokens.length; t++) {
      this.#tokens.push(tokens[t])
      this.#mask.push(mask)
      this.#logprobs.push(logprobs?.[t] ?? 0)
    }
  }

  #end(end: RolloutEnd, failure?: string): void {
    this.over = true
    this.#seed.finish({
      tokens: Int32Array.from(this.#tokens),
      mask: Uint8Array.from(this.#mask),
      logprobs: Float32Array.from(this.#logprobs),
      turns: this.#turns,
      end,
      ...(failure !== undefined && { failure }),
      ...(this.#version !== undefined && { version: this.#version }),
    })
  }
}
