// Loaded before a program, in each of its threads: its disk is full for a while, or slow, as GRADUS_CHAOS_DISK says.
//
// GRADUS_CHAOS_DISK: JSON. {"kind": "full", "after": n, "count": m, "half": true}: in each thread the first n changes of files
// succeed, the next m fail with ENOSPC, `half` of them after writing a part. {"kind": "slow", "share": s, "mostMs": t}: that
// share of changes and flushes takes up to t milliseconds longer.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const {
  kind,
  after = 0,
  count = 0,
  half = false,
  share = 0,
  mostMs = 0,
} = JSON.parse(process.env.GRADUS_CHAOS_DISK ?? '{}')
const STANDARD_STREAMS = 2
const real = { ...fs }
let changes = 0

const noSpace = (syscall, path) => {
  const where = typeof path === 'string' ? ` '${path}'` : ''
  const error = new Error(`ENOSPC: no space left on device, ${syscall}${where}`)
  return Object.assign(error, { code: 'ENOSPC', errno: -28, syscall, ...(where !== '' && { path }) })
}

const sleep = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const isStream = file => typeof file === 'number' && file <= STANDARD_STREAMS

/** Whether this change of a file fails; a slow disk takes its time here. */
const fails = () => {
  if (kind === 'slow' && Math.random() < share) sleep(Math.random() * mostMs)
  if (kind !== 'full') return false
  changes++
  return changes > after && changes <= after + count
}

const partOf = data =>
  typeof data === 'string' ? data.slice(0, data.length >> 1) : data.subarray(0, data.byteLength >> 1)

const wrap = (name, syscall, writePart) => {
  fs[name] = (file, ...rest) => {
    if (isStream(file) || !fails()) return real[name](file, ...rest)
    if (half) writePart?.(file, ...rest)
    throw noSpace(syscall, file)
  }
}

/** A full disk takes what fits: `writeSync` then says how much that was, and fails when asked again. */
fs.writeSync = (fd, data, ...rest) => {
  if (isStream(fd) || !fails()) return real.writeSync(fd, data, ...rest)
  throw noSpace('write')
}
// `appendFileSync` calls this one with a flag.
wrap('writeFileSync', 'write', (file, data, options) => real.writeFileSync(file, partOf(data), options))
wrap('mkdirSync', 'mkdir')
wrap('fsyncSync', 'fsync')
wrap('fdatasyncSync', 'fdatasync')
wrap('copyFileSync', 'copyfile')
wrap('cpSync', 'cp')
wrap('renameSync', 'rename')
syncBuiltinESMExports()
