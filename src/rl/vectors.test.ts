import { describe, expect, it } from 'vitest'
import { signedScore } from '../rubric/index.ts'
import { readJsonl } from '../util/jsonl.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import {
  type Aggregation,
  adaptKlCoefficient,
  aggregateLoss,
  gae,
  grpoAdvantages,
  type KlKind,
  klPerToken,
  maxRlAdvantages,
  offPolicyMask,
  overlongPenalty,
  policyLossPerToken,
  reinforcePlusPlusReturns,
  repetitionPenalty,
  rlooAdvantages,
  thinkFormat,
  whiten,
} from './index.ts'

// Each operation's inputs and expected values, as SkyRL's, TRL's, OpenRLHF's and simple-evals' own tests have them.
type Row = number[]
type Table = Row[]
interface Inputs {
  kl_type: KlKind
  log_probs: Table
  log_probs_base: Table
  old_log_probs: Table
  mask: Table
  rewards: Table
  values: Table
  group: number[]
  norm_by_std: boolean
  eps: number
  gamma: number
  lambda: number
  whiten: boolean
  x: Table
  init: number
  target: number
  horizon: number
  current: number
  n_steps: number
  mode: string
  max_seq_len: number
  micro_batch_size: number
  prompt_boundaries: [number, number][]
  microbatches: { x: Table; mask: Table }[]
  kind: string
  advantages: Table & Row
  eps_low: number
  eps_high: number
  clip_c: number
  sampling_logps: Table
  logps: Table
  threshold: number
  length: number
  max_len: number
  cache: number
  n: number
  max_penalty: number
  ids: number[]
  text: string
  points: number[]
  met: boolean[]
}
type Value = number | Row | Table
interface Vector {
  id: string
  op: string
  inputs: Inputs
  expected: Record<string, Value>
  tol: number | { rtol: number }
}

const sum = (row: Row) => row.reduce((total, x) => total + x, 0)

/** Runs a group rule on flat rewards with group labels, and gives the advantages back in the flat order. */
const byLabel = (rewards: number[], labels: number[], rule: (rewards_P_G: Table) => Table): Row => {
  const names = [...new Set(labels)]
  const indices_P_G = names.map(name => labels.flatMap((label, i) => (label === name ? [i] : [])))
  const result: Row = []
  for (const [p, advantages] of rule(indices_P_G.map(group => group.map(i => rewards[i]))).entries())
    for (const [g, advantage] of advantages.entries()) result[indices_P_G[p][g]] = advantage
  return result
}

const promptNames = (boundaries: [number, number][]): number[] =>
  boundaries.flatMap(([start, end], prompt) => Array.from({ length: end - start }, () => prompt))

const reduction = (inputs: Inputs): number => {
  const spec = (mode: Aggregation['mode'], rest: Partial<Aggregation> = {}): Aggregation => ({
    mode,
    scale: null,
    ...rest,
  })
  const { x, mask } = inputs
  switch (inputs.mode) {
    case 'token_mean':
      return aggregateLoss(x, mask, spec('token-mean'))
    case 'seq_mean_token_mean':
      return aggregateLoss(x, mask, spec('sequence-mean'))
    case 'seq_mean_token_sum_norm':
      return aggregateLoss(x, mask, spec('seq-mean-token-sum-norm', { scale: inputs.max_seq_len }))
    case 'token_mean_per_microbatch':
      return aggregateLoss(
        x,
        mask,
        spec('token-mean-per-microbatch', { microBatch: inputs.micro_batch_size }),
      )
    case 'prompt_mean':
      return aggregateLoss(x, mask, spec('prompt-mean'), { prompts: promptNames(inputs.prompt_boundaries) })
    case 'token_mean_over_window': {
      const losses = inputs.microbatches.flatMap(({ x: rows }) => rows)
      const masks = inputs.microbatches.flatMap(({ mask: rows }) => rows)
      return aggregateLoss(losses, masks, spec('token-mean'))
    }
    default:
      throw new Error(`no such reduction: ${inputs.mode}`)
  }
}

const policyLoss = (inputs: Inputs): Record<string, Value> => {
  const kind = inputs.kind === 'cispo' ? 'cispo' : 'clip'
  const spec = {
    kind,
    clipLow: inputs.eps_low,
    clipHigh: inputs.eps_high,
    dualClip: inputs.clip_c ?? null,
  } as const
  const rows = inputs.log_probs.map((logprobs, b) => {
    const ones = logprobs.map(() => 1)
    const sequence = {
      logprobs,
      oldLogprobs: inputs.old_log_probs[b],
      advantages: inputs.advantages[b],
      mask: ones,
    }
    return [...policyLossPerToken(spec, sequence).losses]
  })
  const masks = rows.map(row => row.map(() => 1))
  return { per_token: rows, loss: aggregateLoss(rows, masks, { mode: 'token-sum', scale: null }) }
}

const gaeRows = (inputs: Inputs): Record<string, Value> => {
  // SkyRL's recursion does not skip masked tokens.
  const rows = inputs.rewards.map((rewards, b) =>
    gae(rewards, inputs.values[b], inputs.mask[b], {
      gamma: inputs.gamma,
      lambda: inputs.lambda,
      masked: 'plain',
    }),
  )
  const advantages = rows.map(row => row.advantages)
  const whitened = inputs.whiten ? whiten(advantages, inputs.mask) : advantages
  return { returns: rows.map(row => [...row.returns]), advantages: whitened.map(row => [...row]) }
}

const perSequence = (inputs: Inputs, rule: (rewards_P_G: Table) => Table) => ({
  advantages_per_seq: byLabel(inputs.rewards.map(sum), inputs.group, rule),
})

const operations: Record<string, (inputs: Inputs) => Record<string, Value>> = {
  approx_kl: ({ kl_type, log_probs, log_probs_base, mask }) => ({
    kl: log_probs.map((row, b) => [...klPerToken(kl_type, row, log_probs_base[b].map(Number), mask[b])]),
  }),
  reinforce_pp_return: ({ rewards, mask, gamma }) => ({
    returns: rewards.map((row, b) => [...reinforcePlusPlusReturns(row, mask[b], gamma)]),
  }),
  rloo_advantage: inputs => perSequence(inputs, rewards => rlooAdvantages(rewards).advantages_P_G),
  grpo_advantage: inputs =>
    perSequence(
      inputs,
      rewards =>
        grpoAdvantages(rewards, { scale: inputs.norm_by_std ? 'group' : 'none', ddof: 1 }).advantages_P_G,
    ),
  maxrl_advantage: inputs =>
    perSequence(inputs, rewards => maxRlAdvantages(rewards, inputs.eps).advantages_P_G),
  gae: gaeRows,
  masked_sum: ({ x, mask }) => ({ value: aggregateLoss(x, mask, { mode: 'token-sum', scale: null }) }),
  adaptive_kl_controller: ({ init, current, target, horizon, n_steps }) => ({
    value: adaptKlCoefficient(init, current, { target, horizon, steps: n_steps }),
  }),
  loss_reduction: inputs => ({ value: reduction(inputs) }),
  policy_loss: policyLoss,
  off_policy_mask: ({ advantages, logps, sampling_logps, mask, threshold }) => ({
    keep: advantages.map((advantage, b) =>
      offPolicyMask(Number(advantage), logps[b], sampling_logps[b], mask[b], threshold),
    ),
  }),
  soft_overlong_punishment: ({ length, max_len, cache }) => ({
    reward: overlongPenalty(length, { maxLength: max_len, buffer: cache }),
  }),
  ngram_repetition_penalty: ({ ids, n, max_penalty }) => ({
    reward: repetitionPenalty(ids, { n, maxPenalty: max_penalty }),
  }),
  think_format: ({ text }) => ({ reward: thinkFormat(text) }),
  rubric_score: ({ points, met }) => {
    const criteria = points.map((p, i) => ({ id: `${i}`, text: 'criterion', points: p }))
    const verdicts = met.map((value, i) => ({ criterionId: `${i}`, met: value, source: 'llm' as const }))
    return { score: signedScore({ criteria }, verdicts).score! }
  },
}

const near = (actual: Value, expected: Value, tolerance: (x: number) => number, place: string): void => {
  if (Array.isArray(expected)) {
    const list = actual as Row
    expect(list, place).toHaveLength(expected.length)
    for (const [i, x] of expected.entries()) near(list[i], x, tolerance, `${place}[${i}]`)
    return
  }
  const error = Math.abs((actual as number) - expected)
  expect(error, `${place}: expected ${expected}, got ${actual}`).toBeLessThanOrEqual(tolerance(expected))
}

const path = sharedData('rl-vectors/vectors.jsonl')
const vectors = path ? readJsonl<Vector>(path) : []

describe.skipIf(path === null)('vectors of other trainers (skipped where ../shared/data is absent)', () => {
  it('are all there', () => expect(vectors).toHaveLength(56))

  it.each(vectors.map(vector => [vector.id, vector] as const))('%s', (id, { op, inputs, expected, tol }) => {
    const actual = operations[op](inputs)
    const tolerance = (x: number) => (typeof tol === 'number' ? tol : tol.rtol * Math.abs(x) + 1e-9)
    for (const [key, value] of Object.entries(expected))
      if (key !== 'note') near(actual[key], value, tolerance, `${id}.${key}`)
  })
})

describe('two ranks of a data-parallel batch', () => {
  it('give the global token mean when each normalises by all tokens (OpenRLHF red-orlhf-token)', () => {
    const x = [
      [1, 2, 0],
      [3, 4, 5],
      [7, 0, 0],
    ]
    const mask = [
      [1, 1, 0],
      [1, 1, 1],
      [1, 0, 0],
    ]
    const tokens = 6
    const spec = { mode: 'token-sum', scale: tokens / 2 } as const
    const ranks = [
      aggregateLoss(x.slice(0, 2), mask.slice(0, 2), spec),
      aggregateLoss(x.slice(2), mask.slice(2), spec),
    ]
    expect((ranks[0] + ranks[1]) / 2).toBeCloseTo(22 / 6, 12)
  })
})
