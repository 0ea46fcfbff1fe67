/** @file `gradus report RUN`: writes the run's report anew and says where it is. */

import { writeReport } from '../runs/index.ts'
import { EXIT, type Io } from './io.ts'

/** @throws RunError when there is no run. */
export const reportCommand = (run: string, io: Io): number => {
  io.out.write(`${writeReport(run)}\n`)
  return EXIT.ok
}
