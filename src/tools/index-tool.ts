/** @file A tool that searches a local index. */

import { z } from 'zod'
import { MAX_TOP, SEARCH_DEFAULTS, SearchIndex } from '../search/index.ts'
import { queryParameters, readQuery, searchResult } from './query.ts'
import { TOOL_NAME, type Tool, ToolError } from './tool.ts'

/** A local search as a configuration writes it. */
export const indexToolSchema = z.strictObject({
  kind: z.literal('index').describe('Search in a local index.'),
  path: z.string().min(1).describe('Index that `gradus search build` made.'),
  name: z.string().regex(TOOL_NAME).default('search').describe('Name of the tool, as the model calls it.'),
  description: z
    .string()
    .min(1)
    .default('Searches a collection of texts and returns the passages that match best, with ids to cite.')
    .describe('Description of the tool that the model is shown.'),
  top: z.int().positive().max(MAX_TOP).default(5).describe('Most passages in an answer.'),
  snippetChars: z
    .int()
    .min(50)
    .max(100_000)
    .default(SEARCH_DEFAULTS.snippetChars)
    .describe('Most characters of a passage.'),
})
export type IndexToolSettings = z.output<typeof indexToolSchema>

/** @throws DataError for a file that is no index, or damaged */
export const indexTool = (settings: IndexToolSettings): { tool: Tool; close(): void } => {
  const { name, description, top: most, snippetChars } = settings
  const index = new SearchIndex(settings.path)
  let isOpen = true
  const call: Tool['call'] = async (args, { signal }) => {
    const { query, top } = readQuery(name, args, most)
    if (signal.aborted) throw new ToolError('cancelled', `${name}: the call was not waited for`)
    if (!isOpen) throw new ToolError('failed', `${name}: the index is closed`)
    const hits = index.search(query, { top, snippetChars })
    return searchResult(
      query,
      hits.map(({ id, title, snippet }) => ({ id, ...(title !== undefined && { title }), text: snippet })),
    )
  }
  const close = () => {
    if (isOpen) index.close()
    isOpen = false
  }
  return { tool: { name, description, parameters: queryParameters(most), call }, close }
}
