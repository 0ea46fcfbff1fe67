/** @file What a plan has to assume of software and responses: each with a usual value, a range, and where it comes from. */

import { UsageError } from '../util/errors.ts'
import { closest } from '../util/schema.ts'

export interface Assumption {
  /** What makes a step quick, what is usual, and what makes it slow. */
  quick: number
  usual: number
  slow: number
  about: string
  source: string
}

export const ASSUMPTIONS = {
  responseShare: {
    quick: 0.1,
    usual: 0.25,
    slow: 1,
    about: 'mean length of a sample over its limit; of supervised rows 1',
    source: 'nobody knows before: measure it (responseTokens of metrics.jsonl) and set it',
  },
  longestShare: {
    quick: 0.5,
    usual: 1,
    slow: 1,
    about: 'longest sample of a step over its limit: sampling waits for it',
    source: 'of hundreds of samples one usually reaches the limit',
  },
  trainUtilisation: {
    quick: 0.5,
    usual: 0.35,
    slow: 0.2,
    about:
      "share of the peak operations that learning reaches (model FLOPs, activations' recomputation not counted)",
    source:
      'PaLM, arXiv 2204.02311, table 3: 0.46 pre-training; LMMs-Engine documents 0.50 to 0.55 for Qwen2.5-7B packed',
  },
  prefillUtilisation: {
    quick: 0.65,
    usual: 0.5,
    slow: 0.3,
    about: 'the same of reading prompts and scoring samples',
    source: 'matrix products of an inference pass, without a backward pass to wait for; a convention',
  },
  bandwidthUtilisation: {
    quick: 0.8,
    usual: 0.65,
    slow: 0.45,
    about: 'share of the memory bandwidth that decoding reaches',
    source: 'a convention; device-to-device copies reach about 0.9',
  },
  stepOverheadMs: {
    quick: 2,
    usual: 5,
    slow: 25,
    about:
      'milliseconds that the sampler takes for each token step beside the GPU: scheduling, launching, detokenizing',
    source:
      'vLLM, "v0.6.0 performance update" (5 Sep 2024): 62% of the time outside the GPU for an 8B model on an H100; `generate` of Transformers takes about the slow value',
  },
  cachedPrefix: {
    quick: 1,
    usual: 0.9,
    slow: 0,
    about: 'share of what calls of a judge have in common that its prefix cache has',
    source: 'on by default in vLLM and SGLang; the template says the common part first',
  },
  syncSeconds: {
    quick: 1,
    usual: 3,
    slow: 10,
    about:
      'seconds a step between sampling and learning: waking the sampler, giving it the weights, freeing memory',
    source: 'a convention; the bytes themselves take less than a second between GPUs of a node',
  },
} as const satisfies Record<string, Assumption>

export type AssumptionName = keyof typeof ASSUMPTIONS
export type Assumed = Readonly<Record<AssumptionName, number>>
export type Pace = 'quick' | 'usual' | 'slow'

export const atPaces = <Planned>(at: (pace: Pace) => Planned): Record<Pace, Planned> => ({
  quick: at('quick'),
  usual: at('usual'),
  slow: at('slow'),
})

const NAMES = Object.keys(ASSUMPTIONS) as AssumptionName[]

/** One value each. @param set what is known better, for all paces alike */
export const assumed = (pace: Pace, set: Partial<Assumed> = {}): Assumed =>
  Object.fromEntries(NAMES.map(name => [name, set[name] ?? ASSUMPTIONS[name][pace]])) as Record<
    AssumptionName,
    number
  >

/** `NAME=VALUE` each. @throws UsageError for another name, and a value that is no positive number or beyond a share of 1 */
export const parseAssumptions = (texts: readonly string[]): Partial<Assumed> => {
  const set: Partial<Record<AssumptionName, number>> = {}
  for (const text of texts) {
    const [, name = text, value = ''] = /^([^=]+)=(.*)$/.exec(text) ?? []
    if (!Object.hasOwn(ASSUMPTIONS, name)) {
      const near = closest(name, NAMES)
      throw new UsageError(`--assume: expected NAME=VALUE with one of ${NAMES.join(', ')}, got ${text}`, {
        hint: near ? `did you mean ${near}?` : undefined,
      })
    }
    const number = Number(value)
    const isShare = /Share|Utilisation|Prefix/.test(name)
    const isZeroable = !/Share|Utilisation/.test(name)
    if (
      value.trim() === '' ||
      !Number.isFinite(number) ||
      number < 0 ||
      (number === 0 && !isZeroable) ||
      (isShare && number > 1)
    )
      throw new UsageError(
        `--assume ${name}: expected ${isShare ? 'a share of at most 1' : 'a number of at least 0'}${isZeroable ? '' : ', above 0'}, got ${value === '' ? 'nothing' : value}`,
      )
    set[name as AssumptionName] = number
  }
  return set
}
