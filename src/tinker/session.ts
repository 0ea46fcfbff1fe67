/** @file A session with a server: opened, kept alive, and the numbers that its models and samplers are counted by. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { Connection } from './connection.ts'
import { TinkerError } from './errors.ts'

/** The version of the official SDK whose JSON dialect is spoken: some servers want to know. */
const SDK_VERSION = '0.24.1'
const HEARTBEAT_MS = 10_000

const sessionSchema = z.looseObject({
  session_id: z.string(),
  error_message: z.string().nullish(),
  warning_message: z.string().nullish(),
})
const capabilitiesSchema = z.looseObject({
  supported_models: z
    .array(z.looseObject({ model_name: z.string().nullish(), max_context_length: z.number().nullish() }))
    .default([]),
})

export interface SupportedModel {
  name: string
  maxContextLength: number | null
}

export class TinkerSession {
  readonly connection: Connection
  readonly id: string
  /** What the server wants a person to know. */
  readonly warning: string | null
  #models = 0
  #samplers = 0
  readonly #heartbeat: NodeJS.Timeout
  #isBeating = false
  #lost: TinkerError | null = null

  private constructor(connection: Connection, id: string, warning: string | null, heartbeatMs: number) {
    this.connection = connection
    this.id = id
    this.warning = warning
    this.#heartbeat = setInterval(() => void this.#beat(), heartbeatMs)
    this.#heartbeat.unref()
  }

  /** @throws TinkerError when the server cannot be had, or will not have us */
  static async open(
    connection: Connection,
    { tags = [], heartbeatMs = HEARTBEAT_MS }: { tags?: readonly string[]; heartbeatMs?: number } = {},
  ): Promise<TinkerSession> {
    const body = { tags, user_metadata: {}, sdk_version: SDK_VERSION, type: 'create_session' }
    const said = parseWith(
      sessionSchema,
      await connection.json('create_session', body),
      'create_session',
      DataError,
    )
    if (said.error_message)
      throw new TinkerError(
        'refused',
        `${connection.origin} create_session: ${connection.hide(said.error_message)}`,
      )
    const warning = said.warning_message ? connection.hide(said.warning_message) : null
    return new TinkerSession(connection, said.session_id, warning, heartbeatMs)
  }

  /** What the server can train; empty where it does not say. */
  async models(): Promise<SupportedModel[]> {
    const answer = await this.connection.json('get_server_capabilities', undefined, { method: 'GET' })
    return parseWith(
      capabilitiesSchema,
      answer,
      'get_server_capabilities',
      DataError,
    ).supported_models.flatMap(({ model_name: name, max_context_length: length }) =>
      name ? [{ name, maxContextLength: length ?? null }] : [],
    )
  }

  nextModel(): number {
    return this.#models++
  }

  nextSampler(): number {
    return this.#samplers++
  }

  /** @throws TinkerError where the server no longer knows the session */
  assertAlive(): void {
    if (this.#lost) throw this.#lost
  }

  /** A beat that fails is the next one's business, which waits for it; only a session that is gone is news. */
  async #beat(): Promise<void> {
    if (this.#isBeating) return
    this.#isBeating = true
    try {
      await this.connection.call('session_heartbeat', { session_id: this.id, type: 'session_heartbeat' })
    } catch (error) {
      if (error instanceof TinkerError && error.kind === 'missing') this.#lost = error
    } finally {
      this.#isBeating = false
    }
  }

  close(): void {
    clearInterval(this.#heartbeat)
  }
}
