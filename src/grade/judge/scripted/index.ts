/** @file A scripted judge for benchmarks and tests: known truth, settable latency and faults. */

export { ScriptedProcess } from './start.ts'
export { caseTag, ruleTag, scriptedTruth } from './truth.ts'
