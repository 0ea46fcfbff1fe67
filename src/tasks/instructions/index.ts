/** @file Rows for trainings on instructions that a rule checks. */

export { INSTRUCTION_KINDS } from './kinds.ts'
export { type InstructionRow, instructionRows, SHARED_CRITERIA } from './rows.ts'
