/** @file Tasks that need neither files nor a model: their settings, and how they are opened. */

import { z } from 'zod'
import type { RuleSettings } from '../../grade/rules/settings.ts'
import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { operationsSchema } from '../../tasks/arithmetic/problem.ts'
import { PackingWorld, packingTask, thinkingPackingTask } from '../../tasks/checklist/index.ts'
import {
  LOGIC_RUBRIC_TEST_SEED,
  logicProblems,
  logicProblemsSchema,
  logicThinkingTask,
} from '../../tasks/logic/thinking/index.ts'
import type { Problems } from '../../tasks/task.ts'
import { flag, orAbsent, orNull } from '../../train/config.ts'
import { natural } from '../../util/setting-shapes.ts'

/** What a task draws its problems by. */
export interface Draw {
  /** Begins the names of the streams that training draws from. */
  seed: number | string
  tests: number
}

/** Problem i of training and of a test. */
type Stream<Problem> = (index: number) => Problem

/** A pool of problems that recur, or new ones without end. */
const pooled = <Problem>(
  pool: number | null,
  tests: number,
  train: Stream<Problem>,
  test: Stream<Problem>,
): Problems<Problem> => {
  const first = (count: number, from: Stream<Problem>) => Array.from({ length: count }, (_, i) => from(i))
  return {
    tests: { 'unseen problems': first(tests, test) },
    ...(pool === null ? { stream: train } : { train: first(pool, train) }),
  }
}

const pooledShape = {
  pool: orNull(
    natural.max(1_000_000),
    'Number of training questions, which recur; null: new ones without end.',
  ),
  outcomes: flag(
    false,
    'Also decide criteria about the last result (RLCER Eq. 7). false: their verdicts are null.',
  ),
}

const worldSetting = z
  .union([z.int(), z.string()])
  .default('packing')
  .describe('Seed of the packing world: which things are usual where, and the hidden rubrics.')

const packingSchema = z.strictObject({
  world: worldSetting,
  heldOutTopics: orAbsent(
    z.int().min(1).max(12),
    'Number of topics that training never has; they are tested separately as `held-out topics`. Absent: none.',
  ),
})

const arithmeticSchema = z.strictObject({
  operations: operationsSchema.prefault({}).describe('Fewest and most operations in a question.'),
  ...pooledShape,
})

/** Tasks that need neither files nor a model. */
export const MINIATURES = {
  packing: {
    settings: packingSchema,
    open: (
      { world, heldOutTopics }: z.output<typeof packingSchema>,
      { rules }: { rules?: RuleSettings } = {},
    ) => packingTask(new PackingWorld(world), { rules, heldOutTopics }),
  },
  'packing-thinking': {
    settings: z.strictObject({ world: worldSetting }),
    open: ({ world }: { world: number | string }) => thinkingPackingTask(new PackingWorld(world)),
  },
  arithmetic: {
    settings: arithmeticSchema,
    open: ({ operations, pool, outcomes }: z.output<typeof arithmeticSchema>, { seed, tests }: Draw) => {
      const drawn = (from: number | string) => (index: number) =>
        arithmeticProblem(from, index, { operations })
      return arithmeticTask(pooled(pool, tests, drawn(seed), drawn(ARITHMETIC_TEST_SEED)), outcomes)
    },
  },
}

const settings = z.strictObject({ ...logicProblemsSchema.shape, ...pooledShape })

export const LOGIC_THINKING = {
  settings,
  /** @throws ConfigError for problems that no generator can hold */
  open: (own: z.output<typeof settings>, { seed, tests }: Draw) => {
    const [train, test] = [seed, LOGIC_RUBRIC_TEST_SEED].map(from => logicProblems(own, from))
    return logicThinkingTask(pooled(own.pool, tests, train, test), own.outcomes)
  },
}
