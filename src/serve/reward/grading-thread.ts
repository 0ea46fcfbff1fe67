/** @file The thread that a reward service runs in: opens it, answers requests, says that it lives. */

import { parentPort, workerData } from 'node:worker_threads'
import { GradusError } from '../../util/errors.ts'
import { fetchHandler, type Handler } from '../http/exchange.ts'
import { giveWay } from '../http/give-way.ts'
import { errorFields, keepGoing } from '../http/guards.ts'
import { rewardApp } from './app.ts'
import { rewardService } from './open.ts'
import type { FromGrading, GradingSetup, ToGrading } from './thread-messages.ts'

const port = parentPort!
const { config, folder } = workerData as GradingSetup
const send = (message: FromGrading, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer)
const underWay = new Map<number, AbortController>()

const answer = async (handler: Handler, { id, request }: Extract<ToGrading, { kind: 'request' }>) => {
  const gone = new AbortController()
  underWay.set(id, gone)
  try {
    const { status, headers, body } = await handler({ ...request, signal: gone.signal })
    // No route of this service streams.
    const bytes = body as Uint8Array<ArrayBuffer>
    send({ kind: 'answer', id, answer: { status, headers, body: bytes } }, [bytes.buffer])
  } catch (error) {
    send({ kind: 'unhandled', what: 'exception', fields: errorFields(error) })
    send({ kind: 'failed', id })
  } finally {
    underWay.delete(id)
  }
}

const serve = async () => {
  giveWay()
  const parts = await rewardService(config, { folder, writeLog: line => send({ kind: 'log', line }) })
  const handler = fetchHandler(rewardApp(parts))
  keepGoing((what, error) => send({ kind: 'unhandled', what, fields: errorFields(error) }))
  port.on('message', (message: ToGrading) => {
    if (message.kind === 'request') void answer(handler, message)
    else if (message.kind === 'abort') underWay.get(message.id)?.abort()
    else if (message.kind === 'ping') send({ kind: 'pong' })
    else
      void parts.service.close().finally(() => {
        send({ kind: 'closed' })
        port.close()
      })
  })
  send({ kind: 'ready' })
}

serve().catch(error => {
  const { message } = error as Error
  send({ kind: 'refused', foreseen: error instanceof GradusError, message })
  port.close()
})
