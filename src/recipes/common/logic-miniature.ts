/** @file The miniature of logic whose thinking is judged: its settings, and how it is opened. */

import { z } from 'zod'
import {
  LOGIC_RUBRIC_TEST_SEED,
  logicProblems,
  logicProblemsSchema,
  logicThinkingTask,
} from '../../tasks/logic/thinking/index.ts'
import { type Draw, pooled, pooledShape } from './miniatures.ts'

const settings = z.strictObject({ ...logicProblemsSchema.shape, ...pooledShape })

export const LOGIC_THINKING = {
  settings,
  /** @throws ConfigError for problems that no generator can hold */
  open: (own: z.output<typeof settings>, { seed, tests }: Draw) => {
    const [train, test] = [seed, LOGIC_RUBRIC_TEST_SEED].map(from => logicProblems(own, from))
    return logicThinkingTask(pooled(own.pool, tests, train, test), own.outcomes)
  },
}
