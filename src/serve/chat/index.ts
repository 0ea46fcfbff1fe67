/** @file A local checkpoint as an OpenAI-compatible endpoint. */

export { createChatApp } from './app.ts'
export { openServedModel, type ServedModel } from './model.ts'
export { type ChatServer, startChatServer } from './server.ts'
