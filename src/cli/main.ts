/** @file Entry of the `gradus` command. */

import { EXIT, processIo } from './io.ts'
import { runCli } from './program.ts'

/** A reader that has seen enough (`gradus ... | head`) is no failure; a disk without room for the results is. */
const endUnwritten = (error: Error): void => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(EXIT.ok)
  processIo.err.write(
    `gradus: standard output could not be written: ${error.message}; free some disk space, or send it elsewhere\n`,
  )
  process.exit(EXIT.failed)
}
process.stdout.on('error', endUnwritten)

// A file over the system's limit is an error of the write (EFBIG), with advice; else it ends the process without a word.
if (process.platform !== 'win32') process.on('SIGXFSZ', () => {})

const exitCode = await runCli(process.argv.slice(2), processIo)
// Leaves when what was written is out, whatever idle worker is still there.
process.stdout.write('', error =>
  error ? endUnwritten(process.stdout.errored ?? error) : process.exit(exitCode),
)
