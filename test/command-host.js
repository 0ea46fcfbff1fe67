// Carries out command lines in one process, one after the other: modules are loaded once, which is most of what a short command takes.
// Started by howto.fixture.ts with the path of a socket. A request is a line {args, cwd, env}; answers are lines {out}, {err}, {code}.
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

const { runCli } = await import(new URL('../dist/cli/program.js', import.meta.url).href)
const own = { cwd: process.cwd(), env: { ...process.env } }

const setEnv = env => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

const carryOut = async (socket, { args, cwd, env }) => {
  const tell = answer => socket.writable && socket.write(`${JSON.stringify(answer)}\n`)
  const io = {
    out: { write: out => tell({ out }) },
    err: { write: err => tell({ err }) },
    onInterrupt: () => () => {},
  }
  setEnv(env)
  process.chdir(cwd)
  try {
    tell({ code: await runCli(args, io) })
  } finally {
    process.chdir(own.cwd)
    setEnv(own.env)
    socket.end()
  }
}

let last = Promise.resolve()
const server = createServer(socket => {
  socket.on('error', () => {})
  createInterface({ input: socket }).once('line', line => {
    last = last.then(() => carryOut(socket, JSON.parse(line)))
  })
})
server.listen(process.argv[2], () => process.send?.('ready'))
process.once('disconnect', () => process.exit())
