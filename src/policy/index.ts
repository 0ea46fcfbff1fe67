/** @file Policies: sample, score, learn, save; in this process, its engines in worker threads. */

export { localChatModel, type PolicyChatParts, policyChatModel } from './chat/chat-model.ts'
export { type LocalChat, openLocalChat } from './chat/local-chat.ts'
export { openCheckpointEmbedder } from './local/checkpoint-embedder.ts'
export { createEngine, type Engine, type EngineOptions } from './local/engine.ts'
export { LocalPolicy } from './local/local-policy.ts'
export type { ModelSource } from './local/model-source.ts'
export { type PairedOptions, PairedPolicy } from './local/paired-policy.ts'
export {
  isRemote,
  type LocalPolicySettings,
  localPolicySchema,
  openPolicy,
  type PipelinedPolicySettings,
  type PolicySettings,
  pipelinedPolicySchema,
  policySchema,
  refusedLoss,
} from './open.ts'
export { openEmbedder } from './open-embedder.ts'
export type * from './policy.ts'
export { ServedError, type ServedErrorKind } from './served/errors.ts'
export { ServedModel } from './served/served-model.ts'
export { type ServedOptions, servedSchema } from './served/settings.ts'
export { type TinkerSettings, wordsFolder } from './tinker/settings.ts'
export { assertComputable, type UpdateOptions, type UpdateStats, updateOnce } from './update.ts'
