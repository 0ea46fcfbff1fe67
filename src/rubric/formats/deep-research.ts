/** @file DeepResearch Bench rows: weighted dimensions of weighted criteria (Ayanami0730/deep_research_bench). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Criterion } from '../criterion.ts'
import type { RubricTree } from '../tree.ts'
import {
  checkHolds,
  extraOf,
  needsKeys,
  ownExtra,
  ownPart,
  questionOf,
  type RubricFormat,
  type RubricItem,
  userPrompt,
} from './item.ts'

const name = 'deep-research-bench'

const weight = z.number().positive()

const schema = z
  .looseObject({
    id: z.union([z.number(), z.string()]).optional(),
    prompt: z.string(),
    dimension_weight: z.record(z.string(), weight),
    criterions: z.record(
      z.string(),
      z.array(z.looseObject({ criterion: z.string().min(1), explanation: z.string().min(1), weight })).min(1),
    ),
  })
  .refine(
    ({ dimension_weight, criterions }) =>
      Object.keys(dimension_weight).sort().join('\n') === Object.keys(criterions).sort().join('\n'),
    'the same dimensions in dimension_weight and criterions; add what is missing',
  )

type Row = z.output<typeof schema>

const sum = (xs: readonly number[]) => xs.reduce((total, x) => total + x, 0)

const readRubric = ({ dimension_weight, criterions }: Row) => {
  const criteria: Criterion[] = []
  const children: RubricTree[] = []
  const allDimensions = sum(Object.values(dimension_weight))
  for (const [dimension, entries] of Object.entries(criterions)) {
    const share = dimension_weight[dimension] / allDimensions
    const whole = sum(entries.map(entry => entry.weight))
    const leaves = entries.map((entry, index): RubricTree => {
      const id = `${dimension}.${index}`
      criteria.push({
        id,
        title: entry.criterion,
        text: entry.explanation,
        points: (share * entry.weight) / whole,
        category: dimension,
        ...extraOf(entry, ['criterion', 'explanation', 'weight']),
      })
      return { id, weight: entry.weight }
    })
    children.push({ id: dimension, weight: dimension_weight[dimension], children: leaves })
  }
  return { criteria, tree: { id: 'report', weight: 1, children } }
}

const dimensionsOf = (item: RubricItem): RubricTree[] => {
  const dimensions = item.rubric.tree?.children ?? []
  const flat = dimensions.every(({ children }) => children?.every(leaf => !leaf.children?.length))
  if (dimensions.length === 0 || !flat)
    throw new DataError(
      `item ${item.id}: format ${name} expects a tree of dimensions and criteria, got another; write native instead`,
    )
  return dimensions
}

/**
 * A tree of two levels: dimensions, and the criteria of each. A criterion's points are the share of the whole that it
 * decides; what it is about is its title, what is looked for its text.
 */
export const deepResearch: RubricFormat = {
  name,
  mismatch: row => needsKeys(row, ['criterions', 'dimension_weight']),

  read: (value, place, id) => {
    const row = parseWith(schema, value, place, DataError)
    return {
      id: row.id === undefined ? id : String(row.id),
      prompt: userPrompt(row.prompt),
      rubric: readRubric(row),
      source: name,
      ...extraOf(row, ['prompt', 'dimension_weight', 'criterions']),
    }
  },

  write: item => {
    checkHolds(item, name, { trees: true })
    const dimensions = dimensionsOf(item)
    const byId = new Map(item.rubric.criteria.map(criterion => [criterion.id, criterion]))
    const entry = (leaf: RubricTree) => {
      const criterion = byId.get(leaf.id)!
      return {
        criterion: criterion.title ?? criterion.id,
        explanation: criterion.text,
        weight: leaf.weight,
        ...ownPart(item, criterion, name),
      }
    }
    return {
      ...(item.source === name ? {} : { id: item.id }),
      prompt: questionOf(item, name),
      dimension_weight: Object.fromEntries(dimensions.map(({ id, weight }) => [id, weight])),
      criterions: Object.fromEntries(dimensions.map(({ id, children }) => [id, children!.map(entry)])),
      ...ownExtra(item, name),
    }
  },
}
