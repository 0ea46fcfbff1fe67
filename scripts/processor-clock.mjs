// Preloaded into a process (`node --import`): its clock goes on while processors work for it, and stands still while others have
// them. What it then times (`performance.now`) are seconds of processors, alike on an idle machine and on a busy one. With
// PROCESSOR_CLOCK=workers the main thread does not count, as if it had a processor of its own: grading goes on beside an engine that
// works in another thread. That is read from /proc, on Linux.
import { readFileSync } from 'node:fs'

const allMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const mainMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

const now = process.env.PROCESSOR_CLOCK === 'workers' ? () => allMs() - mainMs() : allMs
let latest = 0
// The two are read one after the other: what went on between must not turn the clock back.
const value = () => {
  latest = Math.max(latest, now())
  return latest
}
Object.defineProperty(performance, 'now', { value })
