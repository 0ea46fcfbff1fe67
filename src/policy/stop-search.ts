/** @file Finds stop strings in the text of tokens as they come. */

import { TextStream, type Tokenizer } from '../model/tokenizer.ts'

/** Only the end of the text can complete a stop string, so only a tail as long as the longest one is kept. */
export class StopSearch {
  readonly #stops: readonly string[]
  readonly #longest: number
  readonly #stream: TextStream
  #tail = ''

  constructor(tokenizer: Tokenizer, stops: readonly string[]) {
    this.#stops = stops
    this.#longest = Math.max(...stops.map(({ length }) => length))
    this.#stream = new TextStream(tokenizer)
  }

  /** Whether the next token completes one. */
  isAt(token: number): boolean {
    const tail = this.#tail + this.#stream.push(token)
    this.#tail = tail.slice(-this.#longest)
    return this.#stops.some(stop => tail.includes(stop))
  }
}
