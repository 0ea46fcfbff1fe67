/** @file Results that a server works on: asked for until they are there, whatever happens to the connection meanwhile. */

import { isRecord } from '../util/own-value.ts'
import { type Connection, jsonOf, type TinkerResponse } from './connection.ts'
import { HINTS, TinkerError } from './errors.ts'
import { PROTOBUF } from './messages.ts'

/** What was asked for, as the protocol names it in a header. */
export type RequestType =
  | 'CreateModel'
  | 'UnloadModel'
  | 'Forward'
  | 'ForwardBackward'
  | 'OptimStep'
  | 'SaveWeights'
  | 'SaveWeightsForSampler'
  | 'LoadWeights'
  | 'Sample'

/** How a result is read in each dialect. */
export interface Decoder<T> {
  json(body: unknown): T
  protobuf?(bytes: Uint8Array): T
}

/** A future that fails is asked for so often before its failure is believed. */
const FAILURES_BELIEVED = 3

/**
 * The result of a request.
 * @param resubmit asks anew and gives the new id, where the server has dropped the request (status 410)
 * @throws TinkerError when the server says that it failed, or no longer knows of it
 */
export const resultOf = async <T>(
  connection: Connection,
  requestId: string,
  type: RequestType,
  reading: Decoder<T>,
  resubmit?: () => Promise<string>,
): Promise<T> => {
  let id = requestId
  let failures = 0
  for (let iteration = 0; ; iteration++) {
    const answer = await connection.call(
      'retrieve_future',
      { request_id: id, allow_metadata_only: false },
      {
        accept: reading.protobuf ? `${PROTOBUF}, application/json` : 'application/json',
        headers: { 'x-tinker-request-iteration': String(iteration), 'x-tinker-request-type': type },
        expected: [400, 408, 410, ...(resubmit ? [] : [422])],
      },
    )
    if (answer.status < 300) {
      if (answer.contentType.includes(PROTOBUF)) return readBytes(answer, reading, type)
      const body = jsonOf(answer, `${connection.origin} ${type}`)
      if (!isPending(body)) return readBody(body, reading, type, connection)
      await connection.wait(pauseMs(body, connection.backoffMs))
    } else if (answer.status === 410 && resubmit) id = await resubmit()
    else if (answer.status !== 408 && (answer.status !== 400 || ++failures >= FAILURES_BELIEVED))
      throw failed(connection, type, messageOf(jsonOf(answer, type)))
    else if (answer.status === 400) await connection.wait(connection.backoffMs)
  }
}

const isPending = (body: unknown): boolean =>
  isRecord(body) && (body.type === 'try_again' || body.status === 'complete_metadata')

/** A queue that is paused need not be asked at once. */
const pauseMs = (body: unknown, backoffMs: number): number =>
  isRecord(body) && String(body.queue_state ?? '').startsWith('paused') ? 2 * backoffMs : 0

const readBytes = <T>({ bytes }: TinkerResponse, { protobuf }: Decoder<T>, type: RequestType): T => {
  if (protobuf) return protobuf(bytes)
  throw new TinkerError('malformed', `${type}: expected JSON, got protobuf that nobody asked for`)
}

const readBody = <T>(body: unknown, { json }: Decoder<T>, type: RequestType, connection: Connection): T => {
  if (isRecord(body) && typeof body.error === 'string' && body.error !== '')
    throw failed(connection, type, body.error)
  return json(body)
}

const messageOf = (body: unknown): string => {
  if (!isRecord(body)) return String(body)
  const said = body.detail ?? body.error ?? body.message
  return typeof said === 'string' ? said : JSON.stringify(said ?? body)
}

const failed = (connection: Connection, type: RequestType, said: string): TinkerError =>
  new TinkerError(
    'failed',
    `${connection.origin} ${type}: the server failed: ${connection.hide(said).slice(0, 400)}`,
    {
      hint: `change what it complains about, or ${HINTS.resume}`,
    },
  )
