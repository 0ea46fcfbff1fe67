/** @file The best few of many. */

/** The best of what is offered, best first; so few that a list which is kept in order does. */
export class Best<T> {
  readonly found: T[] = []
  readonly #most: number
  readonly #isBetter: (a: T, b: T) => boolean

  constructor(most: number, isBetter: (a: T, b: T) => boolean) {
    this.#most = most
    this.#isBetter = isBetter
  }

  offer(item: T): void {
    const { found } = this
    let at = found.length
    while (at > 0 && this.#isBetter(item, found[at - 1])) at--
    if (at >= this.#most) return
    found.splice(at, 0, item)
    if (found.length > this.#most) found.pop()
  }
}
