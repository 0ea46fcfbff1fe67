/** @file `gradus report RUN`: writes the run's report anew and says where it is. */

import { writeReport } from '../../runs/index.ts'
import { EXIT, type Io, printJson } from '../io.ts'

/** @throws RunError when there is no run. */
export const reportCommand = (run: string, { json }: { json?: boolean }, io: Io): number => {
  const report = writeReport(run)
  if (json) printJson(io, { report })
  else io.out.write(`${report}\n`)
  return EXIT.ok
}
