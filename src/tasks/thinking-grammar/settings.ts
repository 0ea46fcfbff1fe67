/** @file Settings of demonstrations of both roles: what the scripted rubricator writes, and labels for a learnt verifier. */

import { z } from 'zod'

const share = z.number().min(0).max(1)
const size = z.int().positive()

/** What the scripted rubricator writes: how many criteria, how often with the wrong sign, whether about outcomes. */
export const rubricHabitsSchema = z.strictObject({
  criteria: z
    .strictObject({
      min: size.default(5).describe('Least number.'),
      max: size.max(15).default(8).describe('Greatest number.'),
    })
    .prefault({})
    .refine(({ min, max }) => min <= max, 'min at most max')
    .describe('How many criteria a rubric has.'),
  wrongSign: share.default(0.15).describe('Share of criteria whose sign is inverted in demonstrations.'),
  outcomes: z.boolean().default(false).describe('Rubrics are shown how the attempts ended.'),
})

/** Rows of labels.jsonl that are left for `learned-verifier`: criteria with the exact verdict on the model's own responses. */
export const labelsSchema = z
  .int()
  .min(0)
  .max(1_000_000)
  .default(0)
  .describe('Rows of labels.jsonl that are left for `learned-verifier`, on what the trained model writes.')
