/** @file Reads sums, products, powers and units; what stands alone (numbers, brackets, commands) is in parse-atom.ts. */

import { type Node, negated } from './expression.ts'
import { AtomParser, ParseError } from './parse-atom.ts'
import { mixedQuantity, quantity } from './quantities.ts'

export { ParseError } from './parse-atom.ts'

const MODULO = new Set(['pmod', 'bmod', 'mod', 'pod'])

export abstract class SumParser extends AtomParser {
  protected override sum(): Node {
    return this.descend(() => {
      let terms: Node[] = []
      let left: Node | null = null
      const close = () => (terms.length === 0 ? left : this.collect(left, terms))
      for (;;) {
        const sign = this.takeAny('+', '-', '±', '∓')
        if (!sign && (terms.length > 0 || left)) break
        const term = this.product()
        if (sign === '±' || sign === '∓') {
          left = { kind: 'plusMinus', left: close(), right: term, sign: sign === '±' ? 1 : -1 }
          terms = []
        } else terms.push(sign === '-' ? this.minus(term) : term)
        if (!this.startsSum()) break
      }
      return close() ?? this.fail()
    })
  }

  private collect(left: Node | null, terms: Node[]): Node {
    const all = left ? [left, ...terms] : terms
    return all.length === 1 ? all[0] : this.withUnit({ kind: 'add', terms: all })
  }

  /** A unit behind a sum belongs to the whole sum: `2 + 3 \text{ cm}`. */
  private withUnit(sum: Extract<Node, { kind: 'add' }>): Node {
    const last = sum.terms.at(-1)!
    if (last.kind !== 'quantity' || last.unit === '%' || last.unit === '°') return sum
    if (sum.terms.slice(0, -1).some(term => term.kind === 'quantity')) return sum
    return {
      kind: 'quantity',
      value: { kind: 'add', terms: [...sum.terms.slice(0, -1), last.value] },
      unit: last.unit,
    }
  }

  private minus(term: Node): Node {
    return term.kind === 'quantity' ? { ...term, value: negated(term.value) } : negated(term)
  }

  private startsSum(): boolean {
    return this.peekOperator('+', '-', '±', '∓')
  }

  private product(): Node {
    let left = this.signed()
    for (;;) {
      this.budget.spend()
      if (this.takeOperator('*')) left = this.times(left, this.signed())
      else if (this.peekOperator('/')) left = this.quotient(left)
      else if (this.peek().type === 'text') left = this.unit(left)
      else if (this.peek().type === 'command' && MODULO.has(this.peek().value)) left = this.modulo(left)
      else if (this.startsAtom()) left = this.implied(left)
      else return left
    }
  }

  private quotient(left: Node): Node {
    this.next()
    if (left.kind === 'quantity' && this.peek().type === 'text')
      return quantity(left.value, `${left.unit}/${this.unitWords()}`)
    return { kind: 'divide', numerator: left, denominator: this.signed() }
  }

  private signed(): Node {
    if (this.takeOperator('-')) return this.descend(() => this.minus(this.signed()))
    if (this.takeOperator('+')) return this.descend(() => this.signed())
    return this.factor()
  }

  private times(left: Node, right: Node): Node {
    return left.kind === 'multiply'
      ? { kind: 'multiply', factors: [...left.factors, right] }
      : { kind: 'multiply', factors: [left, right] }
  }

  /** A factor without a sign between: a mixed number, or a product. */
  private implied(left: Node): Node {
    const { type } = this.peek()
    if (left.kind === 'quantity' && type === 'number' && this.peekAt(1).type === 'text')
      return this.mixed(left)
    const plainMixed = left.kind === 'number' && type === 'number' && this.mixedPlain(left)
    if (plainMixed) return plainMixed
    if (type === 'number' && left.kind === 'number') throw new ParseError('two numbers side by side')
    const right = this.factor()
    if (this.isMixed(left, right)) return { kind: 'add', terms: [left, right] }
    return this.times(left, right)
  }

  private isMixed(left: Node, right: Node): boolean {
    if (left.kind !== 'number' || left.decimals !== undefined || left.value.d !== 1n || left.value.n < 1n)
      return false
    if (right.kind !== 'divide') return false
    const { numerator: n, denominator: d } = right
    const wholes = n.kind === 'number' && d.kind === 'number' && n.value.d === 1n && d.value.d === 1n
    return wholes && n.value.n > 0n && d.value.n > n.value.n
  }

  /** `1 1/2` */
  private mixedPlain(left: Node): Node | null {
    if (!this.peek().spaced || this.peekAt(1).value !== '/' || this.peekAt(2).type !== 'number') return null
    const fraction: Node = {
      kind: 'divide',
      numerator: this.factor(),
      denominator: this.skipThen(() => this.factor()),
    }
    return this.isMixed(left, fraction) ? { kind: 'add', terms: [left, fraction] } : this.fail()
  }

  private skipThen<T>(read: () => T): T {
    this.next()
    return read()
  }

  private modulo(left: Node): Node {
    this.next()
    return { kind: 'call', name: 'mod', args: [left, this.factor()] }
  }

  /** Words behind a value are its unit; words behind words go on. */
  private unit(left: Node): Node {
    const words = this.unitWords()
    if (left.kind === 'text') return { kind: 'text', text: `${left.text} ${words}` }
    return left.kind === 'quantity' ? quantity(left.value, `${left.unit} ${words}`) : quantity(left, words)
  }

  private unitWords(): string {
    let words = ''
    while (this.peek().type === 'text') {
      words += `${this.next().value} `
      if (this.takeOperator('^')) words = `${words.trimEnd()}^${this.exponentText()} `
      if (this.peekOperator('/') && this.peekAt(1).type === 'text')
        words = `${words.trimEnd()}${this.next().value}`
    }
    return words.trim()
  }

  /** `2 h 30 min` */
  private mixed(left: Node): Node {
    return mixedQuantity(left, this.unit(this.factor())) ?? this.fail()
  }

  private exponentText(): string {
    const node = this.atom()
    return node.kind === 'number' ? String(node.value.n) : '?'
  }
}
