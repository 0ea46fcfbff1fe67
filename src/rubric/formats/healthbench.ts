/** @file HealthBench rows: `{prompt: messages, rubrics: [{criterion, points, tags}]}` (openai/simple-evals; RuscaRL). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Criterion, pointsSchema } from '../criterion.ts'
import {
  checkHolds,
  extraOf,
  isObject,
  messagesSchema,
  needsKeys,
  ownExtra,
  ownPart,
  type RubricFormat,
  type RubricItem,
} from './item.ts'
import { tagsWith, verifierOfTags } from './verifier-tags.ts'

const name = 'healthbench'

const schema = z.looseObject({
  prompt: messagesSchema,
  rubrics: z.array(
    z.looseObject({
      criterion: z.string().min(1),
      points: pointsSchema,
      tags: z.array(z.string()).optional(),
    }),
  ),
  prompt_id: z.string().optional(),
  ideal_completions_data: z.unknown().optional(),
})

type Row = z.output<typeof schema>

const readCriterion = (row: Row['rubrics'][number], index: number, place: string): Criterion => {
  const { criterion, points, tags } = row
  const verifier = tags && verifierOfTags(tags, `${place}: rubrics[${index}].tags`)
  const axis = tags?.find(tag => tag.startsWith('axis:'))?.slice('axis:'.length)
  return {
    id: `c${index}`,
    text: criterion,
    points,
    ...(axis ? { category: axis } : {}),
    ...(tags ? { tags } : {}),
    ...(verifier ? { verifier } : {}),
    ...extraOf(row, ['criterion', 'points', 'tags']),
  }
}

/** Physicians' own best answer, in the full data set. */
const referenceOf = (data: unknown): { reference?: string } => {
  const ideal = isObject(data) ? data.ideal_completion : undefined
  return typeof ideal === 'string' ? { reference: ideal } : {}
}

const withReference = ({ extra, source, reference }: RubricItem) => {
  const data = source === name ? extra?.ideal_completions_data : undefined
  if (reference === undefined || referenceOf(data).reference === reference) return {}
  return { ideal_completions_data: { ...(isObject(data) ? data : {}), ideal_completion: reference } }
}

/**
 * Criteria are named by their place, c0, c1, ...; the axis tag is their category. Tags that name a verifier become one
 * and are written back (`verifier-tags.ts`).
 */
export const healthbench: RubricFormat = {
  name,

  mismatch: row => {
    const missing = needsKeys(row, ['prompt', 'rubrics'])
    if (missing !== null) return missing
    const { prompt, rubrics } = row as { prompt: unknown; rubrics: unknown }
    if (!Array.isArray(prompt)) return 'prompt is no list of messages'
    if (!Array.isArray(rubrics)) return 'rubrics is no list'
    return rubrics.length > 0 ? needsKeys(rubrics[0], ['criterion', 'points']) : null
  },

  read: (value, place, id) => {
    const row = parseWith(schema, value, place, DataError)
    return {
      id: row.prompt_id ?? id,
      prompt: row.prompt,
      ...referenceOf(row.ideal_completions_data),
      rubric: { criteria: row.rubrics.map((criterion, index) => readCriterion(criterion, index, place)) },
      source: name,
      ...extraOf(row, ['prompt', 'rubrics']),
    }
  },

  write: item => {
    checkHolds(item, name, { penalties: true, verifiers: true })
    return {
      prompt: item.prompt ?? [],
      rubrics: item.rubric.criteria.map(criterion => {
        const tags = tagsWith(criterion.tags ?? [], criterion.verifier)
        return {
          criterion: criterion.text,
          points: criterion.points,
          ...(criterion.tags || tags.length > 0 || item.source !== name ? { tags } : {}),
          ...ownPart(item, criterion, name),
        }
      }),
      ...(item.source === name ? {} : { prompt_id: item.id }),
      ...ownExtra(item, name),
      ...withReference(item),
    }
  },
}
