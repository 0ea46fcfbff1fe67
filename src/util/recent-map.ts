/** @file A map of bounded size that forgets what was used longest ago. */

/** Reading a value is using it. Writing a known key forgets nothing; with a limit of 0 the map stays empty. */
export class RecentMap<K, V> {
  /** In the order of use, the longest ago first. */
  readonly #values = new Map<K, V>()
  readonly #limit: number

  /** @param limit entries at most, 0 or more; may be infinite */
  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#values.size
  }

  get(key: K): V | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#limit) this.#values.delete(this.#values.keys().next().value!)
  }
}
