/** @file Short requests with many good answers, and questions to a judge about answers: what the small chat model learns. */

export { FAMILIES, type Family, wordsOf } from './criteria.ts'
export { type Dialogue, drawDialogue, drawKind, instructionsFor, KINDS } from './dialogue.ts'
export { drawJudgement, type Judgement, judgeMessages, readVerdict } from './judged.ts'
export type { Kind, Request } from './request.ts'
export { CHAT_TEMPLATE, chatTokenizer, JUDGE_TEXTS, TOKENS } from './tokenizer.ts'
