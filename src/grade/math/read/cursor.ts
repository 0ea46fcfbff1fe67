/** @file A place in a list of tokens. */

import { type Budget, BudgetSpent } from '../budget.ts'
import type { Token } from './tokens.ts'

/** The text is not mathematics that the parser knows. */
export class ParseError extends Error {}

const MAX_DEPTH = 100
const EOF: Token = { type: 'eof', value: '', spaced: false }

/** Looks at tokens, takes them, and counts how deep the reading has gone. */
export class Cursor {
  protected position = 0
  private depth = 0

  constructor(
    private readonly tokens: Token[],
    protected readonly budget: Budget,
  ) {}

  protected peek(): Token {
    return this.tokens[this.position] ?? EOF
  }

  protected peekAt(ahead: number): Token {
    return this.tokens[this.position + ahead] ?? EOF
  }

  protected next(): Token {
    this.budget.spend()
    return this.tokens[this.position++] ?? EOF
  }

  protected isOperator(values: ReadonlySet<string>): boolean {
    return this.peek().type === 'operator' && values.has(this.peek().value)
  }

  protected peekOperator(...values: string[]): boolean {
    return this.peek().type === 'operator' && values.includes(this.peek().value)
  }

  protected takeOperator(value: string): boolean {
    if (!this.peekOperator(value)) return false
    this.next()
    return true
  }

  protected takeAny(...values: string[]): string | null {
    return this.peekOperator(...values) ? this.next().value : null
  }

  /** The first digit of the number ahead; the other digits stay. */
  protected takeDigit(): string {
    const token = this.peek()
    if (token.value.length === 1) return this.next().value
    this.tokens[this.position] = { ...token, value: token.value.slice(1), spaced: false }
    return token.value[0]
  }

  /** One token, or the tokens of a brace group, written in a row: a subscript's name. */
  protected tokensOfGroup(): string {
    if (!this.takeOperator('{')) return this.next().value
    let text = ''
    for (let depth = 1; ; ) {
      const { type, value } = this.next()
      if (type === 'eof') return this.fail()
      if (value === '{') depth++
      if (value === '}' && --depth === 0) return text
      text += value
    }
  }

  /** Goes one level deeper. @throws BudgetSpent for nesting that no answer has */
  protected descend<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) throw new BudgetSpent('nested too deeply')
    const result = read()
    this.depth--
    return result
  }

  protected fail(): never {
    const { type, value } = this.peek()
    throw new ParseError(type === 'eof' ? 'the text ends too early' : `cannot read ${value}`)
  }
}
