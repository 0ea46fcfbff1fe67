/** @file Whether two equations or inequalities say the same. */

import { add, type Complex, complex, divide, isDefined, modulus, multiply, pow, subtract } from './complex.ts'
import { Evaluator, type Point } from './evaluate.ts'
import { difference, type Node, type NodeOf, type RelationOperator, symbolsOf } from './expression.ts'
import type { ScalarRules } from './scalars.ts'

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
 * equations are first cleared of denominators. Null where the sides are no multiples: x = 1 and x^3 = 1 are then
 * neither shown to be the same nor to differ, except for linear equations, which must be multiples.
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
  if (ratio === 'none') return sameZeros(left.side, right.side, rules)
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
    const ratio = divide(cleared.numerator(left, at), cleared.numerator(right, at))
    if (isDefined(ratio) && modulus(ratio) > 1e-9) ratios.push(ratio)
  }
  if (ratios.length < 3) return 'unclear'
  const [first] = ratios
  const constant = ratios.every(
    ratio => modulus(subtract(ratio, first)) <= 1e-9 * modulus(first) + 8 * (ratio.err + first.err),
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
      return parts.reduce(([n, d], [m, e]) => [multiply(n, m), multiply(d, e)])
    }
    if (node.kind !== 'divide') return [this.evaluator.at(node, at), complex(1)]
    const [n, d] = this.fraction(node.numerator, at)
    const [m, e] = this.fraction(node.denominator, at)
    return [multiply(n, e), multiply(d, m)]
  }

  /** A shared denominator is not multiplied twice. */
  private sum([n, d]: [Complex, Complex], [m, e]: [Complex, Complex]): [Complex, Complex] {
    const shared = modulus(subtract(d, e)) <= 1e-12 * modulus(d)
    return shared ? [add(n, m), d] : [add(multiply(n, e), multiply(m, d)), multiply(d, e)]
  }
}

/** False where both sides are linear in every variable (then equal relations are multiples); null otherwise. */
const sameZeros = (left: Node, right: Node, rules: ScalarRules): false | null =>
  isLinear(left, rules) && isLinear(right, rules) ? false : null

const isLinear = (node: Node, rules: ScalarRules): boolean => {
  const names = symbolsOf(node)
  const evaluator = new Evaluator(rules.budget)
  const [start, direction] = points(names)
  const at = (t: number): Complex => {
    const values = new Map(
      names.map(name => [name, start.values.get(name)! + t * direction.values.get(name)!]),
    )
    return evaluator.at(node, { logBase: 'e', values })
  }
  const [a, b, c, d] = [at(0), at(1), at(2), at(5)]
  const bend = modulus(subtract(add(a, c), multiply(complex(2), b)))
  const far = modulus(subtract(subtract(d, a), multiply(complex(5), subtract(b, a))))
  const size = modulus(a) + modulus(d) + modulus(pow(b, complex(1)))
  return bend <= 1e-9 * size && far <= 1e-9 * size
}
