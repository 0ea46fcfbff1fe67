/** @file The problems of logic-rubric-start and of what goes on from it. */

import type { z } from 'zod'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import type { logicProblemsSchema } from './config.ts'

/** Problems without end; the same seed and index give the same one. @throws ConfigError for what no generator can hold */
export const logicProblems = (
  { hops, nodes, labels, style }: z.output<typeof logicProblemsSchema>,
  seed: number | string,
): ((index: number) => LogicTaskExample) =>
  logicGenerator(
    { hops: Object.fromEntries(hops.map(count => [count, 1])), ...(nodes && { nodes }), labels, style },
    seed,
  )

/** Seed of the test problems, which no training has. */
export const LOGIC_RUBRIC_TEST_SEED = 'rubric start/test'
