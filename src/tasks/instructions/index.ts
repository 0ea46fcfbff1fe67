/** @file Rows for trainings on instructions that a rule checks, and demonstrations to begin with. */

export * from './demonstrations.ts'
export type { Request } from './requests.ts'
export { instructionRows, SHARED_CRITERIA } from './rows.ts'
export { withoutLastSentence } from './text.ts'
