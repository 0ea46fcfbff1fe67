/** @file Settings of arithmetic problems. */

import { z } from 'zod'

/** Fewest and most operations of a problem. */
export const operationsSchema = z
  .strictObject({
    min: z.int().min(2).max(9).default(4).describe('Least number.'),
    max: z.int().min(2).max(9).default(6).describe('Greatest number.'),
  })
  .refine(({ min, max }) => min <= max, 'min at most max')
