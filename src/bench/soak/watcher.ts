/** @file A thread that asks a server how it is, on a connection of its own each time, undisturbed by what loads it. */

import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const EVERY_MS = 50
const LIMIT_MS = 10_000
const { url } = workerData as { url: string }

/** What one look found: milliseconds to the whole answer, or why there was none. */
export type Look = { ms: number; delayMs?: number } | { failed: string }

const get = (path: string): Promise<{ ms: number; text: string } | { failed: string }> =>
  new Promise(resolve => {
    const startMs = performance.now()
    const asked = request(url + path, { agent: false, timeout: LIMIT_MS }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', part => {
        text += part
      })
      response.on('end', () => {
        const { statusCode } = response
        resolve(
          statusCode === 200 ? { ms: performance.now() - startMs, text } : { failed: `status ${statusCode}` },
        )
      })
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.on('error', ({ message }) => resolve({ failed: message }))
    asked.end()
  })

let over = false
parentPort!.on('message', () => {
  over = true
})

const watch = async () => {
  const looks: Look[] = []
  for (let n = 0; !over; n++) {
    const found = await get('/healthz')
    looks.push('ms' in found ? { ms: found.ms } : found)
    // Its values once in a while: the loop's longest delay since the last time.
    if (n % 20 === 19) {
      const values = await get('/metrics')
      const [, delay] =
        'text' in values ? (/event_loop_delay_seconds\{quantile="1"\} (\S+)/.exec(values.text) ?? []) : []
      if (delay !== undefined)
        looks.push({ ms: (values as { ms: number }).ms, delayMs: 1000 * Number(delay) })
    }
    await new Promise(resolve => setTimeout(resolve, EVERY_MS))
  }
  parentPort!.postMessage(looks)
  parentPort!.close()
}
void watch()
