/** @file Instructions that can be checked by rule: IFEval and IFBench. */

export {
  type CheckMode,
  type CheckOptions,
  checkInstruction,
  checkInstructions,
  type InstructionKwargs,
  type InstructionVerdicts,
} from './check.ts'
export { LANGUAGES } from './language.ts'
export { INSTRUCTION_IDS } from './registry.ts'
export { verifyInstructionsRow } from './verify.ts'
