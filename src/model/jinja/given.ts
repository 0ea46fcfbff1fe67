/** @file What was given to a function, filter or test of a template, by the names of its parameters. */

import { Float, type Given, isTrue, numberOf, textOf, typeName, type Value } from './values.ts'

/** Reads arguments by place or by name, as Python binds them. */
export class Arguments {
  readonly #name: string
  readonly #values = new Map<string, Value>()

  /** @throws Error for more arguments than parameters, and for names that are none of them */
  constructor(name: string, { args, kwargs }: Given, parameters: readonly string[]) {
    this.#name = name
    if (args.length > parameters.length)
      throw new Error(`${name}: expected at most ${parameters.length} arguments, got ${args.length}`)
    for (const [i, value] of args.entries()) this.#values.set(parameters[i], value)
    for (const [key, value] of kwargs) {
      if (!parameters.includes(key) || this.#values.has(key))
        throw new Error(`${name}: unexpected argument ${key}`)
      this.#values.set(key, value)
    }
  }

  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** @throws Error where it was not given and there is no fallback */
  value(key: string, fallback?: Value): Value {
    const value = this.#values.get(key) ?? (this.#values.has(key) ? null : fallback)
    if (value === undefined) throw new Error(`${this.#name}: expected ${key}`)
    return value
  }

  #expect<T>(key: string, found: T | null, what: string, value: Value): T {
    if (found === null) throw new Error(`${this.#name}: ${key}: expected ${what}, got ${typeName(value)}`)
    return found
  }

  text(key: string, fallback?: string): string {
    const value = this.value(key, fallback)
    return this.#expect(key, textOf(value), 'a text', value)
  }

  /** A text, or null for none. */
  textOrNone(key: string): string | null {
    return this.value(key, null) === null ? null : this.text(key)
  }

  /** A whole number. */
  integer(key: string, fallback?: number): number {
    const value = this.value(key, fallback)
    const number = value instanceof Float ? null : numberOf(value)
    return this.#expect(key, number, 'a whole number', value)
  }

  isTrue(key: string): boolean {
    return isTrue(this.value(key, false))
  }
}
