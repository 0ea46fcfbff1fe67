/** @file Entry of the `gradus` command. */

import { describeFailure } from '../util/file-failure.ts'
import { asMemoryError, watchHeap } from '../util/memory-failure.ts'
import { describeError, EXIT, processIo } from './io.ts'
import { runCli } from './program.ts'

/** For a command that is about to end: what it says by its exit code counts without a reader, too. */
const LAST_WORDS_MS = 100
let isUnread = false

/** A reader that has seen enough (`gradus ... | head`) is no failure; a disk without room for the results is. */
const endUnwritten = (error: NodeJS.ErrnoException): void => {
  if (isUnread) return
  if (error.code === 'EPIPE') {
    isUnread = true
    setTimeout(() => process.exit(EXIT.ok), LAST_WORDS_MS)
    return
  }
  const { what, hint } = describeFailure(error) ?? { what: error.message, hint: 'send it elsewhere' }
  processIo.err.write(`gradus: standard output could not be written: ${what}; ${hint}\n`)
  process.exit(EXIT.failed)
}

process.stdout.on('error', endUnwritten)
// There is nobody left to tell.
process.stderr.on('error', () => {})

// A file over the system's limit is an error of the write (EFBIG), with advice; else it ends the process without a word.
if (process.platform !== 'win32') process.on('SIGXFSZ', () => {})

const tell = (words: string) => processIo.err.write(`gradus: ${words}\n`)
watchHeap(tell)
// Of what nobody catches: the runtime's own parts (its HTTP parser is WebAssembly) find no memory either. Servers catch it themselves.
process.on('uncaughtExceptionMonitor', error => {
  if (asMemoryError(error) === error || process.listenerCount('uncaughtException') > 0) return
  tell(describeError(error))
  process.exit(EXIT.failed)
})

const exitCode = await runCli(process.argv.slice(2), processIo)
// Leaves when what was written is out, whatever idle worker is still there.
process.stdout.write('', error => {
  if (error) endUnwritten(process.stdout.errored ?? error)
  if (!error || isUnread) process.exit(exitCode)
})
