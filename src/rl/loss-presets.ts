/** @file Losses by the name of the project whose definition they follow, because one word means different things. */

import { z } from 'zod'
import { ConfigError } from '../util/errors.ts'
import { isRecord } from '../util/own-value.ts'
import { closest, parseWith } from '../util/schema.ts'
import { type LossSpec, lossSchema } from './loss.ts'

const preset = (spec: z.input<typeof lossSchema>): LossSpec => lossSchema.parse(spec)

const clip = { kind: 'clip', clipLow: 0.2, clipHigh: 0.2 } as const
const dualClip = { ...clip, dualClip: 3 } as const
// Ranges of the GSPO paper (arXiv 2507.18071 section 5.1); sequence ratios move far less than token ratios.
const gspo = { kind: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 } as const
const k3 = (coef: number) => ({ kind: 'k3', coef }) as const

/**
 * Presets after TRL f2cd57710, verl 1dda039b9 and the papers. They hold the loss only:
 * the matching advantages are in `ADVANTAGE_PRESETS`. Guards that bind only in a run gone wrong (verl clamps k3 at 10)
 * are left out.
 */
export const LOSS_PRESETS = {
  'trl:grpo': preset({ policy: clip, aggregation: { mode: 'sequence-mean' } }),
  'trl:dr_grpo': preset({ policy: clip, aggregation: { mode: 'dr_grpo' } }),
  /** TRL's default: the name sets the aggregation only; raise clipHigh to 0.28 for the paper's clip-higher. */
  'trl:dapo': preset({ policy: clip, aggregation: { mode: 'token-mean' } }),
  /** Give aggregation.microBatch: the definition depends on it. */
  'trl:bnpo': preset({ policy: clip, aggregation: { mode: 'token-mean-per-microbatch' } }),
  'trl:gspo': preset({ policy: gspo, aggregation: { mode: 'sequence-mean' } }),
  /** TRL caps the ratio at an absolute 5 and has no lower bound. */
  'trl:cispo': preset({
    policy: { kind: 'cispo', clipLow: 1, clipHigh: 4 },
    aggregation: { mode: 'token-mean' },
  }),
  'verl:ppo': preset({
    policy: dualClip,
    value: { coef: 1, clip: 0.5 },
    aggregation: { mode: 'token-mean' },
  }),
  'verl:grpo': preset({ policy: dualClip, kl: k3(1e-3), aggregation: { mode: 'token-mean' } }),
  'verl:dr_grpo': preset({ policy: dualClip, aggregation: { mode: 'seq-mean-token-sum-norm' } }),
  'verl:gspo': preset({ policy: gspo, aggregation: { mode: 'sequence-mean' } }),
  /** verl clips relatively and on both sides. */
  'verl:cispo': preset({ policy: { ...clip, kind: 'cispo' }, aggregation: { mode: 'token-mean' } }),
  'tinker:ppo': preset({ policy: clip, aggregation: { mode: 'token-sum' } }),
  'gradus:rar5': preset({ policy: clip, kl: k3(0.04), aggregation: { mode: 'sequence-mean' } }),
  'gradus:ruscarl': preset({ policy: dualClip, kl: k3(1e-3), aggregation: { mode: 'token-mean' } }),
  'gradus:rubricem': preset({ policy: clip, kl: k3(1e-3), aggregation: { mode: 'token-mean' } }),
  'gradus:rlcer': preset({
    policy: clip,
    value: { coef: 1, clip: 0.5 },
    aggregation: { mode: 'token-mean' },
  }),
  'gradus:supervised': preset({
    policy: { kind: 'none' },
    crossEntropyCoef: 1,
    aggregation: { mode: 'token-mean' },
  }),
} as const satisfies Record<string, LossSpec>

export type LossPreset = keyof typeof LOSS_PRESETS

/**
 * A preset by name, as a copy that may be changed.
 * @throws ConfigError naming the presets there are.
 * @example
 * lossPreset('trl:dapo').aggregation.mode // 'token-mean'
 */
export const lossPreset = (name: string, source = 'loss'): LossSpec => {
  if (Object.hasOwn(LOSS_PRESETS, name)) return structuredClone(LOSS_PRESETS[name as LossPreset])
  const near = closest(name, Object.keys(LOSS_PRESETS))
  throw new ConfigError(
    `${source}: expected one of ${Object.keys(LOSS_PRESETS).join(', ')}, got ${JSON.stringify(name)}; ${near ? `did you mean ${near}?` : 'choose a preset'}`,
  )
}

/** Parts of a specification to change; a nested object changes only the keys it names. */
export interface LossOverrides {
  policy?: Partial<LossSpec['policy']>
  kl?: Partial<LossSpec['kl']>
  entropyCoef?: number
  value?: LossSpec['value']
  crossEntropyCoef?: number
  aggregation?: Partial<LossSpec['aggregation']>
}

const merge = (base: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> => {
  const merged = { ...base }
  for (const [key, value] of Object.entries(changes)) {
    const old = base[key]
    merged[key] = isRecord(old) && isRecord(value) ? { ...old, ...value } : value
  }
  return merged
}

/**
 * A loss from a configuration: a preset's name, `{preset: name, ...changes}`, or a whole specification.
 * @throws ConfigError in the house style.
 */
export const resolveLoss = (value: unknown, source = 'loss'): LossSpec => {
  if (typeof value === 'string') return lossPreset(value, source)
  if (!isRecord(value) || value.preset === undefined) return parseWith(lossSchema, value, source)
  const { preset: name, ...changes } = value
  const base = lossPreset(parseWith(z.string(), name, `${source}.preset`), `${source}.preset`)
  return parseWith(lossSchema, merge(base as unknown as Record<string, unknown>, changes), source)
}

/**
 * `resolveLoss` for code: a preset with typed changes.
 * @example
 * const { policy } = lossOf('trl:dapo', { policy: { clipHigh: 0.28 } })
 * policy.clipLow // 0.2
 * policy.clipHigh // 0.28
 */
export const lossOf = (name: LossPreset, changes: LossOverrides = {}): LossSpec =>
  resolveLoss({ preset: name, ...changes })

/** Fills in the divisor of the modes that divide by the longest allowed response, in tokens, where it was left open. */
export const withMaxTokens = (spec: LossSpec, maxTokens: number): LossSpec => {
  const { mode, scale } = spec.aggregation
  const open = scale === null && (mode === 'dr_grpo' || mode === 'seq-mean-token-sum-norm')
  return open ? { ...spec, aggregation: { ...spec.aggregation, scale: maxTokens } } : spec
}
