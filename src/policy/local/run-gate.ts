/**
 * @file Ends an engine between two runs of the runtime and never within one: a thread that is stopped inside native code takes
 * the whole process down with it (ONNX Runtime's binding throws where nobody can catch it).
 */

import type { Gate } from '../../tensor/index.ts'
import { GradusError } from '../../util/errors.ts'

const SHUT = 0
/** How many runs have begun and not ended: of several at a time one computes, and the others come after it. */
const INSIDE = 1

/** A run takes seconds at most; one that takes longer is not waited for. */
const WAIT_LIMIT_MS = 60_000
const LOOK_EVERY_MS = 2

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Shared by an engine's thread, which goes through it, and its owner, who shuts it. */
export class RunGate implements Gate {
  readonly shared: SharedArrayBuffer
  readonly #cells: Int32Array<SharedArrayBuffer>

  constructor(shared = new SharedArrayBuffer(8)) {
    this.shared = shared
    this.#cells = new Int32Array(shared)
  }

  /** @throws GradusError when it is shut */
  enter(): void {
    // In this order: whoever shuts it either sees that somebody is inside, or is seen.
    Atomics.add(this.#cells, INSIDE, 1)
    if (Atomics.load(this.#cells, SHUT) === 0) return
    this.leave()
    throw new GradusError('the policy is closed')
  }

  leave(): void {
    Atomics.sub(this.#cells, INSIDE, 1)
    Atomics.notify(this.#cells, INSIDE)
  }

  get #isOccupied(): boolean {
    return Atomics.load(this.#cells, INSIDE) > 0
  }

  /** Nobody enters any more; resolves when nobody is inside. */
  async shut(): Promise<void> {
    Atomics.store(this.#cells, SHUT, 1)
    const start = performance.now()
    while (this.#isOccupied && performance.now() - start < WAIT_LIMIT_MS) await pause(LOOK_EVERY_MS)
  }

  /** The same for a process that is about to exit: blocks this thread. */
  shutNow(): void {
    Atomics.store(this.#cells, SHUT, 1)
    const end = performance.now() + WAIT_LIMIT_MS
    for (let inside = Atomics.load(this.#cells, INSIDE); inside > 0; ) {
      if (Atomics.wait(this.#cells, INSIDE, inside, end - performance.now()) === 'timed-out') return
      inside = Atomics.load(this.#cells, INSIDE)
    }
  }
}
