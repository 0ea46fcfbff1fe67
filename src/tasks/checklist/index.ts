/** @file The packing task: open lists with hidden rubrics, some of whose criteria the starting policy never meets. */

export { packingStart } from './cold-start.ts'
export * from './demonstrations.ts'
export * from './format.ts'
export { packingTask } from './task.ts'
export * from './thinking/index.ts'
export { CHECKLIST_TOKENS, CHECKLIST_VOCABULARY, checklistTokenizer, wordToken } from './vocabulary.ts'
export * from './world.ts'
