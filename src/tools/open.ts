/** @file Tools from a configuration: opened together, closed together. */

import { z } from 'zod'
import { ConfigError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { httpTool, httpToolSchema } from './http-search.ts'
import { indexTool, indexToolSchema } from './index-tool.ts'
import { mcpToolsSchema } from './mcp/settings.ts'
import type { ProcessEnv } from './secrets.ts'
import type { Tool } from './tool.ts'

/** Where tools come from. */
export const toolSourceSchema = z.discriminatedUnion('kind', [
  mcpToolsSchema,
  indexToolSchema,
  httpToolSchema,
])
export const toolsSchema = z.array(toolSourceSchema)
export type ToolsConfig = z.input<typeof toolsSchema>
type ToolSource = z.output<typeof toolSourceSchema>

export interface ToolsRuntime {
  /** Where secrets are. Default: this process's environment. */
  env?: ProcessEnv
}

export interface OpenTools {
  tools: Tool[]
  /** Ends connections and processes. */
  close(): Promise<void>
}

const openSource = async (source: ToolSource, { env }: ToolsRuntime): Promise<OpenTools> => {
  if (source.kind === 'mcp') return (await import('./mcp/mcp-tools.ts')).mcpTools(source, env)
  const { tool, close } = source.kind === 'index' ? indexTool(source) : httpTool(source, { env })
  return { tools: [tool], close: async () => close() }
}

const refuseSameNames = (tools: readonly Tool[]): void => {
  const seen = new Set<string>()
  for (const { name } of tools) {
    if (seen.has(name))
      throw new ConfigError(`tools: expected names that are all different, got ${name} twice`, {
        hint: 'set name or prefix',
      })
    seen.add(name)
  }
}

/**
 * Opens all tools of a configuration: an index is read, a server started or connected to. Nothing is called that is not configured.
 * @throws ConfigError, DataError or ToolError for what cannot be opened; what was opened before is closed
 * @example
 * const { buildIndex } = await import('gradus/search')
 * await buildIndex('rivers.index', [{ id: 'aare', text: 'The Aare flows through Bern.', place: 'rivers' }])
 * const { tools, close } = await openTools([{ kind: 'index', path: 'rivers.index' }])
 * const { snippets } = await tools[0].call({ query: 'Bern' }, { signal: AbortSignal.timeout(10_000) })
 * snippets?.map(({ id }) => id) // [ 'aare' ]
 * await close()
 */
export const openTools = async (config: ToolsConfig, runtime: ToolsRuntime = {}): Promise<OpenTools> => {
  const sources = parseWith(toolsSchema, config, 'tools')
  const opened: OpenTools[] = []
  const close = async () => {
    await Promise.allSettled(opened.map(each => each.close()))
  }
  try {
    for (const source of sources) opened.push(await openSource(source, runtime))
    const tools = opened.flatMap(each => each.tools)
    refuseSameNames(tools)
    return { tools, close }
  } catch (error) {
    await close()
    throw error
  }
}
