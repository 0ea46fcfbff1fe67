/** @file Shapes that settings of several sections have. Apart from `schema.ts`, which commands load before they need zod. */

import { z } from 'zod'

/** Fewest and most of something, each with its default. */
export const leastAndMost = (least: z.ZodDefault<z.ZodNumber>, most: z.ZodDefault<z.ZodNumber>) =>
  z
    .strictObject({ min: least.describe('Least number.'), max: most.describe('Greatest number.') })
    .refine(({ min, max }) => min <= max, 'min at most max')
