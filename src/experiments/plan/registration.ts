/** @file A registration: what is claimed, how it is tested and on what, written down before anything runs. */

import { z } from 'zod'
import { probeSchema } from '../probes/schema.ts'

/** Stands for the model that an arm began with: its run's own evaluation before the first step. */
export const START = 'start'

/** Fewest test problems that let effects of a few points show; fewer are allowed, and said. */
export const ADVISED_PROBLEMS = 2000

const name = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/i, 'a name of letters, digits, dots and dashes')
const seed = z.union([z.int(), z.string().min(1)])
const settings = z.record(z.string(), z.unknown())
const reason = z.string().min(20, 'a reason of at least 20 characters; say why there is no such control')

const metricSchema = z.union([
  z.string().transform(id => ({ name: id, options: {} as Record<string, unknown> })),
  z.looseObject({ name: z.string() }).transform(({ name: id, ...options }) => ({ name: id, options })),
])

/** A cold start that is trained once for all arms. */
const trainedStartSchema = z.strictObject({
  name,
  recipe: z.string(),
  preset: z.string().optional(),
  settings: settings.default({}),
  seed,
})

/** A model that is there: a checkpoint folder, or one that ships with the package (`package:models/NAME`). */
const givenStartSchema = z.strictObject({ name, model: z.string().min(1) })

const startSchema = z.union([trainedStartSchema, givenStartSchema])

const armSchema = z.strictObject({
  /** What it is, in a line, for the report. */
  summary: z.string().optional(),
  /** Over the registration's own `recipe` and `preset`. */
  recipe: z.string().optional(),
  preset: z.string().optional(),
  settings: settings.default({}),
  /** Only the first so many seeds, where all of them would take too long. */
  seeds: z.int().positive().optional(),
  steps: z.int().min(0).optional(),
  /** Settings of its own cold starts, over those of the file's, which are trained then; arms that say the same share them. */
  start: settings.optional(),
  /**
   * Its runs have random streams of their own, by this name: the same settings run twice. Without it arms share the problems and
   * draws of a seed, and all that are compared with one arm share its luck.
   */
  draws: name.optional(),
})

/**
 * - `greater`, `less`: a differs from b in this direction
 * - `equal`: the difference lies within the smallest effect, on either side
 * - `not-above`, `not-below`: a is at most, or at least, b, up to the smallest effect
 */
const DIRECTIONS = ['greater', 'less', 'equal', 'not-above', 'not-below'] as const
export type Direction = (typeof DIRECTIONS)[number]

const armsSchema = z.union([
  /** Each against the one after it. */
  z.array(z.string()).min(2),
  /** Several pairs, each the first against the second. */
  z.strictObject({ pairs: z.array(z.tuple([z.string(), z.string()])).min(1) }),
  /** One against another, against each of several, or without `b` against `reference`. */
  z.strictObject({
    a: z.string(),
    b: z.union([z.string().transform(one => [one]), z.array(z.string()).min(1)]).optional(),
  }),
])

/** Files of these names lie beside those of the claims. */
const RESERVED_IDS = ['controls', 'diagnosis', 'summary']

/** What two arms may be compared at. */
const EQUALS = ['steps', 'tokens', 'minutes'] as const
export type Equal = (typeof EQUALS)[number]

const equalSchema = z.union([z.enum([...EQUALS, 'both']), z.array(z.enum(EQUALS)).min(2)])

/** The comparisons that a claim asks for; `both` is steps and tokens. */
export const equalsOf = ({ equal }: { equal: z.output<typeof equalSchema> }): readonly Equal[] => {
  if (equal === 'both') return ['steps', 'tokens']
  return Array.isArray(equal) ? equal : [equal]
}

/** An earlier look: the folder of its results beside this one's, and the claim there. */
const earlierSchema = z.strictObject({ results: name, claim: name })

const claimSchema = z.strictObject({
  id: name.refine(
    id => !RESERVED_IDS.includes(id.toLowerCase()),
    `another id than ${RESERVED_IDS.join(', ')}, which are names of other result files`,
  ),
  statement: z.string().min(1),
  arms: armsSchema,
  metric: metricSchema,
  direction: z.enum(DIRECTIONS).default('greater'),
  /** Smallest effect that matters, in the metric's unit: with `equal` and `not-...` the margin. */
  smallestEffect: z.number().min(0),
  /**
   * `sign-flip`: over pairs of runs; `mcnemar`: over the items of the shared test set, right or wrong; `share`: the share of
   * runs in which a metric of 0 or 1 is 1, against `atLeast`; `trend`: Jonckheere and Terpstra's over a list of arms, of which
   * each is expected beyond the next one, in blocks of runs that share cold start and seed.
   */
  test: z.enum(['sign-flip', 'mcnemar', 'share', 'trend']).default('sign-flip'),
  atLeast: z.number().min(0).max(1).optional(),
  /** What a claim without `b` is compared with. */
  reference: z.number().default(0),
  /** Compared after equal steps, at equal generated tokens, in equal time of training, or several of these, of which each has to hold. */
  equal: equalSchema.default('steps'),
  /** Results of earlier experiments on the same claim: this is a further look, and its p is multiplied by the looks. */
  earlier: z.array(earlierSchema).min(1).optional(),
  /** What holds by construction, what is measured by what is rewarded, and whatever else a reader has to know. */
  note: z.string().optional(),
})

const controlSchema = z.union(
  [z.strictObject({ arm: z.string() }), z.strictObject({ absent: reason })],
  'the arm of this negative control, or why there is none; write {arm: NAME} or {absent: REASON}',
)

export const CLAIM_CONTROLS = ['random-reward', 'shuffled-rubrics', 'flipped-verdicts'] as const

const controlsSchema = z.strictObject(
  {
    /** The arm that the controls differ from in nothing but the reward. */
    of: z.string(),
    metric: metricSchema,
    smallestEffect: z.number().min(0),
    'random-reward': controlSchema,
    'shuffled-rubrics': controlSchema,
    'flipped-verdicts': controlSchema,
  },
  'negative controls as keys and values; see docs/experiments.md, or say of each why it is absent',
)

const chartSchema = z.strictObject({
  title: z.string(),
  /** Best-of-N over N, as a probe found it. */
  probe: z.literal('best-of-n').optional(),
  /** How often each criterion is met on a set, by arm. */
  criteria: z.boolean().default(false),
  /** Dotted name of a value in metrics.jsonl, or a test set's score over the steps. */
  curve: z.string().optional(),
  set: z.string().optional(),
  score: z.string().default('accuracy'),
  unit: z.enum(['share', 'number']).default('number'),
  arms: z.array(z.string()).min(1).max(6),
})

/** Seeds that were added after the first ones were registered. */
const blockSchema = z.strictObject({
  seeds: z.array(seed).min(1),
  /** The day on which it was written down. */
  registered: z.iso.date('a day, as 2026-12-01'),
  /** Arms that run with them; without it all arms that are not bound to their first seeds. */
  arms: z.array(z.string()).min(1).optional(),
  reason: z.string().optional(),
})

/** Why a status says less than it seems to: whatever was trained would have come out so; or half of the comparison is missing. */
const APART = ['by construction', 'without its contrast'] as const

/** Claims whose status is shown apart, and counted neither as reproduced nor as not. */
const apartSchema = z.strictObject({
  claims: z.array(name).min(1),
  is: z.enum(APART),
  why: z
    .string()
    .min(20, 'a reason of at least 20 characters; say what makes it hold, or which arm is missing'),
})

/** What was found out after the registration. No part of the hash: no status depends on it. */
const afterwardsSchema = z.strictObject({
  /** Defaults of the recipe that are other ones since, as they were when this was registered: they stay so for its arms, or single ones. */
  defaults: settings.default({}),
  armDefaults: z.record(name, settings).default({}),
  /** What whoever reads the results has to know. */
  notes: z.array(z.string().min(1)).default([]),
  apart: z.array(apartSchema).default([]),
})

export const registrationSchema = z.strictObject({
  paper: name,
  title: z.string().min(1),
  summary: z.string().optional(),
  /** Recipe, preset and settings of every arm that does not say otherwise. */
  recipe: z.string(),
  preset: z.string().optional(),
  settings: settings.default({}),
  /** Every arm stops after so many steps, and its last checkpoint counts. */
  steps: z.int().min(0),
  test: z.strictObject({
    /** Problems of the shared test set, and samples of each. */
    problems: z.int().positive(),
    samples: z.int().positive().default(1),
    note: z.string().optional(),
  }),
  seeds: z.array(seed).min(1),
  /** How often the results are to be looked at, where the experiment may be enlarged: each look has its share of the 5%. */
  looks: z.int().min(1).max(5).default(1),
  /** Later blocks of seeds, each registered before its runs. No part of the hash: each has its own. */
  blocks: z.array(blockSchema).default([]),
  starts: z.array(startSchema).min(1),
  arms: z.record(name, armSchema),
  controls: controlsSchema,
  claims: z.array(claimSchema).min(1),
  /** Measured after each run of an arm on samples of its own: see probes. */
  probes: z.array(probeSchema).default([]),
  charts: z.array(chartSchema).default([]),
  /** What was left out or made smaller, and why. */
  cut: z.array(z.string()).default([]),
  afterwards: afterwardsSchema.prefault({}),
})

export type RegistrationContent = z.output<typeof registrationSchema>
export type Claim = RegistrationContent['claims'][number]
export type MetricChoice = Claim['metric']

/** Why a claim's status is shown apart; null where it counts. */
export const apartOf = (
  { afterwards }: { afterwards: Pick<RegistrationContent['afterwards'], 'apart'> },
  id: string,
): { is: (typeof APART)[number]; why: string } | null => {
  const found = afterwards.apart.find(({ claims }) => claims.includes(id))
  return found === undefined ? null : { is: found.is, why: found.why }
}

/** The arms that a claim names, in pairs; `null` stands for the claim's reference. */
export const comparisonsOf = ({ arms }: Pick<Claim, 'arms'>): { a: string; b: string | null }[] => {
  if (Array.isArray(arms)) return arms.slice(1).map((b, i) => ({ a: arms[i], b }))
  if ('pairs' in arms) return arms.pairs.map(([a, b]) => ({ a, b }))
  const { a, b } = arms
  return b === undefined ? [{ a, b: null }] : b.map(other => ({ a, b: other }))
}

/** The arms that a claim names, each once; without the reference. */
export const armsOf = (claim: Pick<Claim, 'arms'>): string[] => [
  ...new Set(comparisonsOf(claim).flatMap(({ a, b }) => (b === null ? [a] : [a, b]))),
]

/** Everything that options name under one of these keys, however deep. */
export const namesUnder = (options: unknown, keys: readonly string[]): string[] => {
  if (options === null || typeof options !== 'object') return []
  return Object.entries(options).flatMap(([key, value]) =>
    keys.includes(key) && typeof value === 'string' ? [value] : namesUnder(value, keys),
  )
}

/** Arms that a claim compares with what they started from. */
export const armsAgainstStart = (claim: Pick<Claim, 'arms'>): string[] =>
  comparisonsOf(claim).flatMap(({ a, b }) => (b === START ? [a] : []))

/** An option in words: `entropy`; `[judge.a, judge.b]`; `{key response, span 0.2}`. */
const optionText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(optionText).join(', ')}]`
  if (value === null || typeof value !== 'object') return String(value)
  const parts = Object.entries(value).map(([key, inner]) => `${key} ${optionText(inner)}`)
  return `{${parts.join(', ')}}`
}

/** `score (greedyAccuracy) on unseen trips`. */
export const metricText = ({ name, options }: MetricChoice): string => {
  const { set, ...rest } = options as { set?: string } & Record<string, unknown>
  const more = Object.entries(rest).map(([key, value]) => `${key} ${optionText(value)}`)
  return `${name}${more.length > 0 ? ` (${more.join(', ')})` : ''}${set === undefined ? '' : ` on ${set}`}`
}

export interface Registration extends RegistrationContent {
  /** SHA-256 of the content but for later blocks and what was found afterwards, whatever its layout, comments and order of keys. */
  hash: string
  /** Of each later block, over its content and the hash before it. */
  blockHashes: string[]
  file: string
}
