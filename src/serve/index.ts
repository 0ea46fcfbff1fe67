/** @file Servers: rewards for other trainers, a local checkpoint for chat clients, training for clients of the Tinker protocol, the dashboard. */

export * from './chat/index.ts'
export * from './dashboard/index.ts'
export * from './reward/index.ts'
export * from './tinker/index.ts'
