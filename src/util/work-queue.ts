/** @file A queue that is taken from the front, and given back to there. */

/** First in, first out, in constant time; `restore` puts what was taken back where it was. */
export class WorkQueue<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head++]
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  restore(items: readonly T[]): void {
    if (items.length === 0) return
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }

  /** Takes everything. */
  drain(): T[] {
    const all = this.#items.slice(this.#head)
    this.#items = []
    this.#head = 0
    return all
  }
}
