/** @file A step's rollouts: sampled and graded side by side, named by their keys, journaled, as often as a recipe asks. */

import type { SamplingOptions } from '../policy/policy.ts'
import type { TokenIds } from '../rl/datum.ts'
import type { Environment, TurnLimits } from '../rl/environment.ts'
import type { Graded, RatioMode, Reward, Rollout } from '../rl/rollout.ts'
import { shortHash } from '../util/canonical.ts'
import { DataError, GradusError } from '../util/errors.ts'
import { GradingQueue, type ItemGrader } from './grading.ts'
import type { Journal, SampledRequest, SampledResponse } from './journal.ts'
import { drawResponses, type PlannedRollout, type SamplingPolicy } from './sampling.ts'

/** What a recipe asks for. */
export interface RollOutRequest<Problem, Grade> {
  /** Who acts. Default `policy`. */
  role?: string
  /** Further rollouts of a role in the same step: 1, 2, ... Default 0, the first ones. */
  round?: number
  problems: readonly Problem[]
  /** What rollouts of a problem are trained on. */
  prompt(problem: Problem): TokenIds
  /** What they are shown in place of that: [problem][sample]. Null or absent: the plain prompts. */
  sampledFrom?: readonly (readonly TokenIds[])[] | null
  /** For those: what their ratio compares. `plain`, the default, has the plain prompt's log-probs computed at once. */
  ratio?: RatioMode
  /** Rollouts of each problem. */
  samples: number
  sampling: Omit<SamplingOptions, 'seed'>
  /** What answers the policy's turns, and how far that goes; absent: one turn. */
  environment?: { world: Environment<Problem>; limits: TurnLimits }
  grade: ItemGrader<Problem, Grade>
  /** Finished rollouts that go to the grader together, at least. Default 64. */
  gradeBatch?: number
  /**
   * Called with a problem's rollouts as soon as all of them are sampled, before they are graded and while others still grow: what
   * is asked about them need not wait. Problems finish in any order, so nothing that is sampled may depend on it.
   */
  onGroup?(p: number, rollouts: readonly Rollout[]): void
  /** What is said of a problem's rollouts together, from when all of them are sampled on: a part of each one's grade. */
  gradeGroup?: GroupGrader<Problem, Grade>
  /** What a grade is worth. Absent: nothing yet; the recipe says so later, where it depends on more than one rollout. */
  reward?(grade: Grade, problem: Problem): Reward
  /**
   * The step samples nothing after this but what its grades make necessary, so that the next step's sampling may begin.
   * Without it that waits for all of the step's grading.
   */
  last?: boolean
}

/** Compares the rollouts of a problem; one part of a grade for each, in their order. */
export type GroupGrader<Problem, Grade> = (
  problem: Problem,
  rollouts: readonly Rollout[],
  step: number,
) => Promise<readonly Partial<Grade>[]>

/** What a recipe may ask for in a step. */
export interface StepIo {
  /**
   * Samples and grades a group for every problem, groups in the order of the problems.
   * @throws DataError for more or fewer grades than rollouts, or prompts than samples; what policy and grader throw
   */
  rollOut<Problem, Grade>(request: RollOutRequest<Problem, Grade>): Promise<Graded<Problem, Grade>[][]>
}

/** Seconds of wall time: sampling, grading beyond it, and grading at all. */
export interface RolloutTime {
  sample: number
  grade: number
  gradeBusy: number
}

export interface StepNames {
  seed: number | string
  step: number
}

const DEFAULT_BATCH = 64
const NOTHING_REWARDED: Reward = { reward: null, parts: {} }

/**
 * The rollouts of one step.
 * @example
 * const seven = { index: 0, tokens: Int32Array.of(7), logprobs: Float32Array.of(-0.1) }
 * const sevens = new StepRollouts({ score: async () => [], sample: async ({ prompts }, onSample) => {
 *   for (const prompt of prompts.keys()) onSample?.({ ...seven, prompt, finishReason: 'stop' })
 *   return []
 * } }, { seed: 1, step: 1 })
 * const groups = await sevens.rollOut({
 *   problems: [[3, 4], [2, 2]], prompt: problem => problem, samples: 1, sampling: { maxTokens: 1 },
 *   grade: async items => items.map(({ problem: [a, b], rollout }) => rollout.tokens[0] === a + b),
 *   reward: right => ({ reward: Number(right), parts: {} }),
 * })
 * groups.map(([{ reward }]) => reward) // [ 1, 0 ]
 */
export class StepRollouts implements StepIo {
  readonly time: RolloutTime = { sample: 0, grade: 0, gradeBusy: 0 }
  /** Everything that was drawn, what was given up included. */
  readonly drawn: Rollout[] = []
  /** Resolves when the policy is done with a request that said it was the last, and with those that were made before it. */
  readonly lastSampled: Promise<void>
  readonly #policy: SamplingPolicy
  readonly #names: StepNames
  readonly #known: Journal
  readonly #journal = new Map<string, SampledRequest>()
  #markSampled: () => void = () => {}
  #sawLast = false
  /** Requests that the policy is not done with. */
  #drawing = 0
  readonly #turn: Promise<void>
  /** Lets go what waits behind the last request: the step that samples ahead has its weights. */
  readonly open: () => void

  /** @param known what was sampled for this step before a resume */
  constructor(policy: SamplingPolicy, names: StepNames, known: Journal | null = null) {
    this.#policy = policy
    this.#names = names
    this.#known = known ?? new Map()
    this.lastSampled = new Promise(resolve => {
      this.#markSampled = resolve
    })
    let open = () => {}
    this.#turn = new Promise(resolve => {
      open = resolve
    })
    this.open = open
  }

  /** What has been sampled so far, for a checkpoint. */
  get journal(): Journal {
    return this.#journal
  }

  async rollOut<Problem, Grade>(
    request: RollOutRequest<Problem, Grade>,
  ): Promise<Graded<Problem, Grade>[][]> {
    // What comes after the last request would otherwise be sampled by weights that depend on how long grading took.
    if (this.#sawLast) await this.#turn
    if (request.last) this.#sawLast = true
    const places = this.#placesOf(request)
    const { step } = this.#names
    const queue = new GradingQueue(request.grade, request.gradeBatch ?? DEFAULT_BATCH)
    const { onGroup, graded: together } = gradingGroups(request, step)
    const startMs = performance.now()
    this.#drawing++
    const finished = onGroup && groupsWatch(request.samples, onGroup)
    const rollouts = await this.#draw(request, places, (place, rollout, i) => {
      queue.push({ problem: place.problem, rollout, step })
      finished?.(i, rollout)
    })
    this.drawn.push(...rollouts)
    this.#drawing--
    if (this.#sawLast && this.#drawing === 0) this.#markSampled()
    const sampledMs = performance.now()
    await queue.finish()
    const parts_P_G = await Promise.all(together)
    assertAlive(rollouts)
    this.time.sample += (sampledMs - startMs) / 1000
    this.time.grade += (performance.now() - sampledMs) / 1000
    this.time.gradeBusy += queue.busySeconds
    const { samples } = request
    const graded = rollouts.map((rollout, i): Graded<Problem, Grade> => {
      const { problem } = places[i]
      const part = parts_P_G[Math.floor(i / samples)]?.[i % samples]
      const own = queue.grades.get(rollout.key)!
      const grade = part ? { ...own, ...part } : own
      // Of one whose environment failed nothing is known, whatever its grader made of it.
      const paid = rollout.end === 'failed' ? null : request.reward?.(grade, problem)
      return { problem, rollout, grade, ...(paid ?? NOTHING_REWARDED) }
    })
    return request.problems.map((_, p) => graded.slice(p * samples, (p + 1) * samples))
  }

  /** `seed/step`, then the role unless it is the policy's own, then the round unless it is the first. */
  #seedOf({ role = 'policy', round = 0 }: Pick<RollOutRequest<unknown, unknown>, 'role' | 'round'>): string {
    const { seed, step } = this.#names
    const names = [seed, step, ...(role === 'policy' ? [] : [role]), ...(round > 0 ? [`round ${round}`] : [])]
    return names.join('/')
  }

  #placesOf<Problem, Grade>(request: RollOutRequest<Problem, Grade>): PlannedRollout<Problem>[] {
    const { role = 'policy', problems, prompt, sampledFrom, samples } = request
    const seed = this.#seedOf(request)
    return problems.flatMap((problem, p) => {
      const own = sampledFrom?.[p]
      if (own && own.length !== samples)
        throw new DataError(
          `sampling prompts: expected ${samples} for problem ${p}, one a sample, got ${own.length}`,
        )
      const plain = prompt(problem)
      const group = `${seed}/${p}`
      return Array.from({ length: samples }, (_, sample) => ({
        ...{ key: `${group}/${sample}`, role, group, sample, prompt: plain, problem },
        ...(own && { sampledFrom: own[sample] }),
      }))
    })
  }

  async #draw<Problem, Grade>(
    request: RollOutRequest<Problem, Grade>,
    places: readonly PlannedRollout<Problem>[],
    onRollout: (place: PlannedRollout<Problem>, rollout: Rollout, i: number) => void,
  ): Promise<Rollout[]> {
    const seed = this.#seedOf(request)
    if (this.#journal.has(seed))
      throw new GradusError(
        `rollouts of ${seed}: expected one request, got a second one; give it a role or a round of its own`,
      )
    // Taken at once, so that two requests at a time cannot have the same name.
    const prompts = promptsHash(places)
    this.#journal.set(seed, { prompts, responses: [] })
    const rollouts = new Array<Rollout>(places.length)
    const take = (i: number, drawn: SampledResponse) => {
      const { problem: _, ...place } = places[i]
      rollouts[i] = { ...place, ...drawn }
      onRollout(places[i], rollouts[i], i)
    }
    const known = this.#known.get(seed)
    if (known) {
      const { responses } = known
      if (responses.length !== places.length)
        throw new DataError(
          `rollouts of seed ${seed}: expected ${places.length} that were sampled ahead, got ${responses.length}`,
        )
      if (known.prompts !== prompts)
        throw new DataError(
          `rollouts of seed ${seed}: expected the prompts that were sampled from before the stop, got others`,
          {
            hint: 'what a step rolls out must depend on seed, step and state alone; go on from an earlier checkpoint',
          },
        )
      for (const [i, drawn] of responses.entries()) take(i, drawn)
      this.#journal.set(seed, known)
      return rollouts
    }
    const responses = await drawResponses(this.#policy, places, { ...request, seed }, take)
    const old = await this.#plainLogprobs(request, rollouts)
    if (old)
      rollouts.forEach((rollout, i) => {
        rollout.oldLogprobs = old[i]
      })
    const sampled = responses.map((response, i) => ({ ...response, ...(old && { oldLogprobs: old[i] }) }))
    this.#journal.set(seed, { prompts, responses: sampled })
    return rollouts
  }

  /**
   * What the plain prompt gives to tokens that were sampled from another one, by the weights that sampled them; the others keep
   * the log-probs of sampling. Null where no ratio starts there.
   */
  async #plainLogprobs(
    request: Pick<RollOutRequest<never, never>, 'sampledFrom' | 'ratio' | 'sampling'>,
    rollouts: readonly Rollout[],
  ): Promise<Float32Array[] | null> {
    const { sampledFrom, ratio = 'plain' } = request
    if (!sampledFrom || ratio !== 'plain') return null
    const foreign = rollouts.filter(({ prompt, sampledFrom: shown }) => shown && !sameTokens(shown, prompt))
    const items = foreign.map(({ prompt, tokens }) => ({ promptTokens: prompt, tokens }))
    const { temperature } = request.sampling
    const scores =
      items.length > 0 ? await this.#policy.score(items, { temperature, weights: 'sampling' }) : []
    const scored = new Map(foreign.map((rollout, i) => [rollout, scores[i].logprobs]))
    return rollouts.map(rollout => scored.get(rollout) ?? rollout.logprobs)
  }
}

/** Who is told of whole groups, and what is said of them, by problem. */
const gradingGroups = <Problem, Grade>(
  { problems, onGroup, gradeGroup }: RollOutRequest<Problem, Grade>,
  step: number,
) => {
  const graded: Promise<readonly Partial<Grade>[]>[] = []
  if (!gradeGroup) return { onGroup, graded }
  const judge = (p: number, rollouts: readonly Rollout[]) => {
    onGroup?.(p, rollouts)
    graded[p] = gradeGroup(problems[p], rollouts, step)
    // What fails is logged by who waits for it; until then it must not count as unhandled.
    graded[p].catch(() => {})
  }
  return { onGroup: judge, graded }
}

/** Gathers finished rollouts by problem and says when a problem has all of its own. */
const groupsWatch = (samples: number, onGroup: (p: number, rollouts: readonly Rollout[]) => void) => {
  const groups = new Map<number, Rollout[]>()
  return (i: number, rollout: Rollout): void => {
    const p = Math.floor(i / samples)
    const group = groups.get(p) ?? []
    group.push(rollout)
    groups.set(p, group)
    if (group.length < samples) return
    groups.delete(p)
    onGroup(
      p,
      group.sort((a, b) => a.sample - b.sample),
    )
  }
}

/** @throws GradusError when the environment failed on everything: going on would train on nothing */
const assertAlive = (rollouts: readonly Rollout[]): void => {
  const [first] = rollouts
  if (first && rollouts.every(({ end }) => end === 'failed'))
    throw new GradusError(
      `environment: expected rollouts, got ${rollouts.length} that failed, every one of the step (${first.failure})`,
      { hint: 'see to the environment, then go on with --resume-or-start' },
    )
}

const promptsHash = (places: readonly PlannedRollout<unknown>[]): string =>
  shortHash(places.map(({ prompt, sampledFrom }) => Array.from(sampledFrom ?? prompt)))

const sameTokens = (a: TokenIds, b: TokenIds) =>
  a.length === b.length && Array.from(a).every((x, i) => x === b[i])
