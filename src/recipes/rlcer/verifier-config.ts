/** @file Who decides whether thinking meets proposed criteria: settings. */

import { z } from 'zod'
import { thinkingJudgeSchema } from '../../grade/thinking/index.ts'

const share = z.number().min(0).max(1)

export const rubricVerifierSchema = z.discriminatedUnion('kind', [
  /** The task's own: criteria are executed. */
  z.strictObject({ kind: z.literal('exact').describe('Which kind; each has keys of its own.') }),
  /** The same with verdicts inverted at random, always the same ones of a rollout. */
  z.strictObject({
    kind: z.literal('noisy').describe('Which kind; each has keys of its own.'),
    flipRate: share.default(0.1).describe('Chance that a verdict is inverted.'),
  }),
  /** A language model that is asked: endpoints, how it is asked, what it remembers. */
  z.strictObject({
    kind: z.literal('judge').describe('Which kind; each has keys of its own.'),
    judge: thinkingJudgeSchema.describe('Who judges.'),
  }),
  /** A model that learnt to: a checkpoint of `gradus train learned-verifier`. */
  z.strictObject({
    kind: z.literal('learned').describe('Which kind; each has keys of its own.'),
    folder: z.string().describe('Checkpoint of a learned verifier, named as `model.folder`.'),
    threshold: z.number().gt(0).lt(1).default(0.5).describe('Met from this probability on.'),
  }),
])
