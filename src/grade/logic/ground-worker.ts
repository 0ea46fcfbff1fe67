/** @file The worker thread of the built-in solver: formulas about some premises in, what these say of them out. */

import { serveWork } from '../../util/work-serve.ts'
import { type GroundStatus, groundStatus } from './ground.ts'
import type { GroundQuestion } from './ground-process.ts'

serveWork<GroundQuestion, (GroundStatus | null)[]>(({ premises, formulas, maxWork }, reach) =>
  formulas.map((formula, index) => {
    reach(index)
    return groundStatus(premises, formula, maxWork)
  }),
)
