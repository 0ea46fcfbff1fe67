/** @file What a model writes when it is asked for a rubric, and what of it is accepted. */

import { z } from 'zod'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { lintRubric } from '../../rubric/lint.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Parsed } from '../judge/parse.ts'

/** Bounds of a rubric that is asked for. */
export interface DraftLimits {
  minCriteria: number
  maxCriteria: number
  /** Points are whole numbers from 1 to this, and for flaws from minus this to -1. */
  maxPoints: number
  /** Points need not be whole numbers: the rubric that is revised has others. */
  fractions?: boolean
  /** Categories of which each needs a criterion; none: criteria have no category. */
  categories?: readonly string[]
}

// Loose: a model that adds a field of its own has still written a rubric.
const draftCriterion = z.looseObject({
  id: z.string().optional(),
  criterion: z.string().trim().min(1).max(2000),
  points: z.number(),
  category: z.string().optional(),
})
const draftSchema = z.looseObject({ criteria: z.array(draftCriterion) })

export type DraftCriterion = z.output<typeof draftCriterion>

/** JSON Schema of a draft, for servers that enforce one; `lists` are further fields of strings. */
export const draftAnswerSchema = (limits: DraftLimits, lists: readonly string[] = []) => {
  const { categories, minCriteria, maxCriteria, maxPoints, fractions } = limits
  const entry = {
    type: 'object',
    properties: {
      ...(lists.length > 0 && { id: { type: 'string' } }),
      criterion: { type: 'string' },
      ...(categories && { category: { type: 'string', enum: categories } }),
      points: { type: fractions ? 'number' : 'integer', minimum: -maxPoints, maximum: maxPoints },
    },
    required: [
      ...(lists.length > 0 ? ['id'] : []),
      'criterion',
      ...(categories ? ['category'] : []),
      'points',
    ],
    additionalProperties: false,
  }
  const strings = { type: 'array', items: { type: 'string' } }
  return {
    name: lists.length > 0 ? 'revised_rubric' : 'rubric',
    schema: {
      type: 'object',
      properties: {
        ...Object.fromEntries(lists.map(name => [name, strings])),
        criteria: { type: 'array', minItems: minCriteria, maxItems: maxCriteria, items: entry },
      },
      required: [...lists, 'criteria'],
      additionalProperties: false,
    },
  }
}

/** Reads the criteria of an answer, without looking at limits. */
export const readDraft = (json: unknown): Parsed<DraftCriterion[]> => {
  try {
    return { value: parseWith(draftSchema, json, 'answer', DataError).criteria }
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    return { problem: error.message }
  }
}

/** Warnings of the linter that a new criterion may not earn; whatever it calls an error is refused anyway. */
const REFUSED: ReadonlySet<string> = new Set(['duplicate', 'wrong-sign', 'addresses-judge', 'about-answer'])

/** Times as many as asked for: of so many each is not compared with each, which would take minutes. */
const FAR_TOO_MANY = 4

/**
 * Everything that keeps criteria from being accepted, a sentence each: bounds, categories, and what the linter finds
 * (contradictions, repetitions, signs that do not fit, words for the judge).
 * @param touched criteria that are new or changed: faults that were there before are no reason to refuse a revision
 */
export const draftProblems = (
  rubric: Rubric,
  limits: DraftLimits,
  touched: readonly string[] = rubric.criteria.map(({ id }) => id),
): string[] => {
  const { criteria } = rubric
  const { minCriteria, maxCriteria, maxPoints, fractions = false, categories = [] } = limits
  const count =
    criteria.length < minCriteria || criteria.length > maxCriteria
      ? [`expected ${minCriteria} to ${maxCriteria} criteria, got ${criteria.length}`]
      : []
  if (criteria.length > FAR_TOO_MANY * maxCriteria) return count
  const points = criteria.flatMap(({ id, points: p }) =>
    p === 0 || Math.abs(p) > maxPoints || !(fractions || Number.isInteger(p))
      ? [
          `${id}: expected ${fractions ? 'points' : 'whole points'} from 1 to ${maxPoints}, or from -${maxPoints} to -1 for a flaw, got ${p}`,
        ]
      : [],
  )
  const strangers = criteria.flatMap(({ id, category }) =>
    categories.length > 0 && !categories.includes(category ?? '')
      ? [`${id}: expected a category among ${categories.join(', ')}, got ${category ?? 'none'}`]
      : [],
  )
  const missing = categories
    .filter(name => !criteria.some(({ category }) => category === name))
    .map(name => `expected at least one criterion of the category ${name}, got none`)
  const faults = lintRubric(rubric)
    .filter(({ severity, rule }) => severity === 'error' || REFUSED.has(rule))
    .filter(
      ({ rule, criterionIds }) => rule !== 'zero-points' && criterionIds.some(id => touched.includes(id)),
    )
    .map(({ message, fix }) => `${message}; ${fix}`)
  return [...count, ...points, ...strangers, ...missing, ...faults]
}

/** Criteria c1, c2, ... of a draft. */
export const toCriteria = (draft: readonly DraftCriterion[]): Criterion[] =>
  draft.map(({ criterion, points, category }, i) => ({
    id: `c${i + 1}`,
    text: criterion,
    points,
    ...(category !== undefined && { category }),
  }))
