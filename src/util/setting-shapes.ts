/** @file Shapes that settings of several sections have. Apart from `schema.ts`, which commands load before they need zod. */

import { z } from 'zod'

/** From 0 to 1. */
export const fraction = z.number().min(0).max(1)
/** Above 0. */
export const positive = z.number().positive()
/** From 0 on. */
export const amount = z.number().min(0)
/** A whole number from 1 on. */
export const natural = z.int().positive()
/** A whole number from 0 on. */
export const whole = z.int().min(0)

/** Fewest and most of something, each with its default. */
export const leastAndMost = (least: z.ZodDefault<z.ZodNumber>, most: z.ZodDefault<z.ZodNumber>) =>
  z
    .strictObject({ min: least.describe('Smallest number.'), max: most.describe('Largest number.') })
    .refine(({ min, max }) => min <= max, 'min at most max')
