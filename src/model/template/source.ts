/** @file The tokens of a template's source, white space and texts read as Jinja 3.1 reads them with transformers' settings. */

import { tokenize as tokenizeLibrary } from '@huggingface/jinja'
import { SPACE, strip } from './text.ts'

/** What the library's parser takes. */
export interface Token {
  type: string
  value: string
}

/** Brackets around an operator: the library's tree does not tell `(a < b) < c` from `a < b < c`. */
const depths = new WeakMap<object, number>()
export const depthOf = (operator: object): number | undefined => depths.get(operator)

const regex = (source: string, flags = 'y') => new RegExp(source.replaceAll('\\s', SPACE), flags)
const ENDS: Readonly<Record<string, RegExp>> = {
  '{%': regex('\\+%\\}|-%\\}\\s*|%\\}\\n?'),
  '{{': regex('-\\}\\}\\s*|\\}\\}'),
}
const COMMENT_END = regex('\\+#\\}|-#\\}\\s*|#\\}\\n?', 'g')
const RAW = regex('\\{%[-+]?\\s*raw\\s*(?:-%\\}\\s*|%\\})')
const RAW_END = regex('\\{%([-+]?)\\s*endraw\\s*(?:\\+%\\}|-%\\}\\s*|%\\}\\n?)', 'g')
const STRING = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy
const GAP = regex('\\s+')
const OPENING = /\{[%{#]/g
const GENERATION = /^(?:end)?generation ?$/

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  "'": "'",
  '\\': '\\',
}

/** A string literal without its quotes, as Python reads it: escapes that it does not know stay as they are. */
const readString = (literal: string): string =>
  literal.slice(1, -1).replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/gs, (whole, x, u, other) => {
    if (other === undefined) return String.fromCharCode(Number.parseInt(x ?? u, 16))
    if (/[xuUN\d]/.test(other)) throw new Error(`the escape ${whole} is not supported`)
    return ESCAPES[other] ?? whole
  })

const isName = (token: Token | undefined, ...names: readonly string[]): boolean =>
  token?.type === 'Identifier' && (names.length === 0 || names.includes(token.value))

/** Where the brackets that open at a token are closed. */
const closingOf = (tokens: readonly Token[], at: number): number => {
  for (let [end, depth] = [at, 0]; end < tokens.length; end++) {
    depth += nesting(tokens[end])
    if (depth === 0) return end
  }
  throw new Error('a bracket is not closed')
}

/** Where the argument of a test ends that is written without brackets: `x is eq y.z[0]`. */
const argumentEnd = (tokens: readonly Token[], at: number): number => {
  const isPart = /^(Identifier|StringLiteral|NumericLiteral|Open(SquareBracket|CurlyBracket))$/
  if (!isPart.test(tokens[at]?.type) || isName(tokens[at], 'else', 'or', 'and')) return at
  let end = closingOf(tokens, at) + 1
  while (/^(Dot|Open(Paren|SquareBracket))$/.test(tokens[end]?.type))
    end = tokens[end].type === 'Dot' ? end + 2 : closingOf(tokens, end) + 1
  return end
}

const nesting = ({ type }: Token): number =>
  /^Open(Paren|Square|Curly)/.test(type) ? 1 : /^Close(Paren|Square|Curly)/.test(type) ? -1 : 0

/** Tests as filters of the name `is eq` or `is not eq`: the library parses no arguments of tests. */
const rewriteTests = (tokens: readonly Token[]): Token[] => {
  const rewritten: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const isTest = isName(tokens[at], 'is') && tokens[at - 1].type !== 'Dot'
    if (!isTest) {
      rewritten.push(tokens[at])
      continue
    }
    const isNegated = isName(tokens[at + 1], 'not')
    at += isNegated ? 2 : 1
    if (!isName(tokens[at])) throw new Error('expected a test behind is')
    rewritten.push({ type: 'Pipe', value: '|' })
    rewritten.push({ type: 'Identifier', value: `is ${isNegated ? 'not ' : ''}${tokens[at].value}` })
    const end = argumentEnd(tokens, at + 1)
    if (end === at + 1) continue
    rewritten.push({ type: 'OpenParen', value: '(' }, ...rewriteTests(tokens.slice(at + 1, end)))
    rewritten.push({ type: 'CloseParen', value: ')' })
    at = end - 1
  }
  return rewritten
}

class Reader {
  readonly tokens: Token[] = []
  readonly #source: string
  #at = 0
  #startsLine = true

  constructor(source: string) {
    // All line ends are one character, and the last one of the file is left out.
    this.#source = source.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  }

  /** @throws Error for a comment, a block or an expression that never ends */
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
    const [text, sign] = [this.#source.slice(this.#at, end), this.#source[end + 2]]
    const line = text.lastIndexOf('\n') + 1
    const isIndent = (line > 0 || this.#startsLine) && strip(text.slice(line), null, 'both') === ''
    let value = text
    if (kind && sign === '-') value = strip(text, null, 'right')
    else if (kind && kind !== '{{' && sign !== '+' && isIndent) value = text.slice(0, line)
    if (value !== '') this.tokens.push({ type: 'Text', value })
  }

  #readTag(kind: string): void {
    if (kind === '{%' && this.#take(RAW) !== null) return this.#readRaw()
    this.#at += /[-+]/.test(this.#source[this.#at + 2] ?? '') ? 3 : 2
    if (kind === '{#') this.#skipTo(COMMENT_END, 'a comment is not closed')
    else this.#readCode(kind)
  }

  #readRaw(): void {
    const start = this.#at
    const { index } = this.#skipTo(RAW_END, 'endraw is missing')
    const [end, startsLine] = [this.#at, this.#startsLine]
    this.#moveTo(start)
    this.#addText(index, '{%')
    this.#at = end
    this.#startsLine = startsLine
  }

  /** What is between `{%` and `%}`, or `{{` and `}}`; the library is given no text that it could read otherwise. */
  #readCode(kind: string): void {
    const strings: string[] = []
    let [code, depth] = ['', 0]
    while (this.#at < this.#source.length) {
      if (depth === 0 && this.#take(ENDS[kind]) !== null) return this.#addCode(kind, code, strings)
      const string = this.#take(STRING)
      if (string !== null) code += `"${strings.push(readString(string)) - 1}"`
      else if (this.#take(GAP) !== null) code += ' '
      else {
        const character = this.#source[this.#at++]
        depth += '([{'.includes(character) ? 1 : ')]}'.includes(character) ? -1 : 0
        code += character
      }
    }
    throw new Error(`${kind} ends early`)
  }

  #addCode(kind: string, code: string, strings: readonly string[]): void {
    if (kind === '{%' && GENERATION.test(code.trimStart())) return
    const read = tokenizeLibrary(`${kind} ${code} ${kind === '{%' ? '%}' : '}}'}`) as Token[]
    for (const token of read) if (token.type === 'StringLiteral') token.value = strings[Number(token.value)]
    let depth = 0
    for (const token of rewriteTests(read)) {
      depth += nesting(token)
      depths.set(token, depth)
      this.tokens.push(token)
    }
  }

  #take(expression: RegExp): string | null {
    expression.lastIndex = this.#at
    const text = expression.exec(this.#source)?.[0] ?? null
    if (text !== null) this.#moveTo(this.#at + text.length)
    return text
  }

  #skipTo(expression: RegExp, missing: string): RegExpExecArray {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found === null) throw new Error(missing)
    this.#moveTo(found.index + found[0].length)
    return found
  }

  #moveTo(at: number): void {
    this.#at = at
    this.#startsLine = this.#source[at - 1] === '\n'
  }
}

/** The tokens of a template, for the library's parser. @throws Error for what is no template */
export const tokenize = (source: string): Token[] => new Reader(source).read()
