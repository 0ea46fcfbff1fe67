/** @file What a server's tool answered, as text: texts as they are, embedded texts as snippets, a word for everything else. */

import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import type { Snippet, ToolResult } from '../tool.ts'

const bytesOfBase64 = (data: string): number => Math.floor((data.length * 3) / 4)

const textOfBlock = (block: ContentBlock): string => {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource':
      return 'text' in block.resource
        ? `[${block.resource.uri}]\n${block.resource.text}`
        : `[${block.resource.uri}: ${block.resource.mimeType ?? 'a file'} of ${bytesOfBase64(block.resource.blob)} bytes, which is no text]`
    case 'resource_link':
      return `[${block.uri}] ${[block.title ?? block.name, block.description].filter(Boolean).join(': ')}`
    default:
      return `[${block.type}: ${block.mimeType} of ${bytesOfBase64(block.data)} bytes, which is no text]`
  }
}

const snippetOfBlock = (block: ContentBlock): Snippet[] =>
  block.type === 'resource' && 'text' in block.resource
    ? [{ id: block.resource.uri, text: block.resource.text }]
    : []

/** Text and snippets of an answer; structured content as JSON where there is nothing else. */
export const resultText = ({ content, structuredContent }: CallToolResult): ToolResult => {
  const texts = content.map(textOfBlock).filter(text => text !== '')
  const text =
    texts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : texts.join('\n\n')
  const snippets = content.flatMap(snippetOfBlock)
  return { text, ...(snippets.length > 0 && { snippets }) }
}
