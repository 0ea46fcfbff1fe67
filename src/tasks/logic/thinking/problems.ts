/** @file The problems of logic whose thinking is judged: settings, and streams of them. */

import { z } from 'zod'
import type { LogicTaskExample } from '../example.ts'
import { LOGIC_STYLES, logicGenerator } from '../generator.ts'

/** Which problems: hops that are equally frequent, and what their generator is told. */
export const logicProblemsSchema = z.strictObject({
  hops: z.array(z.int().min(1).max(5)).min(1).default([3, 4, 5]).describe('Length of a proof in steps.'),
  nodes: z
    .tuple([z.int(), z.int()])
    .nullable()
    .default(null)
    .describe(
      "Kinds on the chain, [fewest, most]; fewer make shorter problems. The real rows' distribution when null.",
    ),
  labels: z
    .enum(['two-way', 'three-way'])
    .default('two-way')
    .describe('Which answers occur: balanced, or one only.'),
  style: z.enum(LOGIC_STYLES).default('real').describe('Style of the generated problems.'),
})

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
