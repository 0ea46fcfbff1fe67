/** @file What tools that search are asked, one query and how many results, and how they answer: passages that can be cited. */

import { z } from 'zod'
import { describeValue } from '../util/schema.ts'
import { type Snippet, ToolError, type ToolResult } from './tool.ts'

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

const line = ({ id, title, text }: Snippet): string => `[${id}]${title ? ` ${title}` : ''}\n${text}`

/** Text and snippets of a search: passages by their ids, so that they can be cited. */
export const searchResult = (query: string, snippets: Snippet[]): ToolResult =>
  snippets.length === 0
    ? { text: `Nothing was found for ${JSON.stringify(query.slice(0, 200))}. Try other words.`, snippets: [] }
    : { text: snippets.map(line).join('\n\n'), snippets }
