/** @file The numeric value of an expression at a point, with an error bound. */

import type { Budget } from '../budget.ts'
import type { Node, NodeOf } from '../read/expression.ts'
import {
  addComplex,
  type Complex,
  complex,
  divideComplex,
  expComplex,
  factorial,
  I,
  isDefined,
  ln,
  multiplyComplex,
  pow,
  root,
  subtractComplex,
  UNARY,
  UNDEFINED,
} from './complex.ts'
import { exactValue } from './exact.ts'
import { type Rational, toNumber } from './rational.ts'

export interface Point {
  /** Values of the variables by name. */
  readonly values: ReadonlyMap<string, number>
  /** What `\log` without a base means. */
  readonly logBase: 'e' | '10'
}

const MAX_TERMS_OF_SUM = 500

/** Evaluates one tree at many points. */
export class Evaluator {
  /** Whether something was met that is only known by name: its inequality proves nothing. */
  sawUnknown = false
  private readonly exponents = new Map<Node, Rational | null>()

  constructor(private readonly budget: Budget) {}

  /** NaN parts where the expression has no value there. @throws BudgetSpent */
  at(node: Node, point: Point): Complex {
    this.budget.spend()
    switch (node.kind) {
      case 'number':
        return this.number(node.value)
      case 'symbol':
        return this.symbol(node.name, point)
      case 'constant':
        return this.constant(node.name)
      case 'add':
        return node.terms.map(term => this.at(term, point)).reduce(addComplex)
      case 'multiply':
        return node.factors.map(factor => this.at(factor, point)).reduce(multiplyComplex)
      case 'divide':
        return divideComplex(this.at(node.numerator, point), this.at(node.denominator, point))
      case 'power':
        return this.power(node, point)
      case 'root':
        return this.root(node, point)
      case 'quantity':
        return this.quantity(node, point)
      case 'based':
        return this.at(node.value, point)
      case 'call':
        return this.call(node, point)
      default:
        return UNDEFINED
    }
  }

  private number(value: Rational): Complex {
    const near = toNumber(value)
    return complex(
      near,
      0,
      value.d === 1n && Number.isSafeInteger(near) ? 0 : Number.EPSILON * Math.abs(near),
    )
  }

  private symbol(name: string, point: Point): Complex {
    const value = point.values.get(name)
    return value === undefined ? UNDEFINED : complex(value)
  }

  private constant(name: NodeOf<'constant'>['name']): Complex {
    if (name === 'pi') return complex(Math.PI, 0, Number.EPSILON)
    if (name === 'e') return complex(Math.E, 0, Number.EPSILON)
    return name === 'i' ? I : UNDEFINED
  }

  /** `30°` inside an expression is an angle in radians, `5%` a hundredth; other units are known by name only. */
  private quantity(node: NodeOf<'quantity'>, point: Point): Complex {
    const value = this.at(node.value, point)
    if (node.unit === '%') return divideComplex(value, complex(100))
    if (node.unit === '°') return multiplyComplex(value, complex(Math.PI / 180, 0, Number.EPSILON / 50))
    return multiplyComplex(value, this.unknown(node.unit, []))
  }

  /** Fractional powers of odd denominator take the real root of negative numbers, as `\sqrt[3]{}` does. */
  private power(node: NodeOf<'power'>, point: Point): Complex {
    const base = this.at(node.base, point)
    if (node.base.kind === 'constant' && node.base.name === 'e')
      return expComplex(this.at(node.exponent, point))
    const exponent = this.exponent(node.exponent)
    if (!exponent || exponent.d > 64n) return pow(base, this.at(node.exponent, point))
    const numerator = complex(toNumber({ n: exponent.n, d: 1n }))
    return exponent.d === 1n ? pow(base, numerator) : pow(root(base, Number(exponent.d)), numerator)
  }

  private exponent(node: Node): Rational | null {
    let value = this.exponents.get(node)
    if (value === undefined) {
      value = exactValue(node, this.budget)
      this.exponents.set(node, value)
    }
    return value
  }

  private root(node: NodeOf<'root'>, point: Point): Complex {
    const order = this.exponent(node.index)
    const radicand = this.at(node.radicand, point)
    if (order && order.d === 1n && order.n > 0n && order.n <= 64n) return root(radicand, Number(order.n))
    return pow(radicand, divideComplex(complex(1), this.at(node.index, point)))
  }

  private call(node: NodeOf<'call'>, point: Point): Complex {
    if (node.name === 'sum' || node.name === 'prod') return this.series(node, point)
    const args = node.args.map(arg => this.at(arg, point))
    if (node.name === 'log') return this.log(args, point)
    const unary = UNARY.get(node.name)
    if (unary && args.length === 1) return unary(args[0])
    if (node.name === 'binomial') {
      const [n, k] = args
      return divideComplex(factorial(n), multiplyComplex(factorial(k), factorial(subtractComplex(n, k))))
    }
    if (node.name === 'max' || node.name === 'min') return this.extreme(node.name, args)
    const exact = exactValue(node, this.budget)
    return exact ? this.number(exact) : this.unknown(node.name, args)
  }

  private log([value, base]: Complex[], point: Point): Complex {
    if (base) return divideComplex(ln(value), ln(base))
    return point.logBase === 'e' ? ln(value) : divideComplex(ln(value), complex(Math.LN10))
  }

  private extreme(name: 'max' | 'min', args: Complex[]): Complex {
    if (args.some(arg => arg.im !== 0 || !isDefined(arg))) return UNDEFINED
    return args.reduce((a, b) => (a.re > b.re === (name === 'max') ? a : b))
  }

  /** Sums and products with whole bounds are added up; others are known by name only. */
  private series(node: NodeOf<'call'>, point: Point): Complex {
    const [below, above, body] = node.args
    const [index, start] = below.kind === 'relation' ? below.operands : []
    const from = start && exactValue(start, this.budget)
    const to = exactValue(above, this.budget)
    const finite = index?.kind === 'symbol' && from && to && from.d === 1n && to.d === 1n
    if (!finite || to.n - from.n >= BigInt(MAX_TERMS_OF_SUM)) return this.openSeries(node, point)
    let total = complex(node.name === 'sum' ? 0 : 1)
    for (let k = from.n; k <= to.n; k++) {
      const values = new Map(point.values).set(index.name, Number(k))
      const term = this.at(body, { ...point, values })
      total = node.name === 'sum' ? addComplex(total, term) : multiplyComplex(total, term)
    }
    return total
  }

  private openSeries({ name, args: [below, above, body] }: NodeOf<'call'>, point: Point): Complex {
    const start = below.kind === 'relation' ? below.operands[1] : below
    const bound = (node: Node) =>
      node.kind === 'constant' && node.name === 'infinity' ? complex(1e9) : this.at(node, point)
    return this.unknown(name, [bound(start), bound(above), this.at(body, point)])
  }

  /** A value that depends on name and arguments alone, so that equal calls agree. */
  private unknown(name: string, args: Complex[]): Complex {
    this.sawUnknown = true
    if (!args.every(isDefined)) return UNDEFINED
    let mixed = 0.5
    for (const character of name) mixed = Math.sin(mixed * 7.1 + (character.codePointAt(0) ?? 0)) + 1.3
    for (const { re, im } of args) mixed = Math.sin(mixed * 3.7 + re * 0.9 + im * 1.9) + 1.3
    return complex(mixed, 0, 1e-9)
  }
}
