/** @file Settings of the monitors: what each one calls a sign, why, and what is done about it. Every monitor can be switched off with null. */

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { fraction, natural, positive, whole } from '../../util/setting-shapes.ts'

const above1 = z.number().gt(1)

const PATIENCE =
  'Further looks in a row at which the sign must persist after its warning before the action is taken; absent: `confirm`, or none if one look makes the warning.'

/** On with its defaults; null switches it off. */
const monitorThat =
  <const Names extends readonly [string, ...string[]]>(actions: Names) =>
  <Shape extends z.ZodRawShape>(shape: Shape) =>
    z
      .strictObject({
        ...shape,
        // Absent rather than at their defaults: settings without actions stay what they were, word for word.
        action: z
          .enum(actions)
          .optional()
          .describe('What is done if the sign persists; absent: only a warning.'),
        patience: whole.optional().describe(PATIENCE),
      })
      .nullable()
      .prefault({} as never)

const monitor = monitorThat(['warn', 'pause', 'rollback', 'raise-kl', 'stop'])
/** One whose sign is there from the start: no checkpoint is without it, and no KL term keeps it away. */
const monitorOfStart = monitorThat(['warn', 'pause', 'stop'])

/** Bounds of the actions, for all monitors of a run together. */
const actionsSchema = z.strictObject({
  rollbacks: whole
    .default(2)
    .describe(
      'How often a run may go back to a checkpoint and on again; the next time it goes back and stops.',
    ),
  klFactor: above1
    .default(2)
    .describe('Factor by which `raise-kl` multiplies the coefficient of the KL term.'),
  klMost: above1.default(16).describe('Largest factor of all raises together.'),
})
export type ActionBounds = z.output<typeof actionsSchema>

export const monitorsSchema = z.strictObject({
  window: z
    .int()
    .min(2)
    .default(10)
    .describe(
      'Number of steps that a metric is averaged over. Ten cut the noise of single steps to a third and still react soon.',
    ),
  confirm: natural
    .default(3)
    .describe('Number of looks in a row that must show a sign before a warning: one odd step is no sign.'),
  calm: natural
    .default(10)
    .describe('Number of looks in a row below `release` of the threshold after which a sign is over.'),
  release: fraction.default(0.75).describe('Share of the threshold below which a sign can end.'),
  sigmas: positive
    .default(4)
    .describe(
      'How many standard errors a change must measure. Monitors look again at every step, so 2 or 3 come about by chance.',
    ),
  keep: whole.default(3).describe('Number of rollouts kept with each warning, as examples.'),
  actions: actionsSchema
    .optional()
    .describe('Limits of what monitors with an `action` do; absent: the defaults of these keys.'),

  heldOutFalls: monitor({
    drop: fraction.default(0.05).describe('Smallest fall of the score that is a sign.'),
  }).describe(
    "Sign: a held-out grader's score falls and the reward does not. 0.05 is the smallest fall that anyone would act on.",
  ),
  evaluationFalls: monitor({
    drop: fraction.default(0.05).describe('Smallest fall of the score that is a sign.'),
  }).describe("Sign: a test set's score falls beyond chance and the reward does not."),
  lengthDrift: monitor({ ratio: above1.default(1.5).describe('Smallest factor that is a sign.') }).describe(
    'Sign: responses have grown or shrunk since the start. Healthy runs of the miniatures stay within a factor of 1.1; hacked ones pass 1.5 within 40 steps.',
  ),
  scaffoldLeak: monitor({
    rate: fraction.default(0.02).describe('Smallest share of responses that is a sign.'),
  }).describe(
    'Sign: responses quote the scaffold. The threshold is low because a response about the rubric has no other cause.',
  ),
  repetition: monitor({ rise: fraction.default(0.15).describe('Smallest rise that is a sign.') }).describe(
    'Sign: more of the four-token sequences of a response are repeats. In healthy runs their share rises by at most 0.03.',
  ),
  singleCriterion: monitor({
    share: fraction.default(0.5).describe('Smallest share of what is earned.'),
    excess: fraction.default(0.25).describe('Smallest excess of this share over its part of the points.'),
    rise: fraction.default(0.1).describe('Smallest rise of this share.'),
  }).describe(
    'Sign: one criterion brings at least `share` of what is earned, `excess` more than its part of the points, and its share has grown by `rise`. With half it outweighs all others together; a good policy tends to excess 0.',
  ),
  nullVerdicts: monitor({
    rate: fraction.default(0.05).describe('Smallest share of missing verdicts that is a sign.'),
    rise: fraction.default(0.03).describe('Smallest rise of this share that is a sign.'),
  }).describe(
    "Sign: graders fail to give verdicts, on criteria with points above or below zero. Above 0.05 a run's rewards are not to be trusted; `rise` detects failures that the policy has learnt to cause.",
  ),
  exploits: monitor({ rise: fraction.default(0.15).describe('Smallest rise that is a sign.') }).describe(
    'Sign: a known exploit of the rubric becomes more frequent (metrics `exploits`). Healthy runs stay within 0.04.',
  ),
  neverMet: monitorOfStart({
    steps: natural.default(5).describe('Fewest steps with verdicts on the criterion.'),
  }).describe(
    'Sign: no response has met a criterion with points above zero since the start. In fewer than 5 steps that may be chance.',
  ),
  alwaysMet: monitor({ rise: fraction.default(0.2).describe('Smallest rise that is a sign.') }).describe(
    "Sign: the share of proposed criteria that all responses meet, or what responses earn by them, rises more than a held-out grader's score or accuracy does. If neither is known, the share must rise twice as far. In healthy runs of rlcer it rises by 0.2, and accuracy by three times as much.",
  ),
  hotSampling: monitorOfStart({
    nats: positive.default(2.5).describe('Smallest entropy that is a sign.'),
  }).describe(
    'Sign: high entropy of a token before any update. Public chat models have 1 to 2 nats, and write nonsense from 3 on.',
  ),
  entropyCollapse: monitor({
    left: fraction.default(0.2).describe('Largest share of the first entropy that is a sign.'),
  }).describe(
    'Sign: entropy has fallen far below what it was. Runs of the miniatures that fall below a share of 0.2 have learnt most of what they will.',
  ),
  zeroVariance: monitor({
    share: fraction.default(0.8).describe('Smallest share of groups that is a sign.'),
  }).describe(
    'Sign: many groups have equal rewards, so that nothing is learnt from them. At 0.8 four fifths of the sampling is in vain.',
  ),
  samplerMismatch: monitor({
    gap: positive.default(0.1).describe('Smallest gap that is a sign, in nats.'),
  }).describe(
    "Sign: a token's log-prob at training is far from that at sampling, before any update. With 0.1 ratios are wrong by a tenth, half of the usual clip range. The local engine has 1e-5; a sampler in bf16 may need 1. Where the gap is on purpose (`ratio: true-is`, `pipeline`, `policy.sampleBits: 8`) it is watched only with other settings than its defaults.",
  ),
  truncation: monitor({
    rate: fraction.default(0.1).describe('Smallest share of responses that is a sign.'),
  }).describe(
    'Sign: responses run into the token limit. Above 0.1 scores say more about the limit than about the responses.',
  ),
  ratioExtremes: monitor({ ratio: above1.default(10).describe('Smallest ratio that is a sign.') }).describe(
    "Sign: a token's ratio to the policy that sampled it, or the inverse, is extreme. 10 is far outside every clip range; sampling one step ahead reaches 5.",
  ),
})

export type MonitorSettings = z.output<typeof monitorsSchema>

/** Names of the monitors, which are their keys in the settings. */
export type MonitorName = {
  [K in keyof MonitorSettings]-?: null extends MonitorSettings[K] ? K : never
}[keyof MonitorSettings]

export const DEFAULT_MONITORS: MonitorSettings = monitorsSchema.parse({})

/** Where sampler and trainer differ on purpose: their gap is no mismatch, unless somebody set how large it may be, or what follows. */
export const expectingMismatch = (monitors: MonitorSettings): MonitorSettings =>
  isDeepStrictEqual(monitors.samplerMismatch, DEFAULT_MONITORS.samplerMismatch)
    ? { ...monitors, samplerMismatch: null }
    : monitors

/** What a monitor does about its sign, from the strongest on. */
export const ACTIONS = ['stop', 'rollback', 'pause', 'raise-kl'] as const
export type MonitorAction = (typeof ACTIONS)[number]

/** Bounds with their defaults. */
export const boundsOf = ({ actions = {} }: { actions?: Partial<ActionBounds> }): ActionBounds =>
  actionsSchema.parse(actions)

/** What a monitor does; null where it only warns. */
export const actionOfMonitor = (settings: MonitorSettings, name: MonitorName): MonitorAction | null => {
  const { action = 'warn' } = settings[name] ?? {}
  return action === 'warn' ? null : action
}

/** The monitors that do one of these. */
export const monitorsThat = (
  settings: MonitorSettings | null,
  actions: readonly MonitorAction[] = ACTIONS,
): MonitorName[] =>
  settings === null
    ? []
    : (Object.keys(settings) as MonitorName[]).filter(
        name =>
          settings[name] !== null &&
          typeof settings[name] === 'object' &&
          actions.includes(actionOfMonitor(settings, name)!),
      )
