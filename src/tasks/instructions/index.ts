/** @file Rows for trainings on instructions that a rule checks. */

export { INSTRUCTION_KINDS } from './kinds.ts'
export { type InstructionRow, instructionRows } from './rows.ts'
