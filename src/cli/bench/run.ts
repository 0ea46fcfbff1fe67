/** @file How every `gradus bench` runs: how long it takes and progress on stderr, then the result. */

import type { Command } from 'commander'
import type { OnProgress } from '../../bench/result-table.ts'
import { formatDuration } from '../../util/format.ts'
import { EXIT, type Io, printJson } from '../io.ts'

/** Of every benchmark that takes longer than a minute. */
const QUICK =
  'a first look: fewer and smaller pieces, less than a minute, longer with a model of your own; other options go before'

/** With `--quick` the settings of a first look, but for those that the command line names. */
export const firstLook = <Options extends { quick?: boolean }>(
  command: Command,
  { quick, ...options }: Options,
  looks: Partial<Omit<Options, 'quick'>>,
): Omit<Options, 'quick'> => {
  if (!quick) return options
  const unsaid = Object.entries(looks).filter(([name]) => command.getOptionValueSource(name) !== 'cli')
  return { ...options, ...Object.fromEntries(unsaid) }
}

/**
 * Says how long it takes, measures, and prints what came of it: as JSON, or as `format` puts it.
 * @param run quick: a first look is taken; takes: how long it takes on two idle cores otherwise (`about ten minutes`)
 */
export const runBenchmark = async <Result>(
  io: Io,
  { json, quick, takes }: { json?: boolean; quick?: boolean; takes: string },
  measure: (onProgress: OnProgress) => Promise<Result>,
  format: (result: Result) => string,
): Promise<Result> => {
  const startMs = performance.now()
  const clock = () => formatDuration(Math.round((performance.now() - startMs) / 1000))
  const tell = (line: string) => io.err.write(`[${clock()}] ${line}\n`)
  tell(
    quick
      ? 'a first look: less than a minute, longer with a model of your own'
      : `takes ${takes} on two idle cores`,
  )
  const result = await measure(tell)
  if (json) printJson(io, result)
  else io.out.write(`${format(result)}\n`)
  return result
}

/** One of `gradus bench`: its options, and what it loads when it runs. */
interface Benchmark<Options, Result> {
  /** With its description and its own options. */
  command: Command
  help?: string
  takes: string
  /** Settings of a first look. */
  quick?: Partial<Options>
  load(): Promise<{
    measure(options: Options & { onProgress: OnProgress }): Promise<Result>
    format(result: Result): string
    /** The exit code is 1 where it does. */
    hasFailed?(result: Result): boolean
  }>
}

/** Adds the option of every benchmark, and runs it. `done` receives the exit code. */
export const addBenchmark = <Options extends object, Result>(
  io: Io,
  done: (code: number) => void,
  { command, help, takes, quick: looks, load }: Benchmark<Options, Result>,
): void => {
  if (looks !== undefined) command.option('--quick', QUICK)
  if (help !== undefined) command.addHelpText('after', help)
  command
    .option('--json', 'print the result as JSON; progress goes to stderr')
    .action(async ({ json, ...given }: Options & { quick?: boolean; json?: boolean }) => {
      const options = firstLook(command, given, looks ?? {}) as Options
      const { measure, format, hasFailed } = await load()
      const work = (onProgress: OnProgress) => measure({ ...options, onProgress })
      const result = await runBenchmark(io, { json, quick: given.quick, takes }, work, format)
      done(hasFailed?.(result) ? EXIT.failed : EXIT.ok)
    })
}
