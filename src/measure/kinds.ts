/** @file All that can be measured, by name: files of rows, benchmarks, and every task of a training. */

import { TASK_KINDS } from '../recipes/common/task-kinds.ts'
import { rubricBenchmark } from './benchmark.ts'
import { ifbench, ifeval } from './instructions.ts'
import { gsm8k, mathematics } from './math.ts'
import type { MeasuredKind } from './task.ts'

export const MEASURED_KINDS = {
  ...{ rows: rubricBenchmark, ifeval, ifbench, gsm8k, math: mathematics },
  ...TASK_KINDS,
} as unknown as Readonly<Record<string, MeasuredKind>>
