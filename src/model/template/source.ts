/** @file The tokens of a template's source: white space and strings as Jinja 3.1 reads them with transformers' settings. */

import { tokenize as tokenizeLibrary } from '@huggingface/jinja'
import { pyStrip, SPACE } from './text.ts'

/** What the library's parser takes. */
interface Token {
  type: string
  value: string
}

const regex = (source: string) => new RegExp(source.replaceAll('\\s', SPACE), 'y')
const ENDS: Readonly<Record<string, RegExp>> = {
  '{%': regex('\\+%\\}|-%\\}\\s*|%\\}\\n?'),
  '{{': regex('-\\}\\}\\s*|\\}\\}'),
  '{#': regex('[^]*?(?:\\+#\\}|-#\\}\\s*|#\\}\\n?)'),
}
const STRING = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy
const GAP = regex('\\s+')
const OPENING = /\{[%{#]/g
/** It marks what the assistant said: a block that the library has not. */
const GENERATION = /^ ?(end)?(?=generation ?$)/
const [LETTERS, MEANT] = ['abfnrtv\\\'"\n', ['\x07', '\b', '\f', '\n', '\r', '\t', '\v', '\\', "'", '"', '']]

/** A string literal without its quotes, as Python reads it: escapes that it does not know stay as they are. */
const readString = (literal: string): string =>
  literal.slice(1, -1).replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/gs, (whole, x, u, other) => {
    if (/[xuUN\d]/.test(other ?? '') || /^d[89a-f]/i.test(u ?? ''))
      throw new Error(`the escape ${whole} is not supported`)
    if (other === undefined) return String.fromCharCode(Number.parseInt(x ?? u, 16))
    return MEANT[LETTERS.indexOf(other)] ?? whole
  })

/** @throws Error for `a < b < c`, which the library reads as `(a < b) < c` */
const refuseChains = (tokens: readonly Token[]): void => {
  const compares = [false]
  for (const { type, value } of tokens) {
    if (/^Open/.test(type)) compares.push(false)
    if (/^Close/.test(type)) compares.pop()
    const isWord = type === 'Identifier'
    const isComparison = type === 'ComparisonBinaryOperator' || (isWord && value === 'in')
    if (isComparison && compares.at(-1)) throw new Error('a < b < c is not supported; write a < b and b < c')
    const endsOne = type === 'Comma' || (isWord && /^(and|or|not|if|else)$/.test(value))
    if (isComparison || endsOne) compares[compares.length - 1] = isComparison
  }
}

class Reader {
  readonly tokens: Token[] = []
  readonly #source: string
  #at = 0

  constructor(source: string) {
    // All line ends are one character, and the last one of the file is left out.
    this.#source = source.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  }

  read(): Token[] {
    while (this.#at < this.#source.length) {
      OPENING.lastIndex = this.#at
      const found = OPENING.exec(this.#source)
      const end = found?.index ?? this.#source.length
      this.#addText(end, found?.[0])
      this.#at = end
      if (found) this.#readTag(found[0])
    }
    return this.tokens
  }

  /** Text before a tag: without its white space for `-`, and without a line's indentation before a block. */
  #addText(end: number, kind?: string): void {
    let value = this.#source.slice(this.#at, end)
    const [line, sign] = [value.lastIndexOf('\n') + 1, this.#source[end + 2]]
    const startsLine = line > 0 || this.#at === 0 || this.#source[this.#at - 1] === '\n'
    const isIndent = startsLine && pyStrip(value.slice(line), null, 'both') === ''
    if (kind && sign === '-') value = pyStrip(value, null, 'right')
    else if (kind && kind !== '{{' && sign !== '+' && isIndent) value = value.slice(0, line)
    if (value !== '') this.tokens.push({ type: 'Text', value })
  }

  /** The library is given no white space and no string that it could read otherwise. */
  #readTag(kind: string): void {
    const strings: string[] = []
    let [code, depth] = ['', 0]
    this.#at += /[-+]/.test(this.#source[this.#at + 2] ?? '') ? 3 : 2
    while (this.#at < this.#source.length) {
      if (depth === 0 && this.#take(ENDS[kind]) !== null) return void this.#addCode(kind, code, strings)
      if (kind === '{#') break
      const string = this.#take(STRING)
      const character = string === null && this.#take(GAP) === null ? this.#source[this.#at++] : ' '
      depth += '([{'.includes(character) ? 1 : ')]}'.includes(character) ? -1 : 0
      code += string === null ? character : `"${strings.push(readString(string)) - 1}"`
    }
    throw new Error(`${kind} ends early`)
  }

  #take(expression: RegExp): string | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)?.[0] ?? null
    this.#at += found?.length ?? 0
    return found
  }

  #addCode(kind: string, code: string, strings: readonly string[]): void {
    if (kind === '{#') return
    const block = code
      .replace(GENERATION, (_, end) => (end ? 'endfilter ' : 'filter '))
      .replace(/(?<=^endfilter) .*/, '')
    const tokens = tokenizeLibrary(kind === '{%' ? `{% ${block} %}` : `{{ ${code} }}`) as Token[]
    for (const token of tokens) if (token.type === 'StringLiteral') token.value = strings[Number(token.value)]
    refuseChains(tokens)
    this.tokens.push(...tokens)
  }
}

/** The tokens of a template, for the library's parser. @throws Error for what is no template */
export const tokenizeTemplate = (source: string): Token[] => new Reader(source).read()
