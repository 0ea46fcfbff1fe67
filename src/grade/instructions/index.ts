/** @file Instructions that can be checked by rule: IFEval and IFBench. */

export {
  type CheckMode,
  checkInstruction,
  checkInstructions,
  type InstructionKwargs,
  type InstructionOptions,
  type InstructionVerdicts,
} from './check.ts'
export { LANGUAGES } from './language.ts'
export { INSTRUCTION_IDS } from './registry.ts'
export { verifyInstructionsRow } from './verify.ts'
