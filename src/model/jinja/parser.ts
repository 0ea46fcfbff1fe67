/** @file Tokens as a tree: the grammar and the precedences of Jinja 3.1, with `break`, `continue` and `generation`. */

import type { Token } from './lexer.ts'
import { tokenize } from './lexer.ts'
import type { Arguments, Expression, Statement, Target } from './nodes.ts'
import { Float } from './values.ts'

const NOTHING: Arguments = { positional: [], named: [], spread: null, namedSpread: null }
const CONSTANTS = new Map<string, boolean | null>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])
const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>='])
/** Names that cannot be an argument of a test without brackets. */
const BEHIND_A_TEST = new Set(['else', 'or', 'and'])

/** @throws Error for what is no template, with the line */
export const parse = (source: string): readonly Statement[] => new Parser(tokenize(source)).run()

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  /** Names that stand in the bodies that are being read, the innermost last. */
  readonly #names: Set<string>[] = [new Set()]

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  run(): readonly Statement[] {
    const body = this.#statements()
    if (this.#token.type !== 'eof') this.#fail('the end of the template')
    return body
  }

  get #token(): Token {
    return this.#tokens[this.#at]
  }

  #fail(expected: string): never {
    const { type, value, line } = this.#token
    throw new Error(`line ${line}: expected ${expected}, got ${type === 'eof' ? 'the end' : value || type}`)
  }

  #is(type: Token['type'], value?: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead]
    return token?.type === type && (value === undefined || token.value === value)
  }

  #skip(type: Token['type'], value?: string): boolean {
    const isThere = this.#is(type, value)
    if (isThere) this.#at++
    return isThere
  }

  #expect(type: Token['type'], value?: string): string {
    const token = this.#token
    if (!this.#skip(type, value)) this.#fail(value ?? type)
    return token.value
  }

  // Statements.

  /** Statements up to a block whose name is one of `ends`, or up to the end of the template. */
  #statements(ends: readonly string[] = []): Statement[] {
    const body: Statement[] = []
    while (!this.#is('eof')) {
      if (this.#is('text')) body.push({ kind: 'text', text: this.#expect('text') })
      else if (this.#skip('begin', '{{')) body.push(this.#print())
      else if (ends.includes(this.#tokens[this.#at + 1].value)) return body
      else body.push(this.#block())
    }
    return body
  }

  #print(): Statement {
    const value = this.#tuple()
    this.#expect('end')
    return { kind: 'print', values: [value] }
  }

  #block(): Statement {
    this.#expect('begin')
    const name = this.#expect('name')
    const read = this.#blocks[name]
    if (read === undefined) {
      this.#at--
      this.#fail('a tag that is supported')
    }
    return read()
  }

  readonly #blocks: Readonly<Record<string, () => Statement>> = {
    print: () => this.#printBlock(),
    set: () => this.#set(),
    if: () => this.#if(),
    for: () => this.#for(),
    with: () => this.#with(),
    macro: () => this.#macro(),
    call: () => this.#callBlock(),
    filter: () => this.#filterBlock(),
    generation: () => ({ kind: 'scope', body: this.#body('endgeneration') }),
    break: () => this.#jump('break'),
    continue: () => this.#jump('continue'),
  }

  #jump(kind: 'break' | 'continue'): Statement {
    this.#expect('end')
    return { kind }
  }

  /** What follows a tag up to a block named `end`, which is read too. */
  #body(end: string): Statement[] {
    const body = this.#bodyUntil([end])
    this.#closing([end])
    return body
  }

  #bodyUntil(ends: readonly string[]): Statement[] {
    this.#skip('operator', ':')
    this.#expect('end')
    return this.#statements(ends)
  }

  /** The name of the block that ends a body; the rest of its tag is still to be read. */
  #opening(ends: readonly string[]): string {
    if (!this.#skip('begin')) this.#fail(ends.join(' or '))
    const name = this.#expect('name')
    if (ends.includes(name)) return name
    this.#at--
    return this.#fail(ends.join(' or '))
  }

  #closing(ends: readonly string[]): void {
    this.#opening(ends)
    this.#expect('end')
  }

  #printBlock(): Statement {
    const values: Expression[] = []
    while (!this.#skip('end')) {
      if (values.length > 0) this.#expect('operator', ',')
      values.push(this.#expression())
    }
    return { kind: 'print', values }
  }

  #set(): Statement {
    const target = this.#target(true)
    if (this.#skip('operator', '=')) {
      const value = this.#tuple()
      this.#expect('end')
      return { kind: 'set', target, value }
    }
    const filter = this.#is('operator', '|') ? this.#filters(null) : null
    return { kind: 'set block', target, filter, body: this.#body('endset') }
  }

  #if(): Statement {
    const branches: [Expression, Statement[]][] = []
    for (;;) {
      const test = this.#tuple({ choices: false })
      branches.push([test, this.#bodyUntil(['elif', 'else', 'endif'])])
      const next = this.#opening(['elif', 'else', 'endif'])
      if (next === 'elif') continue
      const otherwise = next === 'else' ? this.#body('endif') : []
      if (next === 'endif') this.#expect('end')
      return { kind: 'if', branches, otherwise }
    }
  }

  #for(): Statement {
    const target = this.#target(false)
    this.#expect('name', 'in')
    const items = this.#tuple({ choices: false, end: 'recursive' })
    const test = this.#skip('name', 'if') ? this.#expression() : null
    const isRecursive = this.#skip('name', 'recursive')
    const body = this.#bodyUntil(['endfor', 'else'])
    const next = this.#opening(['endfor', 'else'])
    const otherwise = next === 'else' ? this.#body('endfor') : []
    if (next === 'endfor') this.#expect('end')
    return { kind: 'for', target, items, test, isRecursive, body, otherwise }
  }

  #with(): Statement {
    const values: [Target, Expression][] = []
    while (!this.#is('end')) {
      if (values.length > 0) this.#expect('operator', ',')
      const target = this.#target(false)
      this.#expect('operator', '=')
      values.push([target, this.#expression()])
    }
    return { kind: 'with', values, body: this.#body('endwith') }
  }

  #macro(): Statement {
    const name = this.#expect('name')
    const parameters = this.#parameters()
    const [names, body] = this.#named(() => this.#body('endmacro'))
    return { kind: 'macro', name, signature: { parameters, names }, body }
  }

  #callBlock(): Statement {
    const parameters = this.#is('operator', '(') ? this.#parameters() : []
    const call = this.#expression()
    if (call.kind !== 'call') this.#fail('a call')
    const [names, body] = this.#named(() => this.#body('endcall'))
    return { kind: 'call block', call, signature: { parameters, names }, body }
  }

  /** What is read, with all names in it. */
  #named<T>(read: () => T): [Set<string>, T] {
    const names = new Set<string>()
    this.#names.push(names)
    const result = read()
    this.#names.pop()
    for (const name of names) this.#names.at(-1)!.add(name)
    return [names, result]
  }

  #filterBlock(): Statement {
    const filter = this.#filters(null, true)!
    return { kind: 'filter block', filter, body: this.#body('endfilter') }
  }

  #parameters(): [string, Expression | null][] {
    const parameters: [string, Expression | null][] = []
    this.#expect('operator', '(')
    while (!this.#skip('operator', ')')) {
      if (parameters.length > 0) this.#expect('operator', ',')
      const name = this.#expect('name')
      const fallback = this.#skip('operator', '=') ? this.#expression() : null
      if (fallback === null && parameters.at(-1)?.[1])
        this.#fail('a default, as the parameter before has one')
      parameters.push([name, fallback])
    }
    return parameters
  }

  #target(mayBeField: boolean): Target {
    const items: Target[] = []
    let isTuple = false
    do {
      if (items.length > 0 && (this.#is('name', 'in') || this.#is('operator', '='))) break
      items.push(this.#oneTarget(mayBeField))
      isTuple ||= this.#is('operator', ',')
    } while (this.#skip('operator', ','))
    return isTuple ? { kind: 'tuple', items } : items[0]
  }

  #oneTarget(mayBeField: boolean): Target {
    if (this.#skip('operator', '(')) {
      const target = this.#target(mayBeField)
      this.#expect('operator', ')')
      return target
    }
    const name = this.#expect('name')
    if (CONSTANTS.has(name)) {
      this.#at--
      this.#fail('a name to assign to')
    }
    if (!mayBeField || !this.#skip('operator', '.')) return { kind: 'name', name }
    return { kind: 'field', object: name, name: this.#expect('name') }
  }

  // Expressions, from those that bind least.

  #tuple({ choices = true, end = '', inBrackets = false } = {}): Expression {
    const items: Expression[] = []
    let isTuple = false
    do {
      if (this.#is('end') || this.#is('operator', ')') || (end !== '' && this.#is('name', end))) break
      items.push(choices ? this.#expression() : this.#or())
      isTuple ||= this.#is('operator', ',')
    } while (this.#skip('operator', ','))
    if (!isTuple && items.length === 1) return items[0]
    if (!isTuple && !inBrackets) this.#fail('an expression')
    return { kind: 'tuple', items }
  }

  #expression(): Expression {
    let then = this.#or()
    while (this.#skip('name', 'if')) {
      const test = this.#or()
      const otherwise = this.#skip('name', 'else') ? this.#expression() : null
      then = { kind: 'choice', test, then, otherwise }
    }
    return then
  }

  /** Operators of one precedence, from left to right. */
  #leftToRight(
    next: () => Expression,
    type: Token['type'],
    operators: readonly string[],
    kind: 'calculate' | 'logic',
  ): Expression {
    let left = next()
    while (this.#is(type) && operators.includes(this.#token.value)) {
      const operator = this.#expect(type)
      left = { kind, operator, left, right: next() }
    }
    return left
  }

  #or(): Expression {
    return this.#leftToRight(() => this.#and(), 'name', ['or'], 'logic')
  }

  #and(): Expression {
    return this.#leftToRight(() => this.#not(), 'name', ['and'], 'logic')
  }

  #not(): Expression {
    return this.#skip('name', 'not') ? { kind: 'not', operand: this.#not() } : this.#compare()
  }

  #compare(): Expression {
    const first = this.#sum()
    const rest: [string, Expression][] = []
    for (;;) {
      const operator = this.#comparison()
      if (operator === null) return rest.length === 0 ? first : { kind: 'compare', first, rest }
      rest.push([operator, this.#sum()])
    }
  }

  #comparison(): string | null {
    if (this.#is('operator') && COMPARISONS.has(this.#token.value)) return this.#expect('operator')
    if (this.#skip('name', 'in')) return 'in'
    if (!this.#is('name', 'not') || !this.#is('name', 'in', 1)) return null
    this.#at += 2
    return 'not in'
  }

  #sum(): Expression {
    return this.#leftToRight(() => this.#concatenation(), 'operator', ['+', '-'], 'calculate')
  }

  #concatenation(): Expression {
    const parts = [this.#product()]
    while (this.#skip('operator', '~')) parts.push(this.#product())
    return parts.length === 1 ? parts[0] : { kind: 'concatenate', parts }
  }

  #product(): Expression {
    return this.#leftToRight(() => this.#power(), 'operator', ['*', '/', '//', '%'], 'calculate')
  }

  #power(): Expression {
    return this.#leftToRight(() => this.#unary(), 'operator', ['**'], 'calculate')
  }

  #unary(hasFilters = true): Expression {
    const sign = ['-', '+'].find(operator => this.#skip('operator', operator))
    const operand: Expression =
      sign === undefined
        ? this.#primary()
        : { kind: 'sign', isNegative: sign === '-', operand: this.#unary(false) }
    const whole = this.#postfix(operand)
    return hasFilters ? this.#filtered(whole) : whole
  }

  #primary(): Expression {
    const { type, value } = this.#token
    this.#at++
    if (type === 'name') return this.#name(value)
    if (type === 'string') return { kind: 'constant', value: value + this.#strings() }
    if (type === 'integer') return { kind: 'constant', value: Number(value) }
    if (type === 'float') return { kind: 'constant', value: new Float(Number(value)) }
    if (type === 'operator' && value === '(') {
      const inner = this.#tuple({ inBrackets: true })
      this.#expect('operator', ')')
      return inner
    }
    if (type === 'operator' && value === '[')
      return { kind: 'list', items: this.#upTo(']', () => this.#expression()) }
    if (type === 'operator' && value === '{')
      return { kind: 'dict', entries: this.#upTo('}', () => this.#entry()) }
    this.#at--
    return this.#fail('an expression')
  }

  #name(name: string): Expression {
    const constant = CONSTANTS.get(name)
    if (constant !== undefined) return { kind: 'constant', value: constant }
    this.#names.at(-1)!.add(name)
    return { kind: 'name', name }
  }

  /** Literals that follow each other are one text. */
  #strings(): string {
    let text = ''
    while (this.#is('string')) text += this.#expect('string')
    return text
  }

  /** What stands between commas up to a bracket, which is read too. A comma may stand before it. */
  #upTo<T>(bracket: string, read: () => T): T[] {
    const items: T[] = []
    while (!this.#skip('operator', bracket)) {
      if (items.length > 0) this.#expect('operator', ',')
      if (this.#skip('operator', bracket)) break
      items.push(read())
    }
    return items
  }

  #entry(): [Expression, Expression] {
    const key = this.#expression()
    this.#expect('operator', ':')
    return [key, this.#expression()]
  }

  #postfix(operand: Expression): Expression {
    let whole = operand
    for (;;) {
      if (this.#skip('operator', '.')) whole = this.#attribute(whole)
      else if (this.#skip('operator', '[')) whole = this.#item(whole)
      else if (this.#is('operator', '(')) whole = { kind: 'call', callee: whole, given: this.#arguments() }
      else return whole
    }
  }

  #attribute(object: Expression): Expression {
    if (this.#is('integer'))
      return { kind: 'item', object, key: { kind: 'constant', value: Number(this.#expect('integer')) } }
    return { kind: 'attribute', object, name: this.#expect('name') }
  }

  #item(object: Expression): Expression {
    const keys = this.#upTo(']', () => this.#subscript())
    const key: Expression = keys.length === 1 ? keys[0] : { kind: 'tuple', items: keys }
    return { kind: 'item', object, key }
  }

  #subscript(): Expression {
    const isEnd = () => [':', ']', ','].some(mark => this.#is('operator', mark))
    const part = () => (isEnd() ? null : this.#expression())
    const start = part()
    if (!this.#skip('operator', ':')) return start ?? this.#fail('an expression')
    const stop = part()
    const step = this.#skip('operator', ':') ? part() : null
    return { kind: 'slice', parts: [start, stop, step] }
  }

  #arguments(): Arguments {
    const positional: Expression[] = []
    const named: [string, Expression][] = []
    let spread: Expression | null = null
    let namedSpread: Expression | null = null
    this.#expect('operator', '(')
    this.#upTo(')', () => {
      if (namedSpread !== null) this.#fail(')')
      if (this.#skip('operator', '**')) namedSpread = this.#expression()
      else if (this.#is('name') && this.#is('operator', '=', 1)) named.push(this.#namedArgument())
      else if (spread !== null) this.#fail('a named argument')
      else if (this.#skip('operator', '*')) spread = this.#expression()
      else if (named.length > 0) this.#fail('a named argument')
      else positional.push(this.#expression())
    })
    return { positional, named, spread, namedSpread }
  }

  #namedArgument(): [string, Expression] {
    const name = this.#expect('name')
    this.#expect('operator', '=')
    return [name, this.#expression()]
  }

  #filtered(operand: Expression): Expression {
    let whole = operand
    for (;;) {
      if (this.#is('operator', '|')) whole = this.#filters(whole)
      else if (this.#skip('name', 'is')) whole = this.#test(whole)
      else if (this.#is('operator', '(')) whole = { kind: 'call', callee: whole, given: this.#arguments() }
      else return whole
    }
  }

  /** @param isOpen whether the first one stands without a bar */
  #filters(operand: Expression | null, isOpen = false): Expression {
    let whole = operand
    let isFirst = isOpen
    while (isFirst || this.#skip('operator', '|')) {
      const name = this.#expect('name')
      const given = this.#is('operator', '(') ? this.#arguments() : NOTHING
      whole = { kind: 'filter', operand: whole, name, given }
      isFirst = false
    }
    return whole!
  }

  #test(operand: Expression): Expression {
    const isNegated = this.#skip('name', 'not')
    const test: Expression = {
      kind: 'test',
      operand,
      name: this.#expect('name'),
      given: this.#testArguments(),
    }
    return isNegated ? { kind: 'not', operand: test } : test
  }

  #testArguments(): Arguments {
    if (this.#is('operator', '(')) return this.#arguments()
    const { type, value } = this.#token
    const isBracket = type === 'operator' && (value === '[' || value === '{')
    const isValue = ['name', 'string', 'integer', 'float'].includes(type) || isBracket
    if (!isValue || (type === 'name' && BEHIND_A_TEST.has(value))) return NOTHING
    if (this.#is('name', 'is')) this.#fail('no second test')
    return { ...NOTHING, positional: [this.#postfix(this.#primary())] }
  }
}
