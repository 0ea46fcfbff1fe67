/** @file The tasks of `gradus eval` beside logic, each loaded when it is asked for. */

import type { MeasuredTask } from '../../measure/index.ts'
import { UsageError } from '../../util/errors.ts'
import type { BenchmarkName, EvalOptions } from './options.ts'

const BENCHMARKS: Readonly<Record<BenchmarkName, () => Promise<MeasuredTask>>> = {
  ifeval: async () => (await import('../../measure/instructions.ts')).ifeval,
  ifbench: async () => (await import('../../measure/instructions.ts')).ifbench,
  gsm8k: async () => (await import('../../measure/math.ts')).gsm8k,
  math: async () => (await import('../../measure/math.ts')).mathematics,
}

/** The task that the options name; rows of prompt and criteria where they name none. @throws UsageError, DataError */
export const taskNamed = async ({
  task,
  rubric,
}: Pick<EvalOptions, 'task' | 'rubric'>): Promise<MeasuredTask> => {
  if (task === undefined || task === 'logic')
    return (await import('../../measure/rubric-rows.ts')).rubricRows(rubric ?? null)
  if (rubric !== undefined)
    throw new UsageError(`--rubric: the task ${task} has criteria of its own`, {
      hint: 'leave --task or --rubric out',
    })
  return BENCHMARKS[task]()
}
