/** @file The engine's worker thread: runs the calls one after the other and posts results back. */

import { parentPort, workerData } from 'node:worker_threads'
import { assertWebGpu } from '../../tensor/index.ts'
import * as errors from '../../util/errors.ts'
import type { ConverseRequest, NextTurn, SampledToken, SampleRequest } from '../policy.ts'
import { createEngine, type Engine } from './engine.ts'
import type { CallMessage, ErrorData, NextTurnMessage, WorkerReply, WorkerStart } from './protocol.ts'
import { RunGate } from './run-gate.ts'

const port = parentPort!
const post = (reply: WorkerReply) => port.postMessage(reply)

const errorData = (thrown: unknown): ErrorData => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack } = error
  return { name, message, stack, kind: errorKind(error) }
}

/** The nearest class of util/errors.ts: a SafetensorsError is a CheckpointError on the other side. */
const errorKind = (error: Error): string | null => {
  for (let type = error.constructor; type?.name; type = Object.getPrototypeOf(type))
    if (type.name in errors) return type.name
  return null
}

/** Turns that the other side has not answered, by call and row. */
const unanswered = new Map<string, (next: NextTurn | null) => void>()
const turnName = ({ id, row }: { id: number; row: number }) => `${id}/${row}`

const call = (engine: Engine, { id, method, args }: CallMessage): Promise<unknown> => {
  if (method === 'converse')
    return engine.converse(args[0] as ConverseRequest, (row, turn) => {
      post({ kind: 'turn', id, row, turn })
      return new Promise(resolve => unanswered.set(turnName({ id, row }), resolve))
    })
  if (method !== 'sample') return (engine[method] as (...args: unknown[]) => Promise<unknown>)(...args)
  const [request, streaming] = args as [SampleRequest, boolean]
  const onToken = streaming ? (token: SampledToken) => post({ kind: 'token', id, token }) : undefined
  return engine.sample(request, sample => post({ kind: 'sample', id, sample }), onToken).then(() => undefined)
}

const start = async () => {
  const { source, options, gate } = workerData as WorkerStart
  // Here rather than in the first run, which may be long after.
  if (options.provider === 'webgpu') await assertWebGpu()
  const engine = createEngine(source, options, new RunGate(gate))
  const { parameters } = engine
  let queue: Promise<void> = Promise.resolve()
  port.on('message', (message: CallMessage | NextTurnMessage) => {
    if ('row' in message) {
      unanswered.get(turnName(message))?.(message.next)
      unanswered.delete(turnName(message))
      return
    }
    queue = queue.then(async () => {
      try {
        post({ kind: 'result', id: message.id, value: await call(engine, message) })
      } catch (error) {
        post({ kind: 'error', id: message.id, error: errorData(error) })
      }
    })
  })
  const { config, hasValueHead, count: parameterCount, trainedCount } = parameters
  post({ kind: 'ready', config, hasValueHead, parameterCount, trainedCount })
}

try {
  await start()
} catch (error) {
  post({ kind: 'failed', error: errorData(error) })
}
