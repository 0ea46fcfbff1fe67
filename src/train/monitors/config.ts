/** @file Settings of the monitors: what each one calls a sign, why, and what is done about it. Every monitor can be switched off with null. */

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { fraction, natural, positive, whole } from '../../util/setting-shapes.ts'

const above1 = z.number().gt(1)

const PATIENCE =
  'Further looks in a row that the sign has to stand after its warning before the action is taken; absent: as many as `confirm`, and none where one look makes the warning.'

/** On with its defaults; null switches it off. */
const monitorThat =
  <const Names extends readonly [string, ...string[]]>(actions: Names) =>
  <Shape extends z.ZodRawShape>(shape: Shape) =>
    z
      .strictObject({
        ...shape,
        // Absent rather than at their defaults: settings without actions stay what they were, word for word.
        action: z.enum(actions).optional().describe('What is done while its sign stands; absent: warn.'),
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
    .describe('Times that a run goes back and on again; the next time it goes back and stops there.'),
  klFactor: above1.default(2).describe('What a raise multiplies the coefficient of the KL term by.'),
  klMost: above1.default(16).describe('Most that all raises together multiply it by.'),
})
export type ActionBounds = z.output<typeof actionsSchema>

export const monitorsSchema = z.strictObject({
  window: z
    .int()
    .min(2)
    .default(10)
    .describe(
      'Steps that a metric is averaged over. Ten cut the noise of single steps to a third and still react soon.',
    ),
  confirm: natural
    .default(3)
    .describe('A sign has to show at so many looks in a row: one odd step is no sign.'),
  calm: natural
    .default(10)
    .describe(
      'A sign is over after so many looks in a row below `release` of its threshold: it does not come and go with the noise.',
    ),
  release: fraction.default(0.75).describe('Share of the threshold below which the warning ends.'),
  sigmas: positive
    .default(4)
    .describe(
      'How many standard errors a change must measure. Monitors look again at every step, so 2 or 3 come about by chance.',
    ),
  keep: whole.default(3).describe('Rollouts to keep for each warning.'),
  actions: actionsSchema
    .optional()
    .describe("Bounds of what monitors do, where one has an `action`; absent: the keys' defaults."),

  heldOutFalls: monitor({ drop: fraction.default(0.05).describe('Least fall.') }).describe(
    "A held-out grader's score falls while the reward rises. 0.05: the smallest fall that anyone would act on.",
  ),
  evaluationFalls: monitor({ drop: fraction.default(0.05).describe('Least fall.') }).describe(
    "A test set's score falls, beyond chance, while the reward rises.",
  ),
  lengthDrift: monitor({ ratio: above1.default(1.5).describe('Least factor.') }).describe(
    'Responses grow or shrink by this factor since the start. 1.5: healthy runs of the miniatures stay within 1.1, hacked ones pass 1.5 within 40 steps.',
  ),
  scaffoldLeak: monitor({ rate: fraction.default(0.02).describe('Least share.') }).describe(
    'Share of responses that quote the scaffold. 0.02: a response about the rubric has no other cause; two are no slip.',
  ),
  repetition: monitor({ rise: fraction.default(0.15).describe('Least rise.') }).describe(
    'Rise of the share of four-token sequences that a response has said before. Healthy runs stay within 0.03.',
  ),
  singleCriterion: monitor({
    share: fraction.default(0.5).describe('Least share.'),
    excess: fraction.default(0.25).describe('Least excess over its part of the points.'),
    rise: fraction.default(0.1).describe('Least rise.'),
  }).describe(
    'One criterion brings at least `share` of what is earned, `excess` more than its part of the points, and its share has grown by `rise`. Half is where it outweighs all others together; a good policy tends to excess 0.',
  ),
  nullVerdicts: monitor({
    rate: fraction.default(0.05).describe('Least share.'),
    rise: fraction.default(0.03).describe('Least rise.'),
  }).describe(
    "Verdicts that the graders failed to give, for criteria with points above or below zero. 0.05: above it a run's rewards are not to be trusted; `rise` detects failures that the policy has learnt to cause.",
  ),
  exploits: monitor({ rise: fraction.default(0.15).describe('Least rise.') }).describe(
    'Rise of a known way round the rubric (the metrics `exploits`). Healthy runs stay within 0.04.',
  ),
  neverMet: monitorOfStart({ steps: natural.default(5).describe('Steps with verdicts on it.') }).describe(
    'Criteria with points above zero that no response has met since the start. 5: fewer may be chance.',
  ),
  alwaysMet: monitor({ rise: fraction.default(0.2).describe('Least rise.') }).describe(
    "Criteria that are proposed while training come to be met by all responses, or what these earn by them rises, more than a held-out grader's score or accuracy does; where neither is known, the share alone, twice as far. 0.2: in healthy runs of rlcer it rises by as much, and accuracy by three times as much.",
  ),
  hotSampling: monitorOfStart({
    nats: positive.default(2.5).describe('Least entropy.'),
  }).describe(
    'Entropy of a token before any update, nats. 2.5: public chat models are sure of their words to 1 to 2 nats, and write nonsense from 3 on.',
  ),
  entropyCollapse: monitor({ left: fraction.default(0.2).describe('Most that is left.') }).describe(
    'Entropy is left with this part of what it was. 0.2: runs of the miniatures that pass it have learnt most of what they will.',
  ),
  zeroVariance: monitor({ share: fraction.default(0.8).describe('Least share.') }).describe(
    'Share of groups with nothing to learn from. 0.8: four fifths of the sampling is in vain.',
  ),
  samplerMismatch: monitor({ gap: positive.default(0.1).describe('Least gap.') }).describe(
    "Largest gap between a token's log-prob at sampling and at training, nats, before any update. 0.1: ratios are wrong by a tenth, half of the usual clip range. The local engine has 1e-5; a sampler in bf16 may need 1. Where ratios start elsewhere on purpose (`ratio: true-is`, `pipeline`, `policy.sampleBits: 8`) it is watched only with other settings than its defaults.",
  ),
  truncation: monitor({ rate: fraction.default(0.1).describe('Least share.') }).describe(
    'Share of responses that ran into the token limit. 0.1: their scores say more of the limit than of the response.',
  ),
  ratioExtremes: monitor({ ratio: above1.default(10).describe('Least factor.') }).describe(
    "A token's ratio to the policy that sampled it, or the inverse. 10: far outside every clip range; sampling one step ahead reaches 5.",
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
