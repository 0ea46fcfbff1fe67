/** @file Entry of the `gradus` command. */

import { processIo } from './io.ts'
import { runCli } from './program.ts'

// A reader that has seen enough (`gradus ... | head`) is no failure.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0)
  throw error
})

// A file over the system's limit is an error of the write (EFBIG), with advice; else it ends the process without a word.
if (process.platform !== 'win32') process.on('SIGXFSZ', () => {})

const exitCode = await runCli(process.argv.slice(2), processIo)
// Leaves when what was written is out, whatever idle worker is still there.
process.stdout.write('', () => process.exit(exitCode))
