/** @file The tools of a server of the Model Context Protocol, as tools of an agent. */

import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import { ConfigError } from '../../util/errors.ts'
import { describeValue } from '../../util/schema.ts'
import { type ProcessEnv, Secrets } from '../secrets.ts'
import { TOOL_NAME, type Tool, ToolError } from '../tool.ts'
import { resultText } from './content.ts'
import { httpTransport } from './http-transport.ts'
import { McpServer } from './server.ts'
import { ServerProcess } from './server-process.ts'
import type { McpToolsSettings } from './settings.ts'

/** Longest description: some servers write pages, and every prompt has them. */
const MAX_DESCRIPTION = 2_000

const serverUrl = (text: string): URL => {
  if (!URL.canParse(text)) throw new ConfigError(`mcp: url: expected an address, got ${describeValue(text)}`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ConfigError(`mcp: url: expected http or https, got ${url.protocol.slice(0, -1)}`)
  if (url.username || url.password)
    throw new ConfigError('mcp: url: expected no user or password in it, got one', {
      hint: 'name an environment variable in headers',
    })
  return url
}

const openServer = (settings: McpToolsSettings, env: ProcessEnv): { server: McpServer; secrets: Secrets } => {
  const { command, args, cwd, url, connectTimeoutMs, timeoutMs, maxAnswerBytes } = settings
  const secrets = new Secrets(env)
  const hide = (text: string) => secrets.hide(text)
  const limits = { connectTimeoutMs, timeoutMs, hide }
  if (command === undefined) {
    const address = serverUrl(url ?? '')
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

const argumentsOf = (where: string, args: unknown): Record<string, unknown> => {
  if (args === undefined || args === null) return {}
  if (typeof args === 'object' && !Array.isArray(args)) return args as Record<string, unknown>
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
