/** @file What a rubric is: criteria worth points, and verdicts about them. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'

/** Worth of a criterion: above zero rewards, below zero penalises (spec 1.1). Never zero. */
export type Points = number

/** One thing to look for in a response. */
export interface Criterion {
  id: string
  /** The statement that is judged; for a penalty it states the flaw. */
  text: string
  points: Points
  category?: string
  tags?: string[]
  /** Stage of a staged trajectory: plan, research, review, answer (spec 5.1). */
  stage?: 1 | 2 | 3 | 4
  /** Given with the task, proposed while training, or written by the policy itself. */
  origin?: 'persistent' | 'adaptive' | 'self'
  /** Checked without a judge. */
  verifier?: Verifier
}

/** What checks a criterion instead of a judge: a named rule predicate, or a formal check by a solver. */
export interface Verifier {
  kind: 'rule' | 'formal'
  fn: string
  params?: Record<string, unknown>
}

export interface Rubric {
  id?: string
  criteria: Criterion[]
}

/** What a grader found for one criterion. A grader that failed says null: a failure is not a zero (spec 1.5). */
export interface Verdict {
  criterionId: string
  met: boolean | null
  /** Graded credit in [0, 1]; where present it is used instead of `met`. */
  credit?: number
  /** Three-step level of staged judges (spec 5.2). */
  level?: 0 | 1 | 2
  explanation?: string
  source: 'rule' | 'formal' | 'model' | 'llm'
  attempts?: number
  raw?: string
}

/** A reward with everything that made it: raw parts before any weight, verdicts, flags. */
export interface RewardRecord {
  total: number
  parts: Record<string, number>
  verdicts: Verdict[]
  flags: Record<string, number>
}

const verifierSchema = z.strictObject({
  kind: z.enum(['rule', 'formal']),
  fn: z.string().min(1),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** Shape of a criterion in a file. */
export const criterionSchema = z.strictObject({
  id: z.string().min(1),
  text: z.string().min(1),
  points: z
    .number()
    .refine(points => points !== 0, 'a non-zero number; a criterion that is worth nothing cannot be scored'),
  category: z.string().optional(),
  tags: z.array(z.string()).optional(),
  stage: z.literal([1, 2, 3, 4]).optional(),
  origin: z.enum(['persistent', 'adaptive', 'self']).optional(),
  verifier: verifierSchema.optional(),
})

/** Shape of a rubric in a file. */
export const rubricSchema = z.strictObject({
  id: z.string().optional(),
  criteria: z.array(criterionSchema),
})

/**
 * Checks an outside value (from YAML or JSON) and returns it as a rubric. An empty rubric is allowed: some methods
 * propose none (spec 11, case 4).
 * @param source named in errors, for example the file
 * @throws DataError listing every problem, also ids that occur twice.
 */
export const parseRubric = (value: unknown, source = 'rubric'): Rubric => {
  const rubric = parseWith(rubricSchema, value, source, DataError)
  const seen = new Map<string, number>()
  for (const [index, { id }] of rubric.criteria.entries()) {
    const first = seen.get(id)
    if (first !== undefined)
      throw new DataError(
        `${source}: criteria[${index}].id: expected an id of its own, got ${JSON.stringify(id)} as in criteria[${first}]; rename one, verdicts are matched by id`,
      )
    seen.set(id, index)
  }
  return rubric
}

/** Sum of the positive points: the best attainable score. */
export const maxPoints = (rubric: Rubric): number =>
  rubric.criteria.reduce((sum, { points }) => sum + Math.max(points, 0), 0)

/** Sum of the negative points: the worst attainable score. */
export const minPoints = (rubric: Rubric): number =>
  rubric.criteria.reduce((sum, { points }) => sum + Math.min(points, 0), 0)
