/** @file Conversations with rubrics: rows of files, their prompts, how responses to them are graded. */

export { encodeSplit, type PromptSettings } from './prompts.ts'
export * from './rows.ts'
export { type ConversationSizeSettings, conversationSizes, type DataSizes } from './sizes.ts'
export { type Conversation, type ConversationOptions, conversationTask, gradeAnswer, kindOf } from './task.ts'
