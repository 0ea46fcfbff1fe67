/** @file Servers: rewards for other trainers, a local checkpoint for chat clients. */

export * from './chat/index.ts'
export * from './reward/index.ts'
