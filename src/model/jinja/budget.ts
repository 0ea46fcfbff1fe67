/** @file How much a template may do: a budget that grows with what is rendered, so that what is linear in it always fits. */

/** Expressions, statements and calls within each other: several frames of the stack each. */
const MAX_DEPTH = 300
/** Widest indentation, and most decimals of a number. */
const MAX_WIDTH = 64

export class Budget {
  #steps: number
  readonly #chars: number
  #depth = 0

  /**
   * @param steps evaluations, and elements and characters gone through, in units of an evaluation
   * @param chars of any one text, and elements of any one list
   */
  constructor(steps: number, chars: number) {
    this.#steps = steps
    this.#chars = chars
  }

  /** @throws Error when the budget is used up */
  charge(cost: number): void {
    this.#steps -= cost
    if (this.#steps < 0) throw new Error('more steps than a conversation of this length can need')
  }

  /** Says how long a text will be before it is made. @throws Error when that is too long */
  text(length: number): void {
    if (length > this.#chars) throw new Error(`a text of more than ${this.#chars} characters`)
    this.charge(length / 64)
  }

  /** Says how many elements a list will have before it is made. @throws Error when they are too many */
  list(length: number): void {
    if (length > this.#chars) throw new Error(`a list of more than ${this.#chars} elements`)
    this.charge(length / 16)
  }

  /** @throws Error when `width` is more than an indentation can be */
  width(name: string, width: number): number {
    if (width > MAX_WIDTH) throw new Error(`${name}: expected at most ${MAX_WIDTH}, got ${width}`)
    return width
  }

  /** Runs what is within something else. @throws Error when that is too deep */
  within<T>(run: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new Error(`nested more than ${MAX_DEPTH} deep`)
    try {
      return run()
    } finally {
      this.#depth--
    }
  }
}
