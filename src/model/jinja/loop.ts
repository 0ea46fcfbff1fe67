/** @file What a `for` goes through, and the variable `loop`. Items are taken one by one, so that a condition sees what the body did. */

import type { Budget } from './budget.ts'
import { type Given, isEqual, itemsOf, Thing, Tuple, Undefined, type Value } from './values.ts'

export class Loop {
  readonly #items: readonly Value[]
  readonly #passes: (item: Value) => boolean
  readonly #depth: number
  readonly #budget: Budget
  /** Items that passed, in order: those so far, and those that somebody looked ahead to. */
  readonly #taken: Value[] = []
  #read = 0
  #index = -1
  #last: Tuple | null = null

  /** @param depth of a recursive loop, from 0 */
  constructor(items: readonly Value[], passes: (item: Value) => boolean, depth: number, budget: Budget) {
    this.#items = items
    this.#passes = passes
    this.#depth = depth
    this.#budget = budget
  }

  /** Goes on to the next item; undefined at the end. */
  next(): Value | undefined {
    this.#index++
    return this.#at(this.#index)
  }

  #at(index: number): Value | undefined {
    while (this.#taken.length <= index && this.#read < this.#items.length) {
      const item = this.#items[this.#read++]
      if (this.#passes(item)) this.#taken.push(item)
    }
    return this.#taken[index]
  }

  get #length(): number {
    this.#at(this.#items.length)
    return this.#taken.length
  }

  #changed({ args }: Given): boolean {
    const values = new Tuple(args)
    const isSame = this.#last !== null && isEqual(values, this.#last, this.#budget)
    this.#last = values
    return !isSame
  }

  #cycle({ args }: Given): Value {
    if (args.length === 0) throw new Error('loop.cycle: expected at least one value')
    return args[this.#index % args.length]
  }

  /** The variable `loop`. @param recurse of a recursive loop: goes through other items with the same body */
  variable(recurse: ((items: Value, depth: number) => string) | null): Thing {
    const beside = (index: number) => this.#at(index) ?? new Undefined('there is no such item of the loop')
    const call =
      recurse === null
        ? null
        : ({ args }: Given) => recurse(args[0] ?? new Undefined('loop: expected items'), this.#depth + 1)
    return new Thing('loop', call, {
      index: () => this.#index + 1,
      index0: () => this.#index,
      revindex: () => this.#length - this.#index,
      revindex0: () => this.#length - this.#index - 1,
      first: () => this.#index === 0,
      last: () => this.#at(this.#index + 1) === undefined,
      length: () => this.#length,
      previtem: () => beside(this.#index - 1),
      nextitem: () => beside(this.#index + 1),
      depth: () => this.#depth + 1,
      depth0: () => this.#depth,
      cycle: () => new Thing('loop.cycle', given => this.#cycle(given)),
      changed: () => new Thing('loop.changed', given => this.#changed(given)),
    })
  }
}

/** @throws Error unless a value has so many items */
export const unpack = (value: Value, count: number, budget: Budget): readonly Value[] => {
  const items = itemsOf(value, budget)
  if (items.length !== count) throw new Error(`expected ${count} values to unpack, got ${items.length}`)
  return items
}
