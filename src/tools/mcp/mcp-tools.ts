/** @file The tools of a server of the Model Context Protocol, as tools of an agent. */

import type { CallToolResult, ContentBlock, Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import { ConfigError } from '../../util/errors.ts'
import { isRecord } from '../../util/own-value.ts'
import { describeValue } from '../../util/schema.ts'
import { toolAddress } from '../http-exchange.ts'
import { type ProcessEnv, Secrets } from '../secrets.ts'
import { type Snippet, TOOL_NAME, type Tool, ToolError, type ToolResult } from '../tool.ts'
import { httpTransport } from './http-transport.ts'
import { McpServer } from './server.ts'
import { ServerProcess } from './server-process.ts'
import type { McpToolsSettings } from './settings.ts'

/** Longest description: some servers write pages, and every prompt has them. */
const MAX_DESCRIPTION = 2_000

const openServer = (settings: McpToolsSettings, env: ProcessEnv): { server: McpServer; secrets: Secrets } => {
  const { command, args, cwd, url, connectTimeoutMs, timeoutMs, maxAnswerBytes } = settings
  const secrets = new Secrets(env)
  const hide = (text: string) => secrets.hide(text)
  const limits = { connectTimeoutMs, timeoutMs, hide }
  if (command === undefined) {
    const address = toolAddress('mcp', url ?? '', 'an address', 'headers')
    const where = `mcp ${address.origin}`
    const headers = secrets.headers(settings.headers, where)
    const connect = () => httpTransport(address, headers, maxAnswerBytes)
    return { server: new McpServer({ ...limits, where, connect }), secrets }
  }
  const where = `mcp ${command}`
  const variables = Object.fromEntries(
    settings.env.map(name => [name, secrets.variable(name, `${where}: env`)]),
  )
  const connect = () =>
    new ServerProcess({
      command,
      args,
      env: variables,
      maxMessageBytes: maxAnswerBytes,
      ...(cwd !== undefined && { cwd }),
    })
  return { server: new McpServer({ ...limits, where, connect }), secrets }
}

const chosen = (tools: readonly ServerTool[], only: readonly string[] | undefined): ServerTool[] => {
  const missing = only?.find(name => !tools.some(tool => tool.name === name))
  if (missing !== undefined)
    throw new ConfigError(
      `mcp: only: expected names of the server's tools (${tools.map(({ name }) => name).join(', ')}), got ${missing}`,
    )
  return tools.filter(({ name }) => only === undefined || only.includes(name))
}

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
const resultText = ({ content, structuredContent }: CallToolResult): ToolResult => {
  const texts = content.map(textOfBlock).filter(text => text !== '')
  const text =
    texts.length === 0 && structuredContent !== undefined
      ? JSON.stringify(structuredContent)
      : texts.join('\n\n')
  const snippets = content.flatMap(snippetOfBlock)
  return { text, ...(snippets.length > 0 && { snippets }) }
}

const argumentsOf = (where: string, args: unknown): Record<string, unknown> => {
  if (args === undefined || args === null) return {}
  if (isRecord(args)) return args
  throw new ToolError('arguments', `${where}: expected an object of arguments, got ${describeValue(args)}`)
}

/**
 * Connects to a server and lists its tools.
 * @throws ToolError where it cannot be reached; ConfigError for settings that cannot be used
 */
export const mcpTools = async (
  settings: McpToolsSettings,
  env: ProcessEnv = process.env,
): Promise<{ tools: Tool[]; close(): Promise<void> }> => {
  const { server, secrets } = openServer(settings, env)
  const asTool = ({ name, description, title, inputSchema }: ServerTool): Tool => {
    const own = `${settings.prefix}${name}`
    if (!TOOL_NAME.test(own))
      throw new ConfigError(
        `mcp: expected names of 1 to 64 letters, digits, _, - and ., got ${describeValue(own)}; leave it out with only, or change prefix`,
      )
    return {
      name: own,
      description: secrets.hide(description ?? title ?? own).slice(0, MAX_DESCRIPTION),
      parameters: secrets.hideIn(inputSchema),
      call: async (args, { signal }) => {
        const result = await server.callTool(name, argumentsOf(own, args), signal)
        const shown = secrets.hideIn(resultText(result))
        if (result.isError)
          throw new ToolError('failed', `${own}: ${shown.text || 'it failed without a word'}`)
        return shown
      },
    }
  }
  try {
    const tools = chosen(await server.listTools(), settings.only).map(asTool)
    return { tools, close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}
