/** @file `gradus bench`: the benchmarks there are. */

import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { addBenchDeterminism } from './determinism.ts'
import { addBenchEngine } from './engine.ts'
import { addBenchFleet } from './fleet.ts'
import { addBenchGrowth } from './growth.ts'
import { addBenchGrpo } from './grpo.ts'
import { addBenchJudge } from './judge.ts'
import { addBenchMemory } from './memory.ts'
import { addBenchOverlap } from './overlap.ts'
import { addBenchSoak } from './soak.ts'
import { addBenchTinker } from './tinker.ts'

/** Adds `gradus bench` to the program. `done` receives the exit code. */
export const addBenchCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const bench = program
    .command('bench')
    .summary('measure this machine')
    .description('Measures what Gradus makes of this machine.')
  addBenchEngine(bench, io, done)
  addBenchGrowth(bench, io, done)
  addBenchGrpo(bench, io, done)
  addBenchFleet(bench, io, done)
  addBenchJudge(bench, io, done)
  addBenchMemory(bench, io, done)
  addBenchOverlap(bench, io, done)
  addBenchDeterminism(bench, io, done)
  addBenchSoak(bench, io, done)
  addBenchTinker(bench, io, done)
}
