/** @file Copies of trained weights that stay as they are: in memory up to a bound, the older ones in files. */

import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
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

const copied = (bytes: ArrayBufferLike, start: number, length: number): SharedArrayBuffer => {
  const part = new SharedArrayBuffer(length)
  new Uint8Array(part).set(new Uint8Array(bytes, start, length))
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
    this.#all.set(id, { parts: shared.map(part => copied(part, 0, part.byteLength)), sizes })
    this.#makeRoom(id)
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
    const { buffer, byteOffset } = readFileSync(this.#path(id))
    let at = byteOffset
    return snapshot.sizes.map(size => {
      const part = copied(buffer, at, size)
      at += size
      return part
    })
  }

  delete(id: string): void {
    const snapshot = this.#all.get(id)
    this.#all.delete(id)
    if (snapshot && !snapshot.parts) rmSync(this.#path(id), { force: true })
  }
}
