/** @file Conversations with rubrics: rows of files, their prompts, how responses to them are graded. */

export { conversationFigures, type DataFigures, type FigureSettings } from './figures.ts'
export { encodeSplit, type PromptSettings } from './prompts.ts'
export * from './rows.ts'
export { type Conversation, type ConversationOptions, conversationTask, gradeAnswer, kindOf } from './task.ts'
