/** @file How every `gradus bench` runs: progress on stderr unless JSON is asked for, then the result. */

import type { OnProgress } from '../../bench/index.ts'
import { type Io, printJson } from '../io.ts'

/** Measures, and prints what came of it: as JSON, or as `format` puts it. */
export const runBenchmark = async <Result>(
  io: Io,
  json: boolean | undefined,
  measure: (onProgress: OnProgress | undefined) => Promise<Result>,
  format: (result: Result) => string,
): Promise<Result> => {
  const result = await measure(json ? undefined : line => io.err.write(`${line}\n`))
  if (json) printJson(io, result)
  else io.out.write(`${format(result)}\n`)
  return result
}
