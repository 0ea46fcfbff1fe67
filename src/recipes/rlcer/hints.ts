/** @file Hints: criteria of earlier steps in training; at evaluation the policy's own rubrics, and placebos as long as they are. */

import { z } from 'zod'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import { CheckpointError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { lambdasIn, scaffoldedPrompts } from '../common/scaffold.ts'
import type { RlcerConfig } from './config.ts'
import type { ExplorationParts } from './exploration.ts'
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

/** What a question is hinted with: criteria, and the tokens that they add to its prompt. */
export interface QuestionHint {
  criteria: readonly Criterion[]
  tokens: number
}

/** As many of the criteria, from the first, as leave room for so many tokens of an answer. */
export const fittingHints = <Problem>(
  task: Pick<Task<Problem>, 'prompt'>,
  problem: Problem,
  criteria: readonly Criterion[],
  { maxTokens, positions = Number.POSITIVE_INFINITY }: { maxTokens: number; positions?: number },
): readonly Criterion[] => {
  let count = criteria.length
  while (count > 0 && task.prompt(problem, criteria.slice(0, count)).length + maxTokens > positions) count--
  return criteria.slice(0, count)
}

/**
 * The hints of another question for each question, as long as its own or nearly: among those with as many criteria the one whose
 * length is next, and only where there is none one with another number. None for a question without hints.
 * @param names by question; the same question is never another one
 */
export const placeboHints = (
  hints: readonly QuestionHint[],
  names: readonly string[],
  seed: number | string,
): (readonly Criterion[])[] => {
  // Ties are in an order of their own, so that neighbours in the test set have nothing to do with each other.
  const order = new Rng(`placebo hints/${seed}`)
    .shuffle(hints.map((_, i) => i))
    .filter(i => hints[i].criteria.length > 0)
    .sort((a, b) => hints[a].criteria.length - hints[b].criteria.length || hints[a].tokens - hints[b].tokens)
  const placebo = hints.map((): readonly Criterion[] => [])
  order.forEach((own, at) => {
    const other = nearest(
      order,
      at,
      other => names[other] !== names[own],
      (a, b) =>
        [hints[a].criteria.length - hints[b].criteria.length, hints[a].tokens - hints[b].tokens].map(
          Math.abs,
        ),
    )
    if (other !== null) placebo[own] = hints[other].criteria
  })
  return placebo
}

/** Places that are looked at on either side. */
const LOOKED_AT = 16

/** The nearest in an order by distances that are compared one after the other. */
const nearest = (
  order: readonly number[],
  at: number,
  isOther: (item: number) => boolean,
  distance: (a: number, b: number) => readonly number[],
): number | null => {
  let best: { item: number; far: readonly number[] } | null = null
  for (let step = 1; step <= LOOKED_AT; step++)
    for (const place of [at + step, at - step]) {
      const item = order[place]
      if (item === undefined || !isOther(item)) continue
      const far = distance(order[at], item)
      if (!best || far[0] < best.far[0] || (far[0] === best.far[0] && far[1] < best.far[1]))
        best = { item, far }
    }
  return best?.item ?? null
}

/** Prompts with valid criteria of earlier steps, where there is a scaffold. */
export const hintedPrompts = <Problem>(
  { scaffold, rollout, steps, seed }: RlcerConfig,
  { task, positions }: Pick<ExplorationParts<Problem>, 'task' | 'positions'>,
  bank: ProposedRubrics,
  problems: readonly Problem[],
  step: number,
) => {
  const room = { maxTokens: rollout.maxTokens, positions }
  const criteria = (own: Problem) => fittingHints(task, own, bank.criteriaOf(task.id(own)), room)
  return (
    scaffold &&
    scaffoldedPrompts(
      lambdasIn(step, { scaffold, rollout, steps }),
      { criteria, prompt: task.prompt },
      problems,
      { label: 'rlcer', seed, step },
    )
  )
}
