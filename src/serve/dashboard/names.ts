/** @file Names by number: what few rollouts are called of many (roles, flags, criteria). */

import { z } from 'zod'

export const nameListSchema = z.array(z.string())

export class Names {
  readonly #places = new Map<string, number>()
  readonly #most: number

  constructor(most = 65_000) {
    this.#most = most
  }

  get list(): string[] {
    return [...this.#places.keys()]
  }

  /** The number of a name, which is given one where there is room; -1 where there is none. */
  of(name: string): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    if (this.#places.size >= this.#most) return -1
    this.#places.set(name, this.#places.size)
    return this.#places.size - 1
  }

  /** The number of a name that is known; -1 for another. */
  known(name: string): number {
    return this.#places.get(name) ?? -1
  }

  clear(): void {
    this.#places.clear()
  }

  fill(names: readonly string[]): void {
    this.clear()
    for (const name of names) this.of(name)
  }
}
