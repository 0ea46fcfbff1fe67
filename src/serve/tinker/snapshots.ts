/** @file Copies of trained weights that stay as they are: in memory up to a bound, the older ones in files. */

import { randomUUID } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError } from '../../util/errors.ts'

interface Snapshot {
  /** Null: in its file. */
  parts: readonly SharedArrayBuffer[] | null
  /** Bytes of each part. */
  sizes: readonly number[]
}

const bytesOf = ({ sizes }: Snapshot): number => sizes.reduce((sum, size) => sum + size, 0)

const copied = (given: SharedArrayBuffer): SharedArrayBuffer => {
  const part = new SharedArrayBuffer(given.byteLength)
  new Uint8Array(part).set(new Uint8Array(given))
  return part
}

/** Most bytes of one read: no call of the system takes more than 2 GiB. */
const MOST_READ = 2 ** 30

/** The next `size` bytes of a file. @throws CheckpointError for one that is shorter */
const nextPart = (fd: number, size: number, path: string): SharedArrayBuffer => {
  const part = new SharedArrayBuffer(size)
  const bytes = new Uint8Array(part)
  for (let at = 0; at < size; ) {
    const read = readSync(fd, bytes, at, Math.min(size - at, MOST_READ), null)
    if (read === 0) throw new CheckpointError(`${path}: expected ${size - at} bytes more, got its end`)
    at += read
  }
  return part
}

export class Snapshots {
  readonly #folder: string
  readonly #mostBytes: number
  /** The oldest first. */
  readonly #all = new Map<string, Snapshot>()

  /** @param folder emptied: what an earlier process left there nobody can name any more */
  constructor(folder: string, mostBytes: number) {
    this.#folder = folder
    this.#mostBytes = mostBytes
    rmSync(folder, { recursive: true, force: true })
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.f32`)
  }

  /** Copies weights as an engine shares them. @throws CheckpointError when an older one cannot be written to make room */
  add(shared: readonly SharedArrayBuffer[]): string {
    const id = randomUUID()
    const sizes = shared.map(({ byteLength }) => byteLength)
    this.#all.set(id, { parts: shared.map(copied), sizes })
    try {
      this.#makeRoom(id)
    } catch (error) {
      this.#all.delete(id)
      throw error
    }
    return id
  }

  #makeRoom(newest: string): void {
    let held = [...this.#all.values()].reduce((sum, one) => sum + (one.parts ? bytesOf(one) : 0), 0)
    for (const [id, snapshot] of this.#all) {
      if (held <= this.#mostBytes || id === newest) return
      if (!snapshot.parts) continue
      mkdirSync(this.#folder, { recursive: true })
      writeFileAtomic(
        this.#path(id),
        snapshot.parts.map(part => new Uint8Array(part)),
      )
      snapshot.parts = null
      held -= bytesOf(snapshot)
    }
  }

  /** The weights, a part a tensor. @throws CheckpointError for one that there is not */
  get(id: string): readonly SharedArrayBuffer[] {
    const snapshot = this.#all.get(id)
    if (!snapshot) throw new CheckpointError(`snapshot ${id}: there is none; its session has ended`)
    if (snapshot.parts) return snapshot.parts
    const path = this.#path(id)
    const fd = openSync(path, 'r')
    try {
      return snapshot.sizes.map(size => nextPart(fd, size, path))
    } finally {
      closeSync(fd)
    }
  }

  delete(id: string): void {
    const snapshot = this.#all.get(id)
    this.#all.delete(id)
    if (snapshot && !snapshot.parts) rmSync(this.#path(id), { force: true })
  }
}
