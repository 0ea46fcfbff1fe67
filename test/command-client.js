// The command line of this process, carried out by command-host.js at the socket that the first argument names.
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'

const [path, ...args] = process.argv.slice(2)
const socket = createConnection(path)
socket.write(`${JSON.stringify({ args, cwd: process.cwd(), env: process.env })}\n`)
// Without a code the host has died at it.
process.exitCode = 70
for await (const line of createInterface({ input: socket })) {
  const { out, err, code } = JSON.parse(line)
  if (out !== undefined) process.stdout.write(out)
  if (err !== undefined) process.stderr.write(err)
  if (code !== undefined) process.exitCode = code
}
