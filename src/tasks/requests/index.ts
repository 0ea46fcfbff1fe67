/** @file Short requests with many good answers, and questions to a judge about answers: what the small chat model learns. */

export { requestDemonstrations } from './cold-start.ts'
export { drawDialogue } from './dialogue.ts'
export { drawJudgement, readRequestVerdict } from './judged.ts'

export { CHAT_TEMPLATE, chatTokenizer, TOKENS } from './tokenizer.ts'
