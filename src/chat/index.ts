/** @file Chat: messages, the interface of a chat model, OpenAI-compatible endpoints alone or as a fleet, a model by script. */

export type * from './chat-model.ts'
export { type Clock, systemClock } from './clock.ts'
export { type EmbeddingOptions, embeddingSchema } from './embedding-config.ts'
export {
  EmbeddingModel,
  type EmbeddingRuntime,
  embeddingModel,
} from './embeddings.ts'
export type { EndpointStats } from './endpoint.ts'
export { COMPLETION_TOKENS, estimateJudging, type JudgingEstimate, type JudgingPlan } from './estimate.ts'
export { type FleetRuntime, type FleetStats, JudgeFleet, judgeFleet } from './fleet.ts'
export {
  type EndpointOptions,
  endpointSchema,
  type FleetOptions,
  type FleetSettings,
  fleetSchema,
} from './fleet-config.ts'
export type { DurationSummary } from './histogram.ts'
export { type LedgerEntry, type Price, priceSchema } from './ledger.ts'
export { OpenAiModel, type OpenAiRuntime, openAiModel } from './openai.ts'
export { type OpenAiOptions, openAiSchema } from './openai-config.ts'
export type { MaxTokensField, StructuredOutput } from './request.ts'
export { retryAfterMs } from './retry-after.ts'
export { type Script, scriptedModel } from './scripted-model.ts'
export * from './timed-model.ts'
export { VirtualClock } from './virtual-clock.ts'
