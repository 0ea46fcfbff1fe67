/** @file Rows for trainings on instructions that a rule checks. */

export { instructionRows, SHARED_CRITERIA } from './rows.ts'
