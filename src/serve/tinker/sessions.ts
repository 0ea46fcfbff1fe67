/** @file Sessions of clients: opened, kept by heartbeats, and what was asked for once in each. */

import { randomUUID } from 'node:crypto'
import { RequestError } from './errors.ts'

export interface ClientSession {
  id: string
  openedAt: Date
  /** Of the last request or heartbeat, in ms of the service's clock. */
  seenAtMs: number
  /** Answers to requests that have a number in the session, by what they are and that number. */
  readonly answers: Map<string, { digest: string; answer: string }>
}

export class Sessions {
  readonly #all = new Map<string, ClientSession>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#all.size
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** The newest first. */
  list(): ClientSession[] {
    return [...this.#all.values()].reverse()
  }

  open(): ClientSession {
    const id = `session_${randomUUID()}`
    const session = { id, openedAt: new Date(), seenAtMs: this.#nowMs(), answers: new Map() }
    this.#all.set(id, session)
    return session
  }

  /** A session, which is alive by being asked for. @throws RequestError 404 */
  of(id: string): ClientSession {
    const session = this.#all.get(id)
    if (!session)
      throw new RequestError(404, `Session not found: ${id}`, {
        hint: 'the server was started anew, or no heartbeat came for too long; open another session',
      })
    session.seenAtMs = this.#nowMs()
    return session
  }

  /** Keeps a session alive whose model is being used. */
  touch(id: string): void {
    const session = this.#all.get(id)
    if (session) session.seenAtMs = this.#nowMs()
  }

  /**
   * The answer to a request that has a number in its session: a repetition gets the first one's.
   * @throws RequestError 409 where the number has another request
   */
  once(session: ClientSession, name: string, digest: string, answer: () => string): string {
    const known = session.answers.get(name)
    if (known && known.digest !== digest)
      throw new RequestError(409, `${name}: this session has another request of that number`)
    if (known) return known.answer
    const made = { digest, answer: answer() }
    session.answers.set(name, made)
    return made.answer
  }

  /** Takes one out. @throws RequestError 404 */
  end(id: string): void {
    this.of(id)
    this.#all.delete(id)
  }

  /** Takes out the sessions that have not been heard of for so long. */
  expire(afterMs: number): ClientSession[] {
    const before = this.#nowMs() - afterMs
    const gone = this.list().filter(({ seenAtMs }) => seenAtMs < before)
    for (const { id } of gone) this.#all.delete(id)
    return gone
  }
}
