/** @file Settings of questions about records. */

import { z } from 'zod'

const hops = z.int().positive().max(6)

/** Fewest and most look-ups that a question needs. */
export const hopsSchema = z
  .strictObject({
    min: hops.default(2).describe('Least number.'),
    max: hops.default(4).describe('Greatest number.'),
  })
  .refine(({ min, max }) => min <= max, 'min at most max')

/** What questions are asked, and how much may be looked up for one. */
export const recordsShape = {
  hops: hopsSchema.prefault({}).describe('Fewest and most look-ups that a question needs.'),
  calls: z.int().positive().default(8).describe('Look-ups that an agent may make.'),
}
