/** @file Reads symbolic formulas: the step grammar with FOLIO's operators, Unicode or ASCII. */

import { DataError } from '../../util/errors.ts'
import { atom, type BinaryKind, binary, type Formula, normaliseName, not } from './formula.ts'

/** A text that is not a formula: what was expected, and where (`position`: offset in the text). */
export class FormulaSyntaxError extends DataError {
  readonly position: number

  constructor(message: string, position: number) {
    super(`${message} at character ${position + 1}`)
    this.position = position
  }
}

export interface ParseOptions {
  /**
   * Mend what is mechanical in hand-written data: surplus or missing closing parentheses, a comma between formulas
   * read as "and", the words of a name joined. Off for judged text.
   */
  repair?: boolean
}

export interface ParsedFormula {
  formula: Formula
  /** What was mended, in words; empty when the text was well formed. */
  repairs: string[]
}

type TokenKind =
  | 'name'
  | 'not'
  | 'forall'
  | 'exists'
  | BinaryKind
  | '='
  | '!='
  | '('
  | ')'
  | ','
  | '.'
  | 'end'
interface Token {
  kind: TokenKind
  text: string
  position: number
}

// Longest first: "<->" before "->", "!=" before "!".
const OPERATORS: readonly (readonly [string, TokenKind])[] = [
  ['<->', 'iff'],
  ['<=>', 'iff'],
  ['->', 'implies'],
  ['=>', 'implies'],
  ['!=', '!='],
  ['&&', 'and'],
  ['||', 'or'],
  ['↔', 'iff'],
  ['⟷', 'iff'],
  ['⇔', 'iff'],
  ['→', 'implies'],
  ['⟶', 'implies'],
  ['⇒', 'implies'],
  ['∧', 'and'],
  ['&', 'and'],
  ['∨', 'or'],
  ['|', 'or'],
  ['⊕', 'xor'],
  ['^', 'xor'],
  ['¬', 'not'],
  ['~', 'not'],
  ['!', 'not'],
  ['∀', 'forall'],
  ['∃', 'exists'],
  ['≠', '!='],
  ['=', '='],
  ['(', '('],
  [')', ')'],
  [',', ','],
  ['.', '.'],
]

const WORDS: ReadonlyMap<string, TokenKind> = new Map([
  ['forall', 'forall'],
  ['exists', 'exists'],
  ['xor', 'xor'],
])

/** Symbols and names of a formula. */
const MAX_TOKENS = 10_000

// Letters of any script, digits, apostrophes; inside a name also signs and points that stand before another letter or
// digit (y42.3billion, anU.S.Official, c++, twenty-one).
const NAME = /[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_'’‘`´+#$%/]|[.-](?=[\p{L}\p{N}_]))*/uy
// After a quantifier a point ends the variable: forall x.P(x).
const VARIABLE = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_'’]*/uy

const operatorAt = (text: string, position: number) =>
  OPERATORS.find(([symbol]) => text.startsWith(symbol, position))

const tokenize = (text: string): Token[] => {
  const tokens: Token[] = []
  let position = 0
  while (position < text.length) {
    if (tokens.length >= MAX_TOKENS)
      throw new FormulaSyntaxError(`expected at most ${MAX_TOKENS} symbols, got more`, position)
    if (/\s/.test(text[position])) {
      position++
      continue
    }
    const operator = operatorAt(text, position)
    if (operator) {
      tokens.push({ kind: operator[1], text: operator[0], position })
      position += operator[0].length
      continue
    }
    const last = tokens.at(-1)?.kind
    const pattern = last === 'forall' || last === 'exists' ? VARIABLE : NAME
    pattern.lastIndex = position
    const name = pattern.exec(text)?.[0]
    if (name === undefined) {
      throw new FormulaSyntaxError(
        `expected a formula, got "${String.fromCodePoint(text.codePointAt(position)!)}"`,
        position,
      )
    }
    tokens.push({ kind: WORDS.get(name) ?? 'name', text: name, position })
    position += name.length
  }
  tokens.push({ kind: 'end', text: 'the end', position: text.length })
  return tokens
}

/** Drops surplus closing parentheses and supplies missing ones at the end. */
const balance = (tokens: Token[], repairs: string[]): Token[] => {
  const kept: Token[] = []
  let open = 0
  let dropped = 0
  for (const token of tokens.slice(0, -1)) {
    if (token.kind === ')' && open === 0) {
      dropped++
      continue
    }
    open += token.kind === '(' ? 1 : token.kind === ')' ? -1 : 0
    kept.push(token)
  }
  const end = tokens[tokens.length - 1]
  if (dropped > 0) repairs.push(`dropped ${dropped} surplus ")"`)
  if (open > 0) repairs.push(`supplied ${open} missing ")"`)
  for (let i = 0; i < open; i++) kept.push({ kind: ')', text: ')', position: end.position })
  return [...kept, end]
}

const MAX_DEPTH = 200

class Parser {
  readonly repairs: string[] = []
  #tokens: Token[]
  #index = 0
  #depth = 0
  readonly #repair: boolean

  constructor(text: string, options: ParseOptions) {
    this.#repair = options.repair ?? false
    this.#tokens = tokenize(text)
    if (this.#repair) this.#tokens = balance(this.#tokens, this.repairs)
  }

  get #token() {
    return this.#tokens[this.#index]
  }

  #take(kind: TokenKind): Token | null {
    if (this.#token.kind !== kind) return null
    return this.#tokens[this.#index++]
  }

  #expect(kind: TokenKind, what: string): Token {
    return this.#take(kind) ?? this.#fail(what)
  }

  #fail(what: string): never {
    throw new FormulaSyntaxError(`expected ${what}, got "${this.#token.text}"`, this.#token.position)
  }

  whole(): Formula {
    const formula = this.#iff()
    this.#take('.')
    if (this.#token.kind !== 'end') this.#fail('an operator or the end')
    return formula
  }

  #iff(): Formula {
    if (++this.#depth > MAX_DEPTH) this.#fail('fewer nested parentheses')
    let left = this.#implication()
    while (this.#take('iff')) left = binary('iff', left, this.#implication())
    this.#depth--
    return left
  }

  #implication(): Formula {
    const left = this.#disjunction()
    if (!this.#take('implies')) return left
    if (++this.#depth > MAX_DEPTH) this.#fail('fewer nested arrows')
    const right = this.#implication()
    this.#depth--
    return binary('implies', left, right)
  }

  #disjunction(): Formula {
    let left = this.#conjunction()
    for (;;) {
      const kind = this.#take('or') ? 'or' : this.#take('xor') ? 'xor' : null
      if (kind === null) return left
      left = binary(kind, left, this.#conjunction())
    }
  }

  #conjunction(): Formula {
    let left = this.#unary()
    for (;;) {
      if (this.#repair && this.#take(',')) this.repairs.push('read a comma as "and"')
      else if (!this.#take('and')) return left
      left = binary('and', left, this.#unary())
    }
  }

  #unary(): Formula {
    if (++this.#depth > MAX_DEPTH) this.#fail('fewer nested operators')
    const formula = this.#primary()
    this.#depth--
    return formula
  }

  #primary(): Formula {
    if (this.#take('not')) return not(this.#unary())
    const quantifier = this.#take('forall') ?? this.#take('exists')
    if (quantifier) {
      const variable = normaliseName(this.#expect('name', 'a variable').text)
      this.#take('.')
      return { kind: quantifier.kind as 'forall' | 'exists', variable, body: this.#unary() }
    }
    if (this.#take('(')) {
      const formula = this.#iff()
      this.#expect(')', '")"')
      return formula
    }
    return this.#atom()
  }

  #atom(): Formula {
    const name = normaliseName(this.#expect('name', 'a formula').text)
    if (name === '') this.#fail('a name')
    if (this.#take('(')) {
      const args = [this.#term()]
      while (this.#take(',')) args.push(this.#term())
      this.#expect(')', '"," or ")"')
      return atom(name, ...args)
    }
    if (this.#take('=')) return { kind: 'eq', left: name, right: this.#term() }
    if (this.#take('!=')) return not({ kind: 'eq', left: name, right: this.#term() })
    if (name === 'true' || name === 'false') return { kind: name }
    return atom(name)
  }

  #term(): string {
    const words = [this.#expect('name', 'a name').text]
    while (this.#repair && this.#token.kind === 'name') words.push(this.#take('name')!.text)
    if (words.length > 1) this.repairs.push(`joined "${words.join(' ')}" to one name`)
    return normaliseName(words.join('_'))
  }
}

/**
 * Reads one formula (iff < implies < or, xor < and < not, quantifiers). Names become ASCII.
 * @throws FormulaSyntaxError with what was expected and where.
 * @example
 * printFormula(parseFormula('∀x (Cat(x) → Animal(x))').formula) // '∀x (Cat(x) → Animal(x))'
 */
export const parseFormula = (text: string, options: ParseOptions = {}): ParsedFormula => {
  const parser = new Parser(text, options)
  const formula = parser.whole()
  return { formula, repairs: parser.repairs }
}

/** True when a text uses the symbols of the grammar and so is meant as a formula, not as a sentence. */
export const looksSymbolic = (text: string): boolean =>
  /[∀∃∧∨¬→⟶⇒↔⟷⇔⊕≠=~&|^]|->|[\p{L}\p{N}_]\(|\b(?:forall|exists)\s/u.test(text) || !/\s/.test(text.trim())
