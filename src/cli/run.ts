/** @file A command line run as a process: where its output goes, how it ends, what is said of failures that nobody catches. */

import { Command, CommanderError } from 'commander'
import { describeFailure } from '../util/file-failure.ts'
import { asMemoryError, watchHeap } from '../util/memory-failure.ts'
import { packageVersion } from '../util/package.ts'
import { describeError, EXIT, exitCodeOf, guardedIo, type Io, processIo } from './io.ts'

/** A command that prints by `io`, and throws in place of ending the process; so does what `command(...)` adds to it. */
export const newCommand = (name: string, io: Io): Command =>
  new Command(name)
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('(--help shows how)')
    .configureOutput({ writeOut: text => io.out.write(text), writeErr: text => io.err.write(text) })
    .exitOverride()

/**
 * Runs a command line. Returns the exit code; never throws.
 * @param args without node and script
 * @param build the command, by `newCommand`; `done` is to be told the exit code
 */
export const runCommand = async (
  args: readonly string[],
  streams: Io,
  build: (io: Io, done: (code: number) => void) => Command,
): Promise<number> => {
  const io = guardedIo(streams)
  let exitCode: number = EXIT.ok
  const command = build(io, code => {
    exitCode = code
  })
  if (args.length === 0) {
    io.err.write(command.helpInformation())
    return EXIT.usage
  }
  try {
    await command.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has printed its message by now; its code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    io.err.write(`${command.name()}: ${describeError(error)}\n`)
    return exitCodeOf(error)
  }
}

/** For a command that is about to end: what it says by its exit code counts without a reader, too. */
const LAST_WORDS_MS = 100

/**
 * Runs this process's command line to its end, and ends the process with its exit code.
 * @param name of the command, before what is said of failures that it does not catch
 */
export const runProcess = async (
  name: string,
  run: (args: readonly string[], io: Io) => Promise<number>,
): Promise<void> => {
  const tell = (words: string) => processIo.err.write(`${name}: ${words}\n`)
  const end = watchOutput(tell)
  // There is nobody left to tell.
  process.stderr.on('error', () => {})
  // A file over the system's limit is an error of the write (EFBIG), with advice; else it ends the process without a word.
  if (process.platform !== 'win32') process.on('SIGXFSZ', () => {})
  watchHeap(tell)
  // Of what nobody catches: the runtime's own parts (its HTTP parser is WebAssembly) find no memory either. Servers catch it themselves.
  process.on('uncaughtExceptionMonitor', error => {
    if (asMemoryError(error) === error || process.listenerCount('uncaughtException') > 0) return
    tell(describeError(error))
    process.exit(EXIT.failed)
  })
  end(await run(process.argv.slice(2), processIo))
}

/**
 * A reader that has seen enough (`gradus ... | head`) is no failure; a disk without room for the results is.
 * @returns what ends the process when all that was written is out, whatever idle worker is still there
 */
const watchOutput = (tell: (words: string) => void): ((exitCode: number) => void) => {
  let isUnread = false
  const endUnwritten = (error: NodeJS.ErrnoException): void => {
    if (isUnread) return
    if (error.code === 'EPIPE') {
      isUnread = true
      setTimeout(() => process.exit(EXIT.ok), LAST_WORDS_MS)
      return
    }
    const { what, hint } = describeFailure(error) ?? { what: error.message, hint: 'send it elsewhere' }
    tell(`standard output could not be written: ${what}; ${hint}`)
    process.exit(EXIT.failed)
  }
  process.stdout.on('error', endUnwritten)
  return exitCode =>
    process.stdout.write('', error => {
      if (error) endUnwritten(process.stdout.errored ?? error)
      if (!error || isUnread) process.exit(exitCode)
    })
}
