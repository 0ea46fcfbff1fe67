/** @file The logic grader: formulas, controlled English, solvers, the five criteria. */

export { type ExtractedAnswer, extractLabel, labelIn } from './answer.ts'
export { gradeLogic, gradeLogicBatch } from './criteria.ts'
export { logicSentences, parseSentence, SentenceError } from './english.ts'
export * from './formula.ts'
export type { LogicGrade, LogicGradeOptions, LogicItem, StepGrade } from './grade.ts'
export { type GroundStatus, GroundTheory, groundStatus, shortestDerivation } from './ground.ts'
export {
  FormulaSyntaxError,
  looksSymbolic,
  type ParsedFormula,
  type ParseOptions,
  parseFormula,
} from './parse.ts'
export * from './problem.ts'
export { completenessProxy, keyTerms, premiseUseProxy } from './proxies.ts'
export * from './rubric.ts'
export { DEFAULT_PROXIES, type ProxySettings, type SolverSettings } from './settings.ts'
export * from './solver.ts'
export { SolverError } from './solver-process.ts'
export {
  type ExtractedReasoning,
  extractReasoning,
  type InferenceRule,
  ruleNamed,
  type StepReference,
  type StepText,
} from './steps.ts'
export { minimalSupport } from './support.ts'
export {
  type LabelVerdict,
  type StepsVerdict,
  type StepVerdict,
  verifyLabel,
  verifyLogicRow,
  verifySteps,
} from './verify.ts'
