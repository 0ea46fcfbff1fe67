/** @file A scripted judge for benchmarks and tests: known truth, settable latency and faults. */

export { type FaultRates, outcomeOf } from './faults.ts'
export { ScriptedServer, type ScriptedServerOptions, type ScriptedServerStats } from './server.ts'
export { ScriptedProcess, type ScriptedProcessOptions } from './start.ts'
export { caseTag, pairIn, ruleTag, truthOf } from './truth.ts'
