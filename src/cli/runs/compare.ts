/** @file `gradus compare RUN RUN`: metrics, evaluations with paired differences, and settings of two runs. */

import { compareRuns } from '../../runs/index.ts'
import { EXIT, type Io, printJson } from '../io.ts'

/** @throws RunError when one of them is no run. */
export const compareCommand = (a: string, b: string, options: { json?: boolean }, io: Io): number => {
  const { text, json } = compareRuns(a, b)
  if (options.json) printJson(io, json)
  else io.out.write(text)
  return EXIT.ok
}
