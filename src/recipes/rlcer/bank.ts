/** @file Valid criteria by question, kept across steps: what later reasoners on the same question may be shown. */

import { z } from 'zod'
import type { Criterion } from '../../rubric/criterion.ts'
import { CheckpointError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { JudgedCriterion } from './validity.ts'

const storedSchema = z.record(
  z.string(),
  z.array(z.strictObject({ text: z.string(), points: z.number(), category: z.string().optional() })),
)
type Stored = z.output<typeof storedSchema>

/** Criteria of a question that are kept: those that went best with being right. */
const MOST_KEPT = 15

export class ProposedRubrics {
  #stored: Stored = {}

  /** The latest valid criteria of a question; none where there were none yet. */
  criteriaOf(name: string): Criterion[] {
    const own = Object.hasOwn(this.#stored, name) ? this.#stored[name] : []
    return own.map((criterion, i) => ({ id: `c${i + 1}`, origin: 'self', ...criterion }))
  }

  /** Replaces what is known of a question. Without any valid criterion it stays as it was. */
  keep(name: string, criteria: readonly JudgedCriterion[]): void {
    if (criteria.length === 0) return
    this.#stored[name] = [...criteria]
      .sort((a, b) => (b.correlation ?? 0) - (a.correlation ?? 0))
      .slice(0, MOST_KEPT)
      .map(({ criterion: { text, points, category } }) => ({
        ...{ text, points },
        ...(category !== undefined && { category }),
      }))
  }

  get questions(): number {
    return Object.keys(this.#stored).length
  }

  save(): unknown {
    return this.#stored
  }

  /** @throws CheckpointError for something else than `save` gives */
  load(value: unknown): void {
    this.#stored = parseWith(storedSchema, value, "recipe's state: rubric bank", CheckpointError)
  }
}
