/** @file How every `gradus bench` runs: progress on stderr, then the result. */

import { Option } from 'commander'
import type { OnProgress } from '../../bench/figure-table.ts'
import { formatDuration } from '../../util/format.ts'
import { type Io, printJson } from '../io.ts'

/** Of every benchmark. */
export const jsonOption = (): Option =>
  new Option('--json', 'print the result as JSON; progress goes to stderr')

/** Measures, and prints what came of it: as JSON, or as `format` puts it. */
export const runBenchmark = async <Result>(
  io: Io,
  json: boolean | undefined,
  measure: (onProgress: OnProgress) => Promise<Result>,
  format: (result: Result) => string,
): Promise<Result> => {
  const startMs = performance.now()
  const clock = () => formatDuration(Math.round((performance.now() - startMs) / 1000))
  const result = await measure(line => io.err.write(`[${clock()}] ${line}\n`))
  if (json) printJson(io, result)
  else io.out.write(`${format(result)}\n`)
  return result
}
