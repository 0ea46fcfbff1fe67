/** @file The reward service: other trainers' reward function. */

export { keepGoing, type Unhandled } from '../http/guards.ts'
export { type AppParts, rewardApp } from './app.ts'
export { inThisThread, type RewardBack } from './back.ts'
export { type RewardConfig, type RewardConfigInput, rewardConfigSchema } from './config.ts'
export { parseRewardConfig, readRewardConfig } from './config-file.ts'
export type { RewardItem, RewardResult } from './item.ts'
export { type OpenOptions, rewardService } from './open.ts'
export { inOwnThread, type OwnThreadOptions } from './own-thread.ts'
export { type RewardServer, startRewardServer } from './server.ts'
export { RewardService } from './service.ts'
