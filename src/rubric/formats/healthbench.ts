/** @file HealthBench rows: `{prompt: messages, rubrics: [{criterion, points, tags}]}` (openai/simple-evals; RuscaRL). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Criterion, pointsSchema, type Verifier } from '../criterion.ts'
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

const KEYS = ['verifier', 'function', 'parameters'] as const
const MATH_TAG = 'math_verify'
const MATH_RULE = 'math_equal'

/** `a:b:c` is key `a` with text `b:c`. */
const split = (tag: string): [string, string] => {
  const cut = tag.indexOf(':')
  return cut < 0 ? [tag, ''] : [tag.slice(0, cut), tag.slice(cut + 1)]
}

const isVerifierTag = (tag: string) => (KEYS as readonly string[]).includes(split(tag)[0])

const paramsOf = (fn: string, text: string): Record<string, unknown> => {
  if (fn === MATH_TAG) return { gold: text }
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Not JSON: a lone parameter.
  }
  return { parameters: text }
}

/**
 * The verifier that tags name; undefined where no tag `verifier:rule` or `verifier:formal` is among them. `math_verify`
 * with its gold answer becomes our rule `math_equal`; parameters of other functions are a JSON object or a text.
 * @throws DataError for a verifier without a function, or `math_verify` without a gold answer.
 */
const verifierOfTags = (tags: readonly string[], place: string): Verifier | undefined => {
  const value = new Map(tags.filter(isVerifierTag).map(split))
  const kind = value.get('verifier')
  if (kind !== 'rule' && kind !== 'formal') return undefined
  const fn = value.get('function')
  if (!fn)
    throw new DataError(`${place}: expected a tag function:NAME beside verifier:${kind}, got none; add it`)
  const text = value.get('parameters')
  if (fn === MATH_TAG && text === undefined)
    throw new DataError(
      `${place}: expected a tag parameters:GOLD beside function:${MATH_TAG}, got none; add it`,
    )
  const params = text === undefined ? {} : { params: paramsOf(fn, text) }
  return { kind, fn: fn === MATH_TAG ? MATH_RULE : fn, ...params }
}

const tagsOfVerifier = ({ kind, fn, params }: Verifier): string[] => {
  const keys = Object.keys(params ?? {})
  const only = (key: string) => keys.length === 1 && keys[0] === key && typeof params![key] === 'string'
  if (fn === MATH_RULE && only('gold'))
    return [`verifier:${kind}`, `function:${MATH_TAG}`, `parameters:${params!.gold}`]
  const text = only('parameters') ? String(params!.parameters) : JSON.stringify(params)
  return [`verifier:${kind}`, `function:${fn}`, ...(params ? [`parameters:${text}`] : [])]
}

/** Tags that name a verifier: the given ones as they are if they do, otherwise with their verifier tags replaced. */
const tagsWith = (tags: readonly string[], verifier: Verifier | undefined): string[] => {
  if (sameVerifier(safely(tags), verifier)) return [...tags]
  const others = tags.filter(tag => !isVerifierTag(tag))
  return verifier ? [...others, ...tagsOfVerifier(verifier)] : others
}

const safely = (tags: readonly string[]): Verifier | undefined | null => {
  try {
    return verifierOfTags(tags, '')
  } catch {
    return null
  }
}

const sameVerifier = (a: Verifier | undefined | null, b: Verifier | undefined): boolean => {
  if (!a || !b) return a === b
  return a.kind === b.kind && a.fn === b.fn && JSON.stringify(a.params) === JSON.stringify(b.params)
}

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
