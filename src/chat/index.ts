/** @file Chat endpoints: one, or a fleet of them with limits, retries and a ledger. */

export { type Clock, systemClock } from './clock.ts'
export { estimateJudging, type JudgingEstimate, type JudgingPlan } from './estimate.ts'
export { type FleetRuntime, type FleetStats, JudgeFleet, judgeFleet } from './fleet.ts'
export { type EndpointOptions, endpointSchema, type FleetOptions, fleetSchema } from './fleet-config.ts'
export type { DurationSummary } from './histogram.ts'
export type { LaneStats } from './lane.ts'
export { type LedgerEntry, type Price, priceSchema } from './ledger.ts'
export { OpenAiModel, type OpenAiOptions, type OpenAiRuntime, openAiModel, openAiSchema } from './openai.ts'
export type { MaxTokensField, StructuredOutput } from './request.ts'
export { retryAfterMs } from './retry-after.ts'
