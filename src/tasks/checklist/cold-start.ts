/** @file Packing as it is learnt before it is rewarded: lists of habit, and lists that follow hints. */

import { z } from 'zod'
import type { TaskWith } from '../task.ts'
import { demonstration } from './demonstrations.ts'
import { packingTask } from './task.ts'
import { thinkingPackingTask, thoughtDemonstration } from './thinking/index.ts'
import { PackingWorld, type Trip } from './world.ts'

export const packingStartSchema = z.strictObject({
  kind: z.literal('packing').describe('Packing lists for generated trips.'),
  world: z
    .union([z.int(), z.string()])
    .default('packing')
    .describe('Seed of the packing world: which things are usual where, and the hidden rubrics.'),
  thinking: z
    .boolean()
    .optional()
    .describe(
      'Lists with thinking before them, of varying quality; its words follow those of the lists in the vocabulary. Absent: no thinking.',
    ),
  hinted: z
    .number()
    .min(0)
    .max(1)
    .default(0.6)
    .describe('Share of the demonstrations that follow hints; the others follow habit.'),
})

/** The task with demonstrations, so many a step. */
export const packingStart = (
  { world: name, thinking = false, hinted }: z.output<typeof packingStartSchema>,
  { seed, batch }: { seed: number | string; batch: number },
): TaskWith<Trip, 'demonstrations'> => {
  const world = new PackingWorld(name)
  const demonstrate = thinking ? thoughtDemonstration : demonstration
  return {
    ...(thinking ? thinkingPackingTask(world) : packingTask(world)),
    demonstrations: step =>
      Array.from({ length: batch }, (_, i) => demonstrate(world, (step - 1) * batch + i, seed, hinted)),
  }
}
