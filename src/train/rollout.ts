/** @file Sampling and grading side by side: a finished sample goes to the graders while the others are still being sampled. */

import type { Policy, Sample, SamplingOptions } from '../policy/policy.ts'
import type { TokenIds } from '../rl/datum.ts'
import { DataError } from '../util/errors.ts'

/** A problem with its prompt, its samples and what the graders say of each. */
export interface Group<Problem, Grade> {
  problem: Problem
  /** What the policy is trained to answer. */
  promptTokens: TokenIds
  samples: Sample[]
  grades: Grade[]
  /** What each sample was drawn from, where that is not `promptTokens`. */
  sampledPrompts?: readonly TokenIds[]
  /** Log-probs of each sample's tokens that its ratio starts from, where they are not those of sampling. */
  oldLogprobs?: readonly Float32Array[]
}

export interface GradeItem<Problem> {
  problem: Problem
  sample: Sample
  /** Names the rollout in its run: seed, step, problem and sample. What is drawn for its grade starts from this. */
  key: string
}

/**
 * What the ratio of a rollout compares when it was sampled from another prompt (a scaffold) than the plain one (RuscaRL
 * appendix C.5; spec 4.3):
 * - `plain`: pi(o | plain) / pi_old(o | plain), the published choice; no true importance correction
 * - `true-is`: pi(o | plain) / pi_old(o | sampled)
 * - `sampled`: pi(o | sampled) / pi_old(o | sampled): the policy is trained on the prompt that it saw
 */
export type RatioMode = 'plain' | 'true-is' | 'sampled'

/** Prompts to sample from in place of the plain ones. */
export interface SampledPrompts {
  /** One a rollout: [problem][sample]. */
  prompts_P_G: readonly (readonly TokenIds[])[]
  ratio: RatioMode
}

/** One grade for every item, in their order. */
export type Grader<Problem, Grade> = (items: readonly GradeItem<Problem>[]) => Promise<Grade[]>

export interface RolloutSettings extends SamplingOptions {
  samplesPerPrompt: number
  /** Finished samples go to the grader in batches of at least this many. */
  gradeBatch?: number
}

/**
 * Seconds of wall time: sampling (with the log-probs on the plain prompt, where they are needed), and grading beyond it;
 * `gradeBusy` is the time during which grading was under way at all.
 */
export interface RolloutTime {
  sample: number
  grade: number
  gradeBusy: number
}

/** What a policy draws for a step. */
export interface Drawn {
  /** Groups together, in the order of the problems. */
  samples: Sample[]
  /** Log-probs that ratios start from, a sample each, where they are not those of sampling. */
  oldLogprobs: Float32Array[] | null
}

/** Rollouts under way. */
export interface RunningRollOut<Problem, Grade> {
  /** Resolves when the policy has nothing more to do for them; graders may. */
  sampled: Promise<Drawn>
  finished: Promise<{ groups: Group<Problem, Grade>[]; time: RolloutTime }>
}

const seconds = (fromMs: number, toMs = performance.now()) => (toMs - fromMs) / 1000

/** Collects finished samples and hands them on in batches; several batches may be under way. */
class GradingQueue<Problem, Grade> {
  /** By the rollout's key. */
  readonly grades = new Map<string, Grade>()
  readonly #grader: Grader<Problem, Grade>
  readonly #batch: number
  readonly #running: Promise<void>[] = []
  #waiting: GradeItem<Problem>[] = []
  #active = 0
  #activeSince = 0
  busySeconds = 0

  constructor(grader: Grader<Problem, Grade>, batch: number) {
    this.#grader = grader
    this.#batch = batch
  }

  push(item: GradeItem<Problem>): void {
    this.#waiting.push(item)
    if (this.#waiting.length >= this.#batch) this.#send()
  }

  async finish(): Promise<void> {
    this.#send()
    await Promise.all(this.#running)
  }

  #send(): void {
    const items = this.#waiting
    if (items.length === 0) return
    this.#waiting = []
    const run = this.#grade(items)
    // The failure is reported by `finish`; until then it must not count as unhandled.
    run.catch(() => {})
    this.#running.push(run)
  }

  async #grade(items: readonly GradeItem<Problem>[]): Promise<void> {
    if (this.#active++ === 0) this.#activeSince = performance.now()
    try {
      const grades = await this.#grader(items)
      if (grades.length !== items.length)
        throw new DataError(
          `grader: expected one grade for each of ${items.length} rollouts, got ${grades.length}; return a grade for every item, in their order`,
        )
      items.forEach(({ key }, i) => {
        this.grades.set(key, grades[i])
      })
    } finally {
      if (--this.#active === 0) this.busySeconds += seconds(this.#activeSince)
    }
  }
}

/**
 * Samples of all groups in order, each handed on as it is finished. A prompt that several share is computed once only where all
 * of a group do.
 */
const sampleGroups = async (
  policy: Policy,
  prompts: readonly TokenIds[],
  settings: RolloutSettings,
  sampledPrompts: SampledPrompts | null,
  onSample: (sample: Sample) => void,
): Promise<Sample[]> => {
  if (!sampledPrompts) return policy.sample({ ...settings, prompts }, onSample)
  const { samplesPerPrompt: group } = settings
  const own = sampledPrompts.prompts_P_G.flatMap((row, p) => {
    if (row.length === group) return row
    throw new DataError(
      `sampling prompts: expected ${group} for problem ${p}, one a sample, got ${row.length}`,
    )
  })
  const samples = new Array<Sample>(own.length)
  await policy.sample({ ...settings, prompts: own, samplesPerPrompt: 1 }, sample => {
    const placed = { ...sample, prompt: Math.floor(sample.prompt / group), index: sample.prompt % group }
    samples[sample.prompt] = placed
    onSample(placed)
  })
  return samples
}

const sameTokens = (a: TokenIds, b: TokenIds) =>
  a.length === b.length && Array.from(a).every((x, i) => x === b[i])

/**
 * What the plain prompt gives to tokens that were sampled from another one, by the weights that sampled them; the others keep
 * the log-probs of sampling.
 */
const plainLogprobs = async (
  policy: Policy,
  prompts: readonly TokenIds[],
  samples: readonly Sample[],
  { prompts_P_G }: SampledPrompts,
  temperature: number | undefined,
): Promise<Float32Array[]> => {
  const foreign = samples.filter(
    ({ prompt, index }) => !sameTokens(prompts_P_G[prompt][index], prompts[prompt]),
  )
  const items = foreign.map(({ prompt, tokens }) => ({ promptTokens: prompts[prompt], tokens }))
  const scores = items.length > 0 ? await policy.score(items, { temperature, weights: 'sampling' }) : []
  const scored = new Map(foreign.map((sample, i) => [sample, scores[i].logprobs]))
  return samples.map(sample => scored.get(sample) ?? sample.logprobs)
}

/**
 * Starts sampling a group for every problem and grading all of it. Groups keep the order of the problems. Old log-probs are
 * those of the policy as it was while it sampled, also where they are computed anew.
 * @param drawn what was sampled for it already: only grading is left to do
 * @throws DataError when the grader returns more or fewer grades than it was given items; what policy and grader throw.
 */
export const startRollOut = <Problem, Grade>(
  policy: Policy,
  problems: readonly Problem[],
  promptOf: (problem: Problem) => TokenIds,
  grader: Grader<Problem, Grade>,
  settings: RolloutSettings,
  sampledPrompts: SampledPrompts | null = null,
  drawn: Drawn | null = null,
): RunningRollOut<Problem, Grade> => {
  const prompts = problems.map(promptOf)
  const queue = new GradingQueue(grader, settings.gradeBatch ?? 64)
  const startMs = performance.now()
  const keyOf = ({ prompt, index }: Sample) => `${settings.seed}/${prompt}/${index}`
  const push = (sample: Sample) =>
    queue.push({ problem: problems[sample.prompt], sample, key: keyOf(sample) })
  const draw = async (): Promise<Drawn> => {
    const samples = await sampleGroups(policy, prompts, settings, sampledPrompts, push)
    const oldLogprobs =
      sampledPrompts?.ratio === 'plain'
        ? await plainLogprobs(policy, prompts, samples, sampledPrompts, settings.temperature)
        : null
    return { samples, oldLogprobs }
  }
  const restore = async ({ samples, oldLogprobs }: Drawn): Promise<Drawn> => {
    const expected = problems.length * settings.samplesPerPrompt
    if (samples.length !== expected)
      throw new DataError(
        `rollouts of seed ${settings.seed}: expected ${expected} that were sampled ahead, got ${samples.length}`,
      )
    samples.forEach(push)
    return { samples, oldLogprobs }
  }
  const sampled = drawn ? restore(drawn) : draw()
  const finish = async () => {
    const { samples, oldLogprobs } = await sampled
    const sampledMs = performance.now()
    await queue.finish()
    const groups = problems.map((problem, p): Group<Problem, Grade> => {
      const [start, end] = [p * settings.samplesPerPrompt, (p + 1) * settings.samplesPerPrompt]
      const own = samples.slice(start, end)
      return {
        problem,
        promptTokens: prompts[p],
        samples: own,
        grades: own.map(sample => queue.grades.get(keyOf(sample))!),
        ...(sampledPrompts && { sampledPrompts: sampledPrompts.prompts_P_G[p] }),
        ...(oldLogprobs && { oldLogprobs: oldLogprobs.slice(start, end) }),
      }
    })
    const time = {
      sample: seconds(startMs, sampledMs),
      grade: seconds(sampledMs),
      gradeBusy: queue.busySeconds,
    }
    return { groups, time }
  }
  const finished = finish()
  // Whoever awaits them is told of a failure; until then it must not count as unhandled.
  finished.catch(() => {})
  return { sampled, finished }
}

/** Samples and grades to the end; see `startRollOut`. */
export const rollOut = <Problem, Grade>(
  ...args: Parameters<typeof startRollOut<Problem, Grade>>
): RunningRollOut<Problem, Grade>['finished'] => startRollOut(...args).finished
