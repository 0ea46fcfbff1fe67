/** @file Reads what stands alone in a product: numbers, names, functions, roots, what parse-bracket.ts reads, and what sticks to them. */

import { addRationals, divideRationals, parseDecimal, rational } from '../value/rational.ts'
import { CALLS } from './calls.ts'
import { changesWhatFollows } from './denials.ts'
import { MINUS_ONE, type Node, type NodeOf, numberNode } from './expression.ts'
import { BracketParser } from './parse-bracket.ts'

/** `12`, `1.50`, `1e-3`, and `0.1r36` for 0.1363636...; null for absurd sizes. */
const readNumber = (text: string): Node | null => {
  const [head, period] = text.split('r')
  if (period !== undefined) return repeating(head, period)
  const value = parseDecimal(text)
  if (!value) return null
  const point = /\.(\d*)(?:[eE]([+-]?\d+))?$/.exec(text)
  return numberNode(value, point ? Math.max(0, point[1].length - Number(point[2] ?? 0)) : undefined)
}

const repeating = (head: string, period: string): Node | null => {
  const places = BigInt(head.length - head.indexOf('.') - 1)
  const start = parseDecimal(head) ?? rational(0n)
  const nines = 10n ** BigInt(period.length) - 1n
  const tail = divideRationals({ n: BigInt(period), d: 1n }, { n: nines * 10n ** places, d: 1n })
  const value = start && tail && addRationals(start, tail)
  return value && numberNode(value)
}

/** Whether a subscript names a base that all digits belong to. */
const isBased = (node: NodeOf<'number'>, base: string): boolean => {
  if (!/^\d{1,2}$/.test(base) || node.decimals !== undefined || node.value.d !== 1n || node.value.n < 0n)
    return false
  const radix = Number(base)
  return radix >= 2 && radix <= 36 && [...String(node.value.n)].every(digit => Number(digit) < radix)
}

/** The value of a whole number in another base. */
const readBased = (node: NodeOf<'number'>, base: string): Node | null => {
  const digits = String(node.value.n)
  const value = rational([...digits].reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n))
  return value && { kind: 'based', value: numberNode(value), digits }
}

export { ParseError } from './cursor.ts'

const FRACTIONS = new Set(['frac', 'dfrac', 'tfrac', 'cfrac', 'nicefrac', 'sfrac'])
const BINOMIALS = new Set(['binom', 'dbinom', 'tbinom'])
const BIG_OPERATORS = new Set(['sum', 'prod', 'int', 'iint', 'oint', 'lim', 'limsup', 'liminf'])

const isMinusOne = (node: Node): boolean =>
  node.kind === 'multiply'
    ? node.factors.every(
        factor => factor.kind === 'number' && factor.value.n ** 2n === 1n && factor.value.d === 1n,
      )
    : node.kind === 'number' && node.value.n === -1n && node.value.d === 1n

export abstract class AtomParser extends BracketParser {
  protected startsAtom(): boolean {
    const { type, value } = this.peek()
    if (type === 'operator') return this.opensBracket() || value === "'"
    return ['number', 'symbol', 'constant', 'function', 'set', 'command', 'begin', 'text'].includes(type)
  }

  /** An atom with its powers, primes, factorials, subscripts and percent signs. */
  protected factor(): Node {
    return this.descend(() => this.postfix(this.atom()))
  }

  private postfix(atom: Node): Node {
    let node = atom
    for (;;) {
      this.budget.spend()
      if (this.peekOperator('^')) node = this.power(node)
      else if (this.takeOperator('_')) node = this.subscript(node)
      else if (this.takeOperator('!')) node = { kind: 'call', name: 'factorial', args: [node] }
      else if (this.takeOperator('%')) node = { kind: 'quantity', value: node, unit: '%' }
      else if (this.takeOperator('°')) node = { kind: 'quantity', value: node, unit: '°' }
      else if (node.kind === 'symbol' && this.takeOperator("'"))
        node = { kind: 'symbol', name: `${node.name}'` }
      else return node
    }
  }

  private power(base: Node): Node {
    this.next()
    if (this.takeOperator('circ')) return { kind: 'quantity', value: base, unit: '°' }
    const degree =
      this.peekOperator('{') && ['circ', '°'].includes(this.peekAt(1).value) && this.peekAt(2).value === '}'
    if (degree) {
      for (let i = 0; i < 3; i++) this.next()
      return { kind: 'quantity', value: base, unit: '°' }
    }
    if (this.takeOperator("'"))
      return base.kind === 'symbol' ? { kind: 'symbol', name: `${base.name}'` } : base
    const exponent = this.exponent()
    return { kind: 'power', base, exponent }
  }

  private exponent(): Node {
    if (this.takeOperator('-')) return this.minusOf(this.exponent())
    const atom = this.atom()
    return this.peekOperator('^') ? this.descend(() => this.power(atom)) : atom
  }

  private minusOf(node: Node): Node {
    return { kind: 'multiply', factors: [MINUS_ONE, node] }
  }

  private subscript(base: Node): Node {
    const text = this.tokensOfGroup()
    if (base.kind === 'number' && isBased(base, text)) return readBased(base, text) ?? this.fail()
    const name = base.kind === 'symbol' ? base.name : null
    return name === null ? base : { kind: 'symbol', name: `${name}_${text}` }
  }

  protected override atom(): Node {
    const token = this.peek()
    switch (token.type) {
      case 'number':
        return readNumber(this.next().value) ?? this.fail()
      case 'symbol':
        return { kind: 'symbol', name: this.next().value }
      case 'constant':
        return { kind: 'constant', name: this.next().value as 'pi' }
      case 'set':
        return { kind: 'setName', name: this.next().value }
      case 'text':
        return this.words()
      case 'function':
        return this.call(this.next().value)
      case 'command':
        return this.command(this.next().value)
      case 'begin':
        return this.environment(this.next().value)
      default:
        return this.bracket()
    }
  }

  /** Words before a formula only introduce it, unless they deny it or say that it is a bound; alone they are the answer. */
  private words(): Node {
    let text = this.next().value
    while (this.peek().type === 'text') text += ` ${this.next().value}`
    this.takeOperator(':')
    if (!this.startsAtom() && !this.peekOperator('-')) return { kind: 'text', text }
    return changesWhatFollows(text) ? this.fail() : this.sum()
  }

  private call(name: string): Node {
    let power: Node | null = null
    let base: Node | null = null
    while (this.peekOperator('^', '_')) {
      if (this.next().value === '_') base = this.exponent()
      else power = this.exponent()
    }
    const args = this.argumentsOf(name)
    const inverse = power !== null && isMinusOne(power) && ['sin', 'cos', 'tan'].includes(name)
    const all = base ? [...args, base] : args
    const build = CALLS[name]
    const value = build
      ? (build(all) ?? this.fail())
      : ({ kind: 'call', name: inverse ? `a${name}` : name, args: all } satisfies Node)
    return power && !inverse ? { kind: 'power', base: value, exponent: power } : value
  }

  private argumentsOf(name: string): Node[] {
    if (!this.peekOperator('(', '[', '{')) return [this.bareArgument()]
    const argument = this.atom()
    if (argument.kind !== 'group' || argument.open !== '(') return [argument]
    if (!CALLS[name]) this.fail()
    return argument.items
  }

  /** `\sin 2\pi x`: the factors that follow, up to a sign, a bracket or another function. */
  private bareArgument(): Node {
    if (this.peekOperator('-')) {
      this.next()
      return this.minusOf(this.bareArgument())
    }
    const factors: Node[] = [this.factor()]
    while (['number', 'symbol', 'constant'].includes(this.peek().type) || this.isPlainCommand())
      factors.push(this.factor())
    return factors.length === 1 ? factors[0] : { kind: 'multiply', factors }
  }

  private isPlainCommand(): boolean {
    const { type, value } = this.peek()
    return type === 'command' && !BIG_OPERATORS.has(value) && !['pmod', 'bmod', 'mod', 'pod'].includes(value)
  }

  private command(name: string): Node {
    if (FRACTIONS.has(name))
      return { kind: 'divide', numerator: this.argument(), denominator: this.argument() }
    if (BINOMIALS.has(name)) return this.binomial()
    if (name === 'sqrt') return this.root(() => this.argument())
    if (name === 'plain sqrt') return this.root(() => this.atom())
    if (BIG_OPERATORS.has(name)) return this.bigOperator(name)
    if (['overline', 'bar', 'dot'].includes(name))
      return { kind: 'symbol', name: `${name} ${this.tokensOfGroup()}` }
    return { kind: 'symbol', name: `\\${name}` }
  }

  private binomial(): Node {
    if (!this.peekOperator('('))
      return { kind: 'call', name: 'binomial', args: [this.argument(), this.argument()] }
    const pair = this.atom()
    return pair.kind === 'group' && pair.items.length === 2
      ? { kind: 'call', name: 'binomial', args: pair.items }
      : this.fail()
  }

  /** An argument in braces, or one digit or token: `\frac12`, `\frac{270}7`. */
  private argument(): Node {
    if (this.peekOperator('{')) return this.atom()
    if (this.peek().type !== 'number') return this.peekOperator('-') ? this.fail() : this.atom()
    return readNumber(this.takeDigit()) ?? this.fail()
  }

  /** @param bare reads what has no brackets: TeX takes one digit, people all of them */
  private root(bare: () => Node): Node {
    let index: Node = numberNode({ n: 2n, d: 1n })
    if (this.takeOperator('[')) {
      index = this.sum()
      if (!this.takeOperator(']')) this.fail()
    }
    const radicand = this.peekOperator('(', '{') ? this.atom() : bare()
    if (radicand.kind === 'group') this.fail()
    return { kind: 'root', radicand, index }
  }

  /** Sums, products, integrals and limits: bounds and body, to be evaluated where that is a finite matter. */
  private bigOperator(name: string): Node {
    let below: Node = { kind: 'text', text: '' }
    let above: Node = { kind: 'text', text: '' }
    while (this.peekOperator('^', '_')) {
      const sign = this.next().value
      const bound = this.peekOperator('{') ? this.skipBraces() : this.atom()
      if (sign === '_') below = bound
      else above = bound
    }
    return { kind: 'call', name, args: [below, above, this.bigBody()] }
  }

  private bigBody(): Node {
    const factors: Node[] = []
    do factors.push(this.factor())
    while (this.takeOperator('*') || this.startsAtom())
    return factors.length === 1 ? factors[0] : { kind: 'multiply', factors }
  }
}
