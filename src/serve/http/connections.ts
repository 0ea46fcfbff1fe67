/** @file The open connections of a server: what each is doing, and which of them nobody will miss. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** One connection. */
export class HttpConnection {
  readonly socket: Socket
  /** Answers that are not out yet, in the order of their requests. */
  readonly open = new Set<ServerResponse>()
  /** Called when it is closed: an answer that waits behind another one is not told (node:http). */
  readonly onClose = new Set<() => void>()
  /** Bytes that were read when the last request had been read whole; what came since belongs to the next. */
  #readBefore = 0
  #seenBytes = 0
  #quietSinceMs: number
  #quietLooks = 0

  constructor(socket: Socket, nowMs: number) {
    this.socket = socket
    this.#quietSinceMs = nowMs
  }

  /** The request that is being read is here whole. */
  requestRead(): void {
    this.#readBefore = this.socket.bytesRead
  }

  /** A part of a request is here, and its head is not complete. */
  get unfinishedHead(): boolean {
    return this.open.size === 0 && this.socket.bytesRead > this.#readBefore
  }

  /** Takes note of what has happened since the last look. */
  look(nowMs: number): void {
    const { bytesRead } = this.socket
    if (bytesRead !== this.#seenBytes || this.open.size > 0) {
      this.#seenBytes = bytesRead
      this.#quietSinceMs = nowMs
      this.#quietLooks = 0
    } else this.#quietLooks += 1
  }

  /** Nothing under way, nothing half read, and nothing came for a while, in several looks. */
  idleFor(idleMs: number, nowMs: number): boolean {
    const quiet = this.#quietLooks >= 2 && nowMs - this.#quietSinceMs >= idleMs
    return quiet && this.open.size === 0 && !this.unfinishedHead
  }
}

/** All connections of a server. */
export class Connections {
  readonly #all = new Map<Socket, HttpConnection>()
  /** Connections that there have been. */
  accepted = 0

  get size(): number {
    return this.#all.size
  }

  /** Requests whose answers are not out yet. */
  get openRequests(): number {
    let open = 0
    for (const connection of this.#all.values()) open += connection.open.size
    return open
  }

  /** Requests of which only a part of the head has come. */
  get unfinishedHeads(): number {
    return [...this.#all.values()].filter(({ unfinishedHead }) => unfinishedHead).length
  }

  add(socket: Socket): void {
    this.accepted += 1
    const connection = new HttpConnection(socket, performance.now())
    this.#all.set(socket, connection)
    socket.once('close', () => {
      this.#all.delete(socket)
      for (const close of connection.onClose) close()
    })
  }

  of(socket: Socket): HttpConnection {
    if (!this.#all.has(socket)) this.add(socket)
    return this.#all.get(socket) as HttpConnection
  }

  /**
   * Ends connections on which nothing has come for `idleMs`. To be called right after the event loop has polled (in
   * `setImmediate`): what lay in the kernel's buffers while the loop was busy must have been read before a look counts.
   */
  endIdle(idleMs: number): void {
    const nowMs = performance.now()
    for (const connection of this.#all.values()) {
      connection.look(nowMs)
      if (connection.idleFor(idleMs, nowMs)) connection.socket.end()
    }
  }

  destroyAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy()
  }
}
