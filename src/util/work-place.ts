/** @file What a worker thread and its pool tell each other while the thread is busy: what it is at, and which jobs nobody waits for. */

/** Milliseconds on a clock that all threads of the process share; it never goes back. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** What a thread is at. */
export interface WorkPosition {
  job: number
  /** Which part of the job, as the job itself counts them; 0 until it says. */
  part: number
  /** When the job began, on the clock of `sharedNowMs`. */
  sinceMs: number
}

const NO_JOB = -1
const READ_ATTEMPTS = 4
/** Bytes before the flags of the batch: the version, and three numbers. */
const HEAD = 32

/**
 * One thread writes, any may read. The version is odd while something is being written, so that a reader never takes the
 * job of one moment with the time of another.
 */
export class WorkPlace {
  readonly buffer: SharedArrayBuffer
  readonly #version: Int32Array
  readonly #values: Float64Array
  /** By the job's place in its batch: 1 where nobody waits for it any more. */
  readonly #dropped: Uint8Array

  /** @param of the buffer of the other thread's, or the jobs that a batch may have */
  constructor(of: SharedArrayBuffer | number) {
    this.buffer = typeof of === 'number' ? new SharedArrayBuffer(HEAD + of) : of
    this.#version = new Int32Array(this.buffer, 0, 1)
    this.#values = new Float64Array(this.buffer, 8, 3)
    this.#dropped = new Uint8Array(this.buffer, HEAD)
  }

  /** A new batch: all of its jobs are waited for. */
  keepAll(): void {
    this.#dropped.fill(0)
  }

  drop(place: number): void {
    Atomics.store(this.#dropped, place, 1)
  }

  isDropped(place: number): boolean {
    return Atomics.load(this.#dropped, place) === 1
  }

  begin(job: number): void {
    this.#write(job, 0, sharedNowMs())
  }

  /** The thread goes on to another part of the same job. */
  reach(part: number): void {
    Atomics.add(this.#version, 0, 1)
    this.#values[1] = part
    Atomics.add(this.#version, 0, 1)
  }

  leave(): void {
    this.#write(NO_JOB, 0, 0)
  }

  /** Null when the thread is at no job, or just between two. */
  read(): WorkPosition | null {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const version = Atomics.load(this.#version, 0)
      const [job, part, sinceMs] = this.#values
      if (version % 2 !== 0 || Atomics.load(this.#version, 0) !== version) continue
      return version === 0 || job === NO_JOB ? null : { job, part, sinceMs }
    }
    return null
  }

  #write(job: number, part: number, sinceMs: number): void {
    Atomics.add(this.#version, 0, 1)
    this.#values[0] = job
    this.#values[1] = part
    this.#values[2] = sinceMs
    Atomics.add(this.#version, 0, 1)
  }
}
