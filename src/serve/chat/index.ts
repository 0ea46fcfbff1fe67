/** @file A local checkpoint as an OpenAI-compatible endpoint. */

export { type LocalChat, openLocalChat } from '../../policy/chat/local-chat.ts'
export { createChatApp } from './app.ts'
export { type ChatServer, type ChatServerOptions, chatLimits, startChatServer } from './server.ts'
