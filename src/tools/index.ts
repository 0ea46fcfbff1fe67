/** @file Tools of agents: any server of the Model Context Protocol, a local search index, search over HTTP. */

export { type HttpToolSettings, httpTool, httpToolSchema } from './http-search.ts'
export { type IndexToolSettings, indexTool, indexToolSchema } from './index-tool.ts'
export { type McpToolsSettings, mcpToolsSchema } from './mcp/settings.ts'
export {
  type OpenTools,
  openTools,
  type ToolsConfig,
  type ToolsRuntime,
  toolSourceSchema,
  toolsSchema,
} from './open.ts'
export * from './tool.ts'
