/** @file Arguments of tools that search: one query, and how many results. */

import { z } from 'zod'
import { describeValue } from '../util/schema.ts'
import { ToolError } from './tool.ts'

const querySchema = z.object({ query: z.string(), top: z.number().optional() })

/** JSON Schema of a search's arguments. */
export const queryParameters = (mostTop: number): Readonly<Record<string, unknown>> => ({
  type: 'object',
  properties: {
    query: { type: 'string', description: 'what to look for, in a few words' },
    top: { type: 'integer', minimum: 1, maximum: mostTop, description: 'most results' },
  },
  required: ['query'],
  additionalProperties: false,
})

/** @throws ToolError for arguments without a query */
export const readQuery = (
  where: string,
  args: unknown,
  defaultTop: number,
): { query: string; top: number } => {
  const parsed = querySchema.safeParse(args)
  if (!parsed.success || parsed.data.query.trim() === '')
    throw new ToolError('arguments', `${where}: expected {"query": "words"}, got ${describeValue(args)}`)
  const { query, top = defaultTop } = parsed.data
  return { query: query.trim(), top: Math.max(1, Math.min(Math.floor(top) || 1, defaultTop)) }
}
