/** @file Entry of the `gradus` command. */

import { describeError, EXIT, processIo } from './io.ts'
import { runCli } from './program.ts'

// A reader that has seen enough (`gradus ... | head`) is no failure. A full disk behind `>` is one.
const leave = (error: NodeJS.ErrnoException): never => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  process.stderr.write(`gradus: standard output: ${describeError(error)}\n`)
  process.exit(EXIT.failed)
}

process.stdout.on('error', leave)
// There is nobody left to tell.
process.stderr.on('error', () => {})

const exitCode = await runCli(process.argv.slice(2), processIo)
// Leaves when what was written is out, whatever idle worker is still there.
process.stdout.write('', error => (error ? leave(error) : process.exit(exitCode)))
