/**
 * @file The protocol's losses on the embedded engine. Every one is a plain sum over tokens, as the hosted service takes it: nothing
 * is divided by tokens, sequences or weights (SkyRL averages by sequence).
 *
 * With lp the model's log-prob, q the sampler's, r = exp(lp - q), A the advantage, w the weight of a token:
 * - `cross_entropy`: -w lp
 * - `importance_sampling`: -r A
 * - `ppo`: -min(r A, clip(r, low, high) A), bounds as ratios (0.8 and 1.2)
 * - `cispo`: -stopgrad(clip(r, low, high)) A lp (0 and 4)
 * - `dro`: -(A lp - beta / 2 (lp - q)^2) (0.05)
 *
 * Log-ratios are held within +-20 before exp (`LOG_RATIO_CLAMP`).
 */

import type { Datum } from '../../rl/datum.ts'
import { klPerToken } from '../../rl/kl.ts'
import { type LossSpec, policyLossPerToken } from '../../rl/loss.ts'
import {
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  floatTensor,
  type WireDatum,
  type WireTensor,
} from '../../tinker/index.ts'
import { eventLoopYield } from '../../util/yield-to-event-loop.ts'
import { RequestError } from './errors.ts'

/** No ratio reaches it: exp of `LOG_RATIO_CLAMP` is below 1e9. */
const NEVER_CLIPPED = 1e9

interface Loss {
  /** Per-token inputs beside `target_tokens`; those with a default may be absent. */
  inputs: readonly string[]
  config: Readonly<Record<string, number>>
  spec(config: Readonly<Record<string, number>>): LossSpec
}

type PolicyKind = LossSpec['policy']['kind']

const sumOf = (kind: PolicyKind, [low, high]: readonly [number, number], more: Partial<LossSpec> = {}) => ({
  policy: { kind, clipLow: 1 - low, clipHigh: high - 1, dualClip: null },
  kl: { kind: 'none' as const, coef: 0 },
  entropyCoef: 0,
  value: null,
  crossEntropyCoef: 0,
  aggregation: { mode: 'token-sum' as const, scale: null },
  ...more,
})

const POLICY_INPUTS = ['logprobs', 'advantages']

const clipped = (kind: 'clip' | 'cispo', low: number, high: number): Loss => ({
  inputs: POLICY_INPUTS,
  config: { clip_low_threshold: low, clip_high_threshold: high },
  spec: ({ clip_low_threshold, clip_high_threshold }) =>
    sumOf(kind, [clip_low_threshold, clip_high_threshold]),
})

const LOSSES: Readonly<Record<string, Loss>> = {
  cross_entropy: {
    inputs: ['weights'],
    config: {},
    spec: () => sumOf('none', [1, 1], { crossEntropyCoef: 1 }),
  },
  importance_sampling: {
    inputs: POLICY_INPUTS,
    config: {},
    spec: () => sumOf('clip', [0, NEVER_CLIPPED]),
  },
  ppo: clipped('clip', 0.8, 1.2),
  cispo: clipped('cispo', 0, 4),
  dro: {
    inputs: POLICY_INPUTS,
    config: { beta: 0.05 },
    spec: ({ beta }) => sumOf('reinforce', [1, 1], { kl: { kind: 'k2', coef: beta } }),
  },
}

const list = (names: readonly string[]) => (names.length > 0 ? names.join(', ') : 'nothing')

const lossNamed = (name: string): Loss => {
  if (Object.hasOwn(LOSSES, name)) return LOSSES[name]
  throw new RequestError(422, `loss_fn: expected one of ${list(Object.keys(LOSSES))}, got ${name}`, {
    hint: 'other losses of log-probs go by forward and a weighted cross_entropy (forward_backward_custom)',
  })
}

/** @throws RequestError for a loss, or settings of it, that there are not */
export const lossSpecOf = ({
  lossFn,
  config = {},
}: Pick<ForwardBackwardRequest, 'lossFn' | 'config'>): LossSpec => {
  const loss = lossNamed(lossFn)
  const unknown = Object.keys(config).find(key => !Object.hasOwn(loss.config, key))
  if (unknown !== undefined)
    throw new RequestError(
      422,
      `loss_fn_config: ${lossFn} has ${list(Object.keys(loss.config))}, got ${unknown}; leave it out`,
    )
  const all = { ...loss.config, ...config }
  const bad = Object.entries(all).find(([, value]) => !(value >= 0 && Number.isFinite(value)))
  if (bad) throw new RequestError(422, `loss_fn_config.${bad[0]}: expected a number from 0, got ${bad[1]}`)
  if (all.clip_low_threshold > all.clip_high_threshold)
    throw new RequestError(422, 'loss_fn_config: expected clip_low_threshold below clip_high_threshold')
  return loss.spec(all)
}

/** One number a token. @throws RequestError for other shapes and for numbers that are not finite */
const perToken = (tensor: WireTensor, length: number, place: string): Float32Array | Int32Array => {
  if (tensor.shape.length > 1 && tensor.shape.some((size, i) => i > 0 && size !== 1))
    throw new RequestError(
      422,
      `${place}: expected one value a token, got the shape [${tensor.shape.join(', ')}]`,
    )
  if (tensor.data.length !== length)
    throw new RequestError(422, `${place}: expected ${length} values, one a token, got ${tensor.data.length}`)
  const odd = tensor.data.findIndex(value => !Number.isFinite(value))
  if (odd >= 0) throw new RequestError(422, `${place}: expected finite numbers, got none at ${odd}`)
  return tensor.data
}

/** What is read after each place: the next token, and at the end what is predicted there. */
const followers = (tokens: Int32Array, targets: Int32Array): Int32Array => {
  const after = new Int32Array(tokens.length)
  after.set(tokens.subarray(1))
  after[tokens.length - 1] = targets[tokens.length - 1]
  return after
}

/**
 * A sequence of the wire for the engine: the first token is the prompt, all others are read one by one, and what is predicted at
 * each place is what the client says, even where another token follows.
 * @throws RequestError for inputs that are missing, unknown, or of another length
 */
export const datumOf = ({ tokens, inputs }: WireDatum, lossFn: string, place: string): Datum => {
  const { length } = tokens
  if (length === 0) throw new RequestError(422, `${place}.model_input: expected tokens, got none`)
  const { inputs: names } = lossNamed(lossFn)
  const unknown = Object.keys(inputs).find(name => name !== 'target_tokens' && !names.includes(name))
  if (unknown !== undefined)
    throw new RequestError(
      422,
      `${place}.loss_fn_inputs: ${lossFn} reads target_tokens, ${list(names)}; got ${unknown} as well; take it out`,
    )
  const read = (name: string): Float32Array => {
    if (!Object.hasOwn(inputs, name))
      throw new RequestError(422, `${place}.loss_fn_inputs: ${lossFn} needs ${name}, got none`)
    return Float32Array.from(perToken(inputs[name], length, `${place}.${name}`))
  }
  if (!Object.hasOwn(inputs, 'target_tokens'))
    throw new RequestError(422, `${place}.loss_fn_inputs: expected target_tokens, got none`)
  const targets = Int32Array.from(perToken(inputs.target_tokens, length, `${place}.target_tokens`))
  const zeros = () => new Float32Array(length)
  const isPolicy = names === POLICY_INPUTS
  const old = isPolicy ? read('logprobs') : zeros()
  return {
    promptTokens: tokens.subarray(0, 1),
    tokens: followers(tokens, targets),
    targets,
    mask: new Float32Array(length).fill(1),
    oldLogprobs: old,
    refLogprobs: old,
    advantages: isPolicy ? read('advantages') : zeros(),
    ...(!isPolicy && {
      weights: Object.hasOwn(inputs, 'weights') ? read('weights') : zeros().fill(1),
    }),
  }
}

/** Loss of each token of a datum, in plain arithmetic. */
const tokenLosses = (spec: LossSpec, datum: Datum, logprobs: Float32Array): Float64Array => {
  const { oldLogprobs, advantages, mask, weights, refLogprobs } = datum
  const { losses } = policyLossPerToken(spec.policy, { oldLogprobs, advantages, mask, weights, logprobs })
  const kl = spec.kl.kind === 'none' ? null : klPerToken(spec.kl.kind, logprobs, refLogprobs!, mask)
  return losses.map(
    (loss, t) =>
      loss +
      (kl ? spec.kl.coef * kl[t] : 0) -
      spec.crossEntropyCoef * (logprobs[t] * (weights ? weights[t] : 1)),
  )
}

/** What a client is told of a batch: log-prob and loss of each token, and the sum that the gradient is of. */
export const outputOf = async (
  spec: LossSpec,
  datums: readonly Datum[],
  logprobs: readonly Float32Array[],
): Promise<ForwardBackwardOutput> => {
  const yieldToEventLoop = eventLoopYield()
  let sum = 0
  const outputs: ForwardBackwardOutput['outputs'][number][] = []
  for (const [i, datum] of datums.entries()) {
    await yieldToEventLoop()
    const losses = tokenLosses(spec, datum, logprobs[i])
    sum += losses.reduce((total, loss) => total + loss, 0)
    outputs.push({ elementwise_loss: floatTensor(losses), logprobs: floatTensor(logprobs[i]) })
  }
  return { outputType: 'TensorDict', outputs, metrics: { 'loss:sum': sum } }
}
