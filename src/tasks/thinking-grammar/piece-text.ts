/** @file Text as pieces of a closed vocabulary: a token is exactly the text that it decodes to. */

/** Both directions between text and tokens, the longest piece first. */
export class PieceText {
  readonly #vocabulary: readonly string[]
  readonly #silent: ReadonlySet<string>
  readonly #ids: ReadonlyMap<string, number>
  /** Pieces by their first character, longest first: the piece that a text begins with is the first that fits. */
  readonly #byFirst = new Map<string, string[]>()
  readonly #unknown: number

  /** @param special tokens that are no text, the last of them the unknown one */
  constructor(vocabulary: readonly string[], special: readonly string[]) {
    this.#vocabulary = vocabulary
    this.#silent = new Set(special)
    this.#ids = new Map(vocabulary.map((token, id) => [token, id]))
    this.#unknown = this.#ids.get(special[special.length - 1])!
    for (const piece of this.#pieces()) {
      const known = this.#byFirst.get(piece[0])
      if (known) known.push(piece)
      else this.#byFirst.set(piece[0], [piece])
    }
  }

  /** Pieces that are text, longest first. */
  #pieces(): string[] {
    return this.#vocabulary.filter(piece => !this.#silent.has(piece)).sort((a, b) => b.length - a.length)
  }

  /** Id of a piece. @throws RangeError for what is none */
  token(piece: string): number {
    const id = this.#ids.get(piece)
    if (id === undefined) throw new RangeError(`no piece of this vocabulary: ${JSON.stringify(piece)}`)
    return id
  }

  /** A text as tokens; a character that no piece begins with is unknown. */
  encode(text: string): number[] {
    const tokens: number[] = []
    for (let at = 0; at < text.length; ) {
      const piece = this.#byFirst.get(text[at])?.find(each => text.startsWith(each, at))
      tokens.push(piece === undefined ? this.#unknown : this.#ids.get(piece)!)
      at += piece?.length ?? 1
    }
    return tokens
  }

  /** Text of tokens; special ones are silent. */
  decode(tokens: ArrayLike<number>): string {
    let text = ''
    for (let i = 0; i < tokens.length; i++) {
      const piece = this.#vocabulary[tokens[i]] ?? ''
      if (!this.#silent.has(piece)) text += piece
    }
    return text
  }

  /** A regular expression that splits a text as `encode` does. */
  pattern(): string {
    return this.#pieces()
      .map(piece => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\n', '\\n'))
      .join('|')
  }
}
