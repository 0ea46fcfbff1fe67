/** @file Benchmarks: the engine, judges and rewards, and how far sampling, grading and learning overlap. */

export {
  benchDeterminism,
  type DeterminismBenchmark,
  formatDeterminismBenchmark,
} from './determinism.ts'
export { benchEngine, type EngineBenchmark, formatEngineBenchmark } from './engine.ts'
export type { OnProgress } from './figure-table.ts'
export { benchFleet, type FleetBenchmark, formatFleetBenchmark } from './fleet/fleet.ts'
export { benchGrowth, formatGrowthBenchmark, type GrowthBenchmark } from './growth.ts'
export { benchGrpo, formatGrpoBenchmark, type GrpoBenchmark } from './grpo.ts'
export { grpoPrompts, grpoWork } from './grpo-work.ts'
export { benchJudge, formatJudgeBenchmark, type JudgeBenchmark } from './judge.ts'
export { benchMemory, formatMemoryBenchmark, type MemoryBenchmark } from './memory.ts'
export { benchOverlap, formatOverlapBenchmark, type OverlapBenchmark } from './overlap.ts'
export { benchRlcer, formatRlcerBenchmark, type RlcerBenchmark } from './rlcer.ts'
export { benchRubricem, formatRubricemBenchmark, type RubricemBenchmark } from './rubricem.ts'
export { benchSearch, formatSearchBenchmark, type SearchBenchmark } from './search.ts'
export { benchSoak, formatSoak, type SoakResult } from './soak/soak.ts'
export { benchTinker, formatTinkerBenchmark, type TinkerBenchmark } from './tinker.ts'
