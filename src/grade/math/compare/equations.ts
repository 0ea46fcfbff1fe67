/** @file Whether two equations or inequalities say the same. */

import { difference, type Node, type NodeOf, type RelationOperator, symbolsOf } from '../read/expression.ts'
import {
  addComplex,
  type Complex,
  complex,
  divideComplex,
  isDefined,
  modulus,
  multiplyComplex,
  subtractComplex,
} from '../value/complex.ts'
import { Evaluator, type Point } from '../value/evaluate.ts'
import type { ScalarRules } from '../value/scalars.ts'

/** A relation of two sides as `side operator 0`, with `<` and `<=` turned to `>` and `>=`. */
interface Sided {
  side: Node
  operator: RelationOperator
}

const sided = ({ operators: [operator], operands: [left, right] }: NodeOf<'relation'>): Sided => {
  if (operator === '<') return { side: difference(right, left), operator: '>' }
  if (operator === '<=') return { side: difference(right, left), operator: '>=' }
  return { side: difference(left, right), operator: operator === '~' ? '=' : operator }
}

/**
 * Two relations are the same if one side is a constant multiple of the other (a positive one for inequalities), where
 * equations are first cleared of denominators. They differ if some point satisfies only one of them. Null where neither is
 * found: x = 1 and x^3 = 1 have one real solution but are no multiples.
 */
export const equationsEqual = (
  a: NodeOf<'relation'>,
  b: NodeOf<'relation'>,
  rules: ScalarRules,
): boolean | null => {
  if (a.operators.length !== 1 || b.operators.length !== 1) return null
  const [left, right] = [sided(a), sided(b)]
  if (left.operator !== right.operator) return false
  if (symbolsOf(left.side).join() !== symbolsOf(right.side).join()) return false
  const ratio = commonRatio(left.side, right.side, rules)
  if (ratio === 'none') return separated(left, right, rules)
  if (ratio === 'unclear') return null
  return left.operator === '=' || left.operator === '!=' || ratio > 0
}

const POINTS = 7

const points = (names: readonly string[]): Point[] =>
  Array.from({ length: POINTS }, (_, k) => ({
    logBase: 'e',
    values: new Map(
      names.map((name, i) => [name, 0.4 + 1.7 * (((i + 1) * 0.7548 + (k + 1) * 0.5698 + 0.13 * i * k) % 1)]),
    ),
  }))

/** left / right where it is one real constant at all points. */
const commonRatio = (left: Node, right: Node, rules: ScalarRules): number | 'none' | 'unclear' => {
  const cleared = new Cleared(rules)
  const ratios: Complex[] = []
  for (const at of points(symbolsOf(left, right))) {
    const ratio = divideComplex(cleared.numerator(left, at), cleared.numerator(right, at))
    if (isDefined(ratio) && modulus(ratio) > 1e-9) ratios.push(ratio)
  }
  if (ratios.length < 3) return 'unclear'
  const [first] = ratios
  const constant = ratios.every(
    ratio => modulus(subtractComplex(ratio, first)) <= 1e-9 * modulus(first) + 8 * (ratio.err + first.err),
  )
  return constant && Math.abs(first.im) < 1e-9 * modulus(first) ? first.re : 'none'
}

/** Values of fractions as numerator and denominator, so that y = 1/x and xy = 1 have one side in common. */
class Cleared {
  private readonly evaluator: Evaluator

  constructor(private readonly rules: ScalarRules) {
    this.evaluator = new Evaluator(rules.budget)
  }

  numerator(node: Node, at: Point): Complex {
    return this.fraction(node, at)[0]
  }

  private fraction(node: Node, at: Point): [Complex, Complex] {
    this.rules.budget.spend()
    if (node.kind === 'add') return node.terms.map(term => this.fraction(term, at)).reduce(this.sum)
    if (node.kind === 'multiply') {
      const parts = node.factors.map(factor => this.fraction(factor, at))
      return parts.reduce(([n, d], [m, e]) => [multiplyComplex(n, m), multiplyComplex(d, e)])
    }
    if (node.kind !== 'divide') return [this.evaluator.at(node, at), complex(1)]
    const [n, d] = this.fraction(node.numerator, at)
    const [m, e] = this.fraction(node.denominator, at)
    return [multiplyComplex(n, e), multiplyComplex(d, m)]
  }

  /** A shared denominator is not multiplied twice. */
  private sum([n, d]: [Complex, Complex], [m, e]: [Complex, Complex]): [Complex, Complex] {
    const shared = modulus(subtractComplex(d, e)) <= 1e-12 * modulus(d)
    return shared
      ? [addComplex(n, m), d]
      : [addComplex(multiplyComplex(n, e), multiplyComplex(m, d)), multiplyComplex(d, e)]
  }
}

/** False where a point satisfies one relation and clearly not the other; null where none was found. */
const separated = (a: Sided, b: Sided, rules: ScalarRules): false | null => {
  const evaluator = new Evaluator(rules.budget)
  const isEquation = a.operator === '=' || a.operator === '!='
  for (const line of lines(symbolsOf(a.side, b.side))) {
    const tell = isEquation ? zeroOfOne : signsDiffer
    if (tell(line, value(evaluator, a.side), value(evaluator, b.side))) return false
  }
  return null
}

type Value = (at: Point) => number
/** Points along one variable, the others fixed. */
type Line = (t: number) => Point

/** The real value of a side at a point, NaN where it has none. */
const value =
  (evaluator: Evaluator, side: Node): Value =>
  at => {
    const result = evaluator.at(side, at)
    return Math.abs(result.im) <= 1e-9 * (1 + Math.abs(result.re)) ? result.re : Number.NaN
  }

const lines = (names: readonly string[]): Line[] =>
  points(names)
    .slice(0, 3)
    .flatMap(({ values, logBase }) =>
      names.map(
        (name): Line =>
          t => ({ logBase, values: new Map(values).set(name, t) }),
      ),
    )

const STEPS = Array.from({ length: 41 }, (_, k) => -5.03 + 0.2513 * k)

const signsDiffer = (line: Line, left: Value, right: Value): boolean =>
  STEPS.some(t => {
    const [x, y] = [left(line(t)), right(line(t))]
    return Math.min(Math.abs(x), Math.abs(y)) > 1e-6 && x > 0 !== y > 0
  })

/** Whether, along the line, one side has a zero where the other is far from zero. */
const zeroOfOne = (line: Line, left: Value, right: Value): boolean =>
  hasOwnZero(line, left, right) || hasOwnZero(line, right, left)

const hasOwnZero = (line: Line, side: Value, other: Value): boolean => {
  for (let i = 1; i < STEPS.length; i++) {
    const zero = bisect(t => side(line(t)), STEPS[i - 1], STEPS[i])
    if (zero === null) continue
    const nearby = Math.abs(other(line(zero + 0.1))) + Math.abs(other(line(zero - 0.1)))
    if (Math.abs(other(line(zero))) > 1e-5 * (1 + nearby)) return true
  }
  return false
}

/** A zero between two points of different sign, unless the sign changes by a jump. */
const bisect = (f: (t: number) => number, from: number, to: number): number | null => {
  let [low, high] = [from, to]
  const start = f(low)
  const size = Math.min(Math.abs(start), Math.abs(f(high)))
  if (!(start * f(high) < 0)) return null
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (f(middle) * start > 0) low = middle
    else high = middle
  }
  return Math.abs(f(low)) <= 1e-6 * (1 + size) ? low : null
}
