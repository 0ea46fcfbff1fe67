/** @file Reinforcement learning as pure functions: advantages, losses, schedules, datums. */

export * from './advantages.ts'
export * from './aggregate.ts'
export * from './critic.ts'
export * from './datum.ts'
export * from './entropy-bonus.ts'
export * from './gae.ts'
export * from './kl.ts'
export * from './loss.ts'
export * from './loss-presets.ts'
export * from './offpolicy.ts'
export * from './penalties.ts'
export * from './schedules.ts'
