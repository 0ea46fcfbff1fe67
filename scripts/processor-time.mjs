// Preloaded into a process (`node --import`): at its end, writes what it took into the file that PROCESSOR_TIME names.
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && process.env.PROCESSOR_TIME)
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    const seconds = { processor: (user + system) / 1e6, clock: performance.now() / 1000 }
    writeFileSync(process.env.PROCESSOR_TIME, JSON.stringify(seconds))
  })
