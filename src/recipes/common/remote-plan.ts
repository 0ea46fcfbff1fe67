/** @file What a run asks of a server that trains its policy: tokens, requests, cost. Upper bounds; nobody is asked. */

import { namedLoss, PLAIN_SUMS } from '../../policy/tinker/losses.ts'
import type { TinkerSettings } from '../../policy/tinker/settings.ts'
import type { LossSpec } from '../../rl/loss.ts'
import { MAX_CHUNK_DATUMS } from '../../tinker/chunks.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import type { EvaluationSettings } from './evaluation-config.ts'

/** Samples that a step draws in one role. */
export interface RoleWork {
  /** Of the policy's part; `policy` where there is one. */
  name?: string
  /** Different prompts, and samples of each. */
  groups: number
  samples: number
  /** Of a prompt, and of a sample at most. */
  promptTokens: number
  newTokens: number
  /** Turns of a sample at most: each is a request of its own with all that was said before. Default 1. */
  turns?: number
  /** Steps that have this role; all where absent. */
  steps?: number
}

/** Of evaluations, as recipes have it. */
export type EvaluatedWork = Pick<EvaluationSettings, 'every' | 'problems'> &
  Partial<Pick<EvaluationSettings, 'samples' | 'problemsAtStart' | 'problemsBetween' | 'greedy'>> & {
    samplesBetween?: number
  }

export interface RemoteWork {
  /** Tokens at most; none where an inference server samples. */
  sampledTokens: number
  trainedTokens: number
  /** Read in prompts to sample from, and where log-probs alone are asked for. */
  prefillTokens: number
  /** Submitted at least; asking for results comes on top. */
  requests: number
  /** In the currency of the prices; null without them. */
  cost: number | null
}

interface Tokens {
  sampled: number
  prefill: number
  requests: number
}

const MILLION = 1e6

/** Prompts and samples in all evaluations: the start, the end, and those between. */
export const evaluatedSamples = (
  steps: number,
  evaluation: EvaluatedWork,
): { groups: number; samples: number } => {
  const { every, problems, samples = 1, problemsAtStart = problems, problemsBetween = problems } = evaluation
  const between = every > 0 ? Math.max(0, Math.ceil(steps / every) - 1) : 0
  const { samplesBetween = samples, greedy = false } = evaluation
  return {
    groups: problems + problemsAtStart + between * problemsBetween,
    samples:
      (problems + problemsAtStart) * (samples + Number(greedy)) + between * problemsBetween * samplesBetween,
  }
}

/** A prompt is read once for its group; a turn after the first reads what came before, half of the sample on average. */
const samplingOf = ({ groups, samples, promptTokens, newTokens, turns = 1 }: RoleWork): Tokens => {
  const later = groups * samples * (turns - 1)
  return {
    sampled: groups * samples * newTokens,
    prefill: groups * promptTokens + later * (promptTokens + newTokens / 2),
    requests: groups + later,
  }
}

interface Learning {
  loss: LossSpec
  minibatches: number
  epochs: number
  /** Passes of a teacher over what is learnt from. Default 0. */
  taught?: number
  /** Null, or absent: none. One is a second model: it reads all that is learnt from, and learns from it. */
  critic?: object | null
}

/**
 * Every rollout is learnt from whole; a loss that the protocol has no name for goes there twice, forward and back.
 * @param corrected its log-probs are asked for before the first step
 */
const learningOf = (
  roles: readonly RoleWork[],
  steps: number,
  { loss, minibatches, epochs, taught = 0, critic = null }: Learning,
  corrected: boolean,
) => {
  const passes = isNamed(loss) ? 1 : 2
  const withReference = Number(loss.kl.kind !== 'none' && loss.kl.coef > 0)
  const critics = Number(critic !== null)
  let trained = 0
  let scored = 0
  let requests = 0
  for (const { groups, samples, promptTokens, newTokens, steps: own = steps } of roles) {
    const rollouts = groups * samples
    const tokens = rollouts * (promptTokens + newTokens)
    trained += (1 + critics) * own * epochs * tokens
    scored += own * tokens * (epochs * (passes - 1) + withReference + Number(corrected) + taught + critics)
    const chunks = Math.ceil(rollouts / minibatches / MAX_CHUNK_DATUMS)
    requests +=
      own *
      (epochs * minibatches * (passes * chunks + 1 + critics * (chunks + 1)) +
        (withReference + Math.ceil(taught)) * rollouts +
        critics * Math.ceil(rollouts / MAX_CHUNK_DATUMS) +
        1)
  }
  return { trained, scored, requests }
}

/** Where sums are sums, as the protocol says. */
const isNamed = (loss: LossSpec): boolean => namedLoss(loss, PLAIN_SUMS) !== null

/**
 * @param roles those of a step's samples that are learnt from
 * @param evaluation with prompts and samples as the first role's
 */
export const reinforcementWork = (
  { prices, sampler = null }: Pick<TinkerSettings, 'prices'> & Partial<Pick<TinkerSettings, 'sampler'>>,
  steps: number,
  roles: readonly RoleWork[],
  learning: Learning,
  evaluation: EvaluatedWork,
): RemoteWork => {
  const [{ promptTokens, newTokens, turns }] = roles
  const evaluated = evaluatedSamples(steps, evaluation)
  const { groups } = evaluated
  const trying = samplingOf({ groups, samples: evaluated.samples / groups, promptTokens, newTokens, turns })
  const drawn = roles.map(role => ({ ...samplingOf(role), steps: role.steps ?? steps }))
  // What an inference server samples is nothing to the service, but for the adapter that it hands out every step.
  const sum = (key: keyof Tokens) =>
    sampler !== null ? 0 : drawn.reduce((total, own) => total + own.steps * own[key], trying[key])
  const learnt = learningOf(roles, steps, learning, sampler !== null && sampler.correction !== null)
  return priced(prices, {
    sampledTokens: sum('sampled'),
    trainedTokens: learnt.trained,
    prefillTokens: sum('prefill') + learnt.scored,
    requests: Math.ceil(sum('requests') + (sampler !== null ? 3 * steps : 0) + learnt.requests),
  })
}

/** The same of supervised learning, whose evaluation scores rows. */
export const supervisedWork = (
  { prices }: Pick<TinkerSettings, 'prices'>,
  { steps, batch, rowTokens, scoredRows }: Record<'steps' | 'batch' | 'rowTokens' | 'scoredRows', number>,
): RemoteWork =>
  priced(prices, {
    sampledTokens: 0,
    trainedTokens: steps * batch * rowTokens,
    prefillTokens: scoredRows * rowTokens,
    requests: steps * (Math.ceil(batch / MAX_CHUNK_DATUMS) + 1),
  })

const priced = (prices: TinkerSettings['prices'], work: Omit<RemoteWork, 'cost'>): RemoteWork => {
  const { sampledTokens, trainedTokens, prefillTokens } = work
  const cost =
    prices &&
    (sampledTokens * prices.sample + trainedTokens * prices.train + prefillTokens * prices.prefill) / MILLION
  return { ...work, cost }
}

/** Cents tell nothing of a small run. */
const costText = (cost: number): string =>
  cost >= 0.1 || cost === 0 ? cost.toFixed(2) : String(Number(cost.toPrecision(2)))

/** The work in words. @param loss of reinforcement; none where it is supervised */
export const remoteLines = (work: RemoteWork, loss?: LossSpec): string[] => {
  const { sampledTokens, trainedTokens, prefillTokens, requests, cost } = work
  const named = loss && namedLoss(loss, PLAIN_SUMS)
  const how = named === null ? ', its loss in two passes' : named ? `, its loss as ${named.name}` : ''
  return [
    `server       at most ${formatCount(sampledTokens)} tokens sampled, ${formatCount(trainedTokens)} trained${how}, ${formatCount(prefillTokens)} read besides, evaluations included; ${formatInteger(requests)} requests or more`,
    `cost         ${cost === null ? 'unknown: set policy.prices' : `at most about ${costText(cost)}, in the currency of policy.prices`}`,
  ]
}
