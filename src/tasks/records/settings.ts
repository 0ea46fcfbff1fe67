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
