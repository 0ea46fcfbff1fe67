/** @file Cuts a cleaned answer, LaTeX or plain, into tokens. */

import type { Budget } from '../budget.ts'
import { BudgetSpent } from '../budget.ts'
import { CALLS } from './calls.ts'
import { isUnitWord } from './units.ts'
import {
  CONSTANTS,
  DRESSES,
  FUNCTIONS,
  GREEK,
  GREEK_NAMES,
  INVISIBLE,
  OPERATORS,
  SET_NAMES,
  TEXTS,
  table,
} from './vocabulary.ts'

/** Two marks that a comma or a space can make of the same digits. */
export interface NumberStyle {
  /** `1,234` is one number (outside brackets). */
  thousands: boolean
}

export interface Token {
  type:
    | 'number'
    | 'symbol'
    | 'constant'
    | 'function'
    | 'text'
    | 'set'
    | 'command'
    | 'operator'
    | 'begin'
    | 'end'
    | 'eof'
  value: string
  spaced: boolean
}

const MAX_TOKENS = 4000

/** Reads the text of a brace group that starts at `at` (the `{`); returns its inside and the place behind it. */
export const braceGroup = (source: string, at: number): [inside: string, next: number] | null => {
  let depth = 0
  for (let i = at; i < source.length; i++) {
    if (source[i] === '\\') i++
    else if (source[i] === '{') depth++
    else if (source[i] === '}' && --depth === 0) return [source.slice(at + 1, i), i + 1]
  }
  return null
}

/** Operators of two plain characters. */
const PAIRS = table({ '<=': '<=', '>=': '>=', '!=': '!=', '==': '=', '**': '^', '=>': '=>', '->': 'to' })
const OPERATOR_START = new Set([...'+-−*/^=<>(,[{|!~_:;'])
const OPERATOR_NEXT = new Set([...'+-−*/^=<>_!'])

/** The token that a word in small letters is by itself; null for one that has to be looked at where it stands. */
const knownWord = (word: string): [Token['type'], string] | null => {
  if (word === 'and' || word === 'or') return ['operator', word]
  if (word === 'union') return ['operator', 'union']
  if (['percent', 'pct', 'percentage'].includes(word)) return ['operator', '%']
  if (['degree', 'degrees', 'deg'].includes(word)) return ['operator', '°']
  if (word === 'binom') return ['command', word]
  if (word === 'sqrt') return ['command', 'plain sqrt']
  if (word.length > 1 && FUNCTIONS[word] && !/^(re|im)$/.test(word)) return ['function', FUNCTIONS[word]]
  if (CONSTANTS[word]) return ['constant', CONSTANTS[word]]
  if (GREEK_NAMES.has(word) && word.length > 2) return ['command', word]
  return null
}

/** A scanner over one answer. */
export class MathTokenizer {
  private at = 0
  private depth = 0
  private spaced = false
  private readonly tokens: Token[] = []

  constructor(
    private readonly source: string,
    private readonly reading: NumberStyle,
    private readonly budget: Budget,
  ) {}

  /** @throws BudgetSpent for more tokens than an answer can sensibly have */
  run(): Token[] {
    while (this.at < this.source.length) {
      this.budget.spend()
      if (this.tokens.length > MAX_TOKENS) throw new BudgetSpent('too many tokens')
      this.step()
    }
    this.push('eof', '')
    return this.tokens
  }

  private push(type: Token['type'], value: string) {
    this.tokens.push({ type, value, spaced: this.spaced })
    this.spaced = false
  }

  private step() {
    const c = this.source[this.at]
    if (/\s|~/.test(c)) {
      this.at++
      this.spaced = true
    } else if (c === '\\') this.command()
    else if (/[0-9]/.test(c) || (c === '.' && /[0-9]/.test(this.source[this.at + 1] ?? ''))) this.number()
    else if (/\p{L}/u.test(c)) this.word()
    else this.sign(c)
  }

  private number() {
    const rest = this.source.slice(this.at, this.at + 1300)
    const repeating = /^(\d*\.\d*)\\(?:overline|bar|dot)\s*\{(\d{1,40})\}/.exec(rest)
    if (repeating) {
      this.at += repeating[0].length
      return this.push('number', `${repeating[1]}r${repeating[2]}`)
    }
    const thousands =
      this.reading.thousands && this.depth === 0 && /^\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?/.exec(rest)
    const plain = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,5}(?![\d\p{L}]))?/u.exec(rest)
    const text = (thousands || plain)![0].replace(/\.$/, '')
    this.at += text.length
    if (this.source[this.at] === '.' && !/[0-9\\]/.test(this.source[this.at + 1] ?? '')) this.at++
    this.push('number', text.replace(/,/g, ''))
  }

  private sign(c: string) {
    const pair = this.source.slice(this.at, this.at + 2)
    const two = PAIRS[pair]
    if (two !== undefined && !(pair === '!=' && this.isFactorial())) {
      this.at += 2
      return this.operator(two)
    }
    this.at++
    if (CONSTANTS[c]) return this.push('constant', CONSTANTS[c])
    if (SET_NAMES[c]) return this.push('set', SET_NAMES[c])
    const operator = OPERATORS[c]
    if (operator !== undefined) return this.operator(operator)
    if ('.。?"“”`#@$'.includes(c)) return
    this.push('text', c)
  }

  /** `n!=5` is read as "n! = 5" only where the user wrote no space before the sign and a digit stands before. */
  private isFactorial(): boolean {
    return /[0-9]/.test(this.source[this.at - 1] ?? '')
  }

  private operator(value: string) {
    if (['(', '[', '\\{'].includes(value)) this.depth++
    if ([')', ']', '\\}'].includes(value)) this.depth = Math.max(0, this.depth - 1)
    this.push('operator', value)
  }

  private command() {
    const match = /^\\(?:([a-zA-Z]+)\*?|(.))/su.exec(this.source.slice(this.at, this.at + 60))
    if (!match) {
      this.at++
      return
    }
    this.at += match[0].length
    const [, name, sign] = match
    if (name === undefined) return this.escaped(sign)
    if (name === 'begin' || name === 'end') return this.environment(name)
    if (name === 'mathbb' || name === 'mathds') return this.blackboard()
    if (name === 'unit') return this.push('text', this.argument())
    if (TEXTS.has(name)) return this.text()
    if (DRESSES.has(name)) return this.dress()
    this.named(name)
  }

  private escaped(sign: string) {
    if (sign === '\\') return this.push('operator', '\\\\')
    if (sign === '{' || sign === '}') return this.operator(`\\${sign}`)
    if (sign === '%') return this.push('operator', '%')
    if (sign === '|') return this.push('operator', '|')
    this.spaced ||= ',;:! '.includes(sign)
  }

  private named(name: string) {
    if (INVISIBLE.has(name)) return this.invisible(name)
    if (CONSTANTS[name]) return this.push('constant', CONSTANTS[name])
    if (SET_NAMES[name] && name.length > 1) return this.push('set', SET_NAMES[name])
    if (FUNCTIONS[name]) return this.push('function', FUNCTIONS[name])
    if (OPERATORS[name]) return this.operator(OPERATORS[name])
    this.push('command', name.replace(/^var(?=[a-z])/, ''))
  }

  private invisible(name: string) {
    const next = this.source.slice(this.at).match(/^\s*(.)/s)?.[1]
    if ((name === 'left' || name === 'right') && next === '.') this.at = this.source.indexOf('.', this.at) + 1
    if ((name === 'left' || name === 'right') && next === '|') {
      this.at = this.source.indexOf('|', this.at) + 1
      return this.push('operator', name === 'left' ? '|(' : '|)')
    }
    if (/space$/.test(name) && next === '{')
      this.at = braceGroup(this.source, this.source.indexOf('{', this.at))?.[1] ?? this.at
    this.spaced = true
  }

  private environment(name: 'begin' | 'end') {
    const group = braceGroup(this.source, this.at)
    if (!group || this.source[this.at] !== '{') return
    this.at = group[1]
    if (name === 'begin' && /^(array|tabular)/.test(group[0]) && this.source[this.at] === '{') {
      this.at = braceGroup(this.source, this.at)?.[1] ?? this.at
    }
    this.push(name, group[0].replace('*', ''))
  }

  private blackboard() {
    const match = /^\s*\{?\s*([A-Z])\s*\}?(\^?[+*]|\^\{[+*]\}|_\+|_\{\+\})?/.exec(
      this.source.slice(this.at, this.at + 20),
    )
    if (!match) return
    this.at += match[0].length
    this.push('set', `${SET_NAMES[match[1]] ?? match[1]}${match[2] ? match[2].replace(/[{}^_]/g, '') : ''}`)
  }

  private argument(): string {
    while (this.source[this.at] === ' ') this.at++
    if (this.source[this.at] !== '{') return ''
    const group = braceGroup(this.source, this.at)
    if (!group) return ''
    this.at = group[1]
    return group[0]
  }

  private text() {
    const inside = this.argument()
      .replace(/[~\s]+/g, ' ')
      .trim()
    if (inside === '') {
      this.spaced = true
      return
    }
    this.words(inside)
  }

  /** The inside of a `\text{...}`: a connective, a number, a one-letter name, a function, or words. */
  private words(inside: string) {
    const connective = /^,?\s*(and|or)\b\s*$/i.exec(inside)
    if (connective) return this.push('operator', connective[1].toLowerCase())
    if (/^,$/.test(inside)) return this.operator(',')
    if (FUNCTIONS[inside]) return this.push('function', FUNCTIONS[inside])
    if (inside === 'e' || inside === 'i') return this.push('constant', inside)
    if (/^[a-zA-Z]$/.test(inside)) return this.push('symbol', inside)
    if (/^(?:percent|pct|per ?cent|percentage|%|\\%)$/i.test(inside)) return this.push('operator', '%')
    if (/^(?:degrees?|deg)$/i.test(inside)) return this.push('operator', '°')
    if (/[\d\\]/.test(inside) && !/[a-zA-Z]{2}/.test(inside.replace(/\\unit\{[^{}]*\}|\\[a-zA-Z]+/g, '')))
      return this.nested(inside)
    this.push('text', inside)
  }

  private nested(inside: string) {
    for (const token of new MathTokenizer(inside, this.reading, this.budget).run())
      if (token.type !== 'eof') this.tokens.push(token)
  }

  private dress() {
    const inside = this.argument()
    if (/^[A-Za-z]+$/.test(inside) && inside.length > 1) return this.push('symbol', inside)
    this.nested(inside)
  }

  /** `Rational(1, 3)`, `C(5, 2)`: a name with its arguments behind it. */
  private callName(): string | null {
    const ahead = this.source.slice(this.at, this.at + 40)
    if (/^C\s?\(\s*\d+\s*,\s*\d+\s*\)/.test(ahead)) return 'C'
    return /^([a-zA-Z]+(?:10|2|\.[a-zA-Z]+)?)\(/.exec(ahead)?.[1] ?? null
  }

  private word() {
    const name = this.callName()
    if (name !== null && (name === 'C' || CALLS[name])) {
      this.at += name.length
      return this.push('function', name === 'C' ? 'binomial' : name)
    }
    const word = /^\p{L}+/u.exec(this.source.slice(this.at, this.at + 200))![0]
    const glued = /[0-9]/.test(this.source[this.at - 1] ?? '')
    const lower = word.toLowerCase()
    const known = knownWord(lower)
    if (known) {
      this.at += word.length
      return this.push(...known)
    }
    if (this.readsAsWord(word, glued)) {
      this.at += word.length
      return this.push('text', word)
    }
    const prefix = Object.keys(FUNCTIONS).find(name => name.length > 2 && word.startsWith(name))
    if (prefix && !glued && word.length === prefix.length + 1) {
      this.at += prefix.length
      return this.named(prefix)
    }
    this.letter([...word][0])
  }

  /** Words stand apart from operators; the letters of a product touch them. */
  private readsAsWord(word: string, glued: boolean): boolean {
    if (/[^\x20-\x7eα-ωΑ-Ω]/u.test(word)) return true
    if (word.length > 2 && isUnitWord(word)) return true
    if (word === 'of' && this.tokens.at(-1)?.type === 'text') return true
    if (word.length < 3 || glued || /[α-ωΑ-Ω]/.test(word) || this.source[this.at + word.length] === '{')
      return false
    const before = this.source.slice(0, this.at).trimEnd().at(-1) ?? ''
    const after = this.source.slice(this.at + word.length).trimStart()[0] ?? ''
    return !OPERATOR_START.has(before) && !OPERATOR_NEXT.has(after)
  }

  private letter(letter: string) {
    this.at += letter.length
    if (CONSTANTS[letter]) return this.push('constant', CONSTANTS[letter])
    if (GREEK[letter]) return this.named(GREEK[letter])
    if (letter === 'e' || letter === 'i') return this.push('constant', letter)
    this.push('symbol', letter)
  }
}
