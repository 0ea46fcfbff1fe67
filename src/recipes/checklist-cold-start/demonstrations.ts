/** @file Demonstrations of the packing task: habit, and following hints. */

import { demonstration, type PackingWorld, thoughtDemonstration } from '../../tasks/checklist/index.ts'
import type { ChecklistPhase } from './config.ts'

/** The demonstrations of a step; they depend on seed and step alone. */
export const demonstrations =
  ({ batch, seed, hinted, thinking = false }: ChecklistPhase, world: PackingWorld) =>
  (step: number) =>
    Array.from({ length: batch }, (_, i) => {
      const index = (step - 1) * batch + i
      const demonstrate = thinking ? thoughtDemonstration : demonstration
      return demonstrate(world, index, seed, hinted)
    })
