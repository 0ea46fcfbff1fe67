/** @file Passages as the text of an answer: numbered by their ids, so that they can be cited. */

import type { Snippet, ToolResult } from './tool.ts'

const line = ({ id, title, text }: Snippet): string => `[${id}]${title ? ` ${title}` : ''}\n${text}`

/** Text and snippets of a search. */
export const searchResult = (query: string, snippets: Snippet[]): ToolResult =>
  snippets.length === 0
    ? { text: `Nothing was found for ${JSON.stringify(query.slice(0, 200))}. Try other words.`, snippets: [] }
    : { text: snippets.map(line).join('\n\n'), snippets }
