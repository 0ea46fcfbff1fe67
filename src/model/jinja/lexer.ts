/** @file A template's source as tokens, with `trim_blocks` and `lstrip_blocks`, as the transformers library sets them. */

import { SPACE, strip } from './text.ts'

export interface Token {
  /** `text`: what stands outside of tags. `begin` and `end`: those of a tag, whose value is then `{%` or `{{`. */
  type: 'text' | 'begin' | 'end' | 'name' | 'string' | 'integer' | 'float' | 'operator' | 'eof'
  value: string
  line: number
}

const RAW = new RegExp(`\\{%[-+]?[${SPACE}]*raw[${SPACE}]*(?:-%\\}[${SPACE}]*|%\\})`, 'y')
const END_RAW = new RegExp(
  `\\{%([-+]?)[${SPACE}]*endraw[${SPACE}]*(?:\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?)`,
  'g',
)
const END_COMMENT = new RegExp(`\\+#\\}|-#\\}[${SPACE}]*|#\\}\\n?`, 'g')
const END_BLOCK = new RegExp(`\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?`, 'y')
const END_PRINT = new RegExp(`-\\}\\}[${SPACE}]*|\\}\\}`, 'y')
const OPENING = /\{[%{#]/g
const GAP = new RegExp(`[${SPACE}]+`, 'y')
/** In the order in which Jinja tries them. */
const TOKENS: readonly (readonly [Token['type'], RegExp])[] = [
  ['float', /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[-+]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy],
  ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy],
  ['string', /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy],
  ['operator', /\/\/|\*\*|[=!<>]=|[-+*/%~[\](){}<>=.:|,;]/y],
]
const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** A string literal without its quotes, escapes as Python reads them: those it does not know stay as they are. */
const readEscapes = (text: string): string =>
  text.replace(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-7]{1,3})|(.))/gis,
    (whole: string, x?: string, u?: string, long?: string, octal?: string, other?: string) => {
      const hex = x ?? u ?? long
      // The expression takes X and u for each other's case; Python does not.
      if (hex !== undefined && 'xuU'.includes(whole[1])) return String.fromCodePoint(Number.parseInt(hex, 16))
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
      if (other !== undefined && 'xuUN'.includes(other)) throw new Error(`expected an escape, got ${whole}`)
      return other === undefined ? whole : (ESCAPES[other] ?? whole)
    },
  )

/** @throws Error for what is no template, with the line */
export const tokenize = (source: string): Token[] => new Lexer(source).run()

class Lexer {
  readonly #source: string
  readonly #tokens: Token[] = []
  #at = 0
  /** Where the last tag ended: behind a line's end, or within a line. */
  #startsLine = true

  constructor(source: string) {
    // All line ends are one character, and the last one of the file is left out.
    this.#source = source.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  }

  run(): Token[] {
    while (this.#at < this.#source.length) this.#readText()
    this.#add('eof', '')
    return this.#tokens
  }

  #fail(message: string): never {
    throw new Error(`line ${this.#line()}: ${message}`)
  }

  #line(): number {
    return this.#source.slice(0, this.#at).split('\n').length
  }

  #lastLine = 1
  #counted = 0
  #add(type: Token['type'], value: string): void {
    for (; this.#counted < this.#at; this.#counted++)
      if (this.#source[this.#counted] === '\n') this.#lastLine++
    this.#tokens.push({ type, value, line: this.#lastLine })
  }

  /** What an expression finds exactly here. */
  #take(expression: RegExp): string | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found === null || found.index !== this.#at) return null
    this.#at += found[0].length
    this.#startsLine = found[0].endsWith('\n')
    return found[0]
  }

  /** Text up to the next tag, and that tag. */
  #readText(): void {
    OPENING.lastIndex = this.#at
    const opening = OPENING.exec(this.#source)
    const end = opening?.index ?? this.#source.length
    const text = this.#source.slice(this.#at, end)
    const kind = opening?.[0]
    const sign = opening ? this.#source[end + 2] : ''
    this.#addText(kind === undefined ? text : this.#beforeTag(text, sign, kind !== '{{'))
    this.#at = end
    if (kind === '{#') this.#skipComment()
    else if (kind === '{%' && this.#take(RAW) !== null) this.#readRaw()
    else if (kind !== undefined) this.#readTag(kind)
  }

  #addText(text: string): void {
    if (text !== '') this.#add('text', text)
  }

  /** Text before a tag: without its white space for `-`, and without a line's indentation before a block. */
  #beforeTag(text: string, sign: string | undefined, isBlock: boolean): string {
    if (sign === '-') return strip(text, null, 'right')
    if (sign === '+' || !isBlock) return text
    const start = text.lastIndexOf('\n') + 1
    const indents = (start > 0 || this.#startsLine) && strip(text.slice(start), null, 'both') === ''
    return indents ? text.slice(0, start) : text
  }

  #skipTo(expression: RegExp, missing: string): RegExpExecArray {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source) ?? this.#fail(missing)
    this.#at = found.index + found[0].length
    return found
  }

  /** Goes on behind `{%`, `{{` or `{#` and its sign. */
  #skipOpening(): void {
    this.#at += /^[-+]/.test(this.#source.slice(this.#at + 2, this.#at + 3)) ? 3 : 2
  }

  #skipComment(): void {
    this.#skipOpening()
    const found = this.#skipTo(END_COMMENT, 'a comment is not closed')
    this.#startsLine = found[0].endsWith('\n')
  }

  #readRaw(): void {
    const start = this.#at
    const found = this.#skipTo(END_RAW, 'endraw is missing')
    this.#addText(this.#beforeTag(this.#source.slice(start, found.index), found[1], true))
    this.#startsLine = found[0].endsWith('\n')
  }

  #readTag(kind: string): void {
    this.#add('begin', kind)
    this.#skipOpening()
    const open: string[] = []
    const ending = kind === '{%' ? END_BLOCK : END_PRINT
    while (this.#at < this.#source.length) {
      if (open.length === 0 && this.#take(ending) !== null) {
        this.#add('end', kind)
        return
      }
      if (this.#take(GAP) === null) this.#readToken(open)
    }
    this.#fail(`${kind} is not closed`)
  }

  #readToken(open: string[]): void {
    for (const [type, expression] of TOKENS) {
      const value = this.#take(expression)
      if (value === null) continue
      if (type === 'operator') this.#balance(value, open)
      const read = type === 'string' ? readEscapes(value.slice(1, -1)) : value
      this.#add(type, type === 'integer' || type === 'float' ? read.replaceAll('_', '') : read)
      return
    }
    this.#fail(`unexpected ${JSON.stringify(this.#source[this.#at])}`)
  }

  #balance(operator: string, open: string[]): void {
    if ('([{'.includes(operator)) open.push(operator)
    else if (PAIRS[operator] !== undefined && open.pop() !== PAIRS[operator])
      this.#fail(`unexpected ${JSON.stringify(operator)}`)
  }
}
