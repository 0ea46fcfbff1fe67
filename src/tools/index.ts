/** @file Tools of agents: any server of the Model Context Protocol, a local search index, search over HTTP. */

export { type HttpToolSettings, httpTool, httpToolSchema } from './http-search.ts'
export { type IndexToolSettings, indexTool, indexToolSchema } from './index-tool.ts'
export { type McpToolsSettings, mcpToolsSchema } from './mcp/settings.ts'
export * from './open.ts'
export { OpenEnvClient, type OpenEnvRuntime } from './openenv/client.ts'
export type { EnvironmentSchemas, StepResult } from './openenv/messages.ts'
export { OpenEnvError, type OpenEnvSession, REFUSED_ACTION } from './openenv/session.ts'
export { type OpenEnvSettings, openEnvSchema, openEnvShape } from './openenv/settings.ts'
export * from './tool.ts'
