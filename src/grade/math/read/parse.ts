/** @file Reads tokens into a tree: clauses joined by commas or words, relations, set operations, then sums (parse-sum.ts). */

import type { Budget } from '../budget.ts'
import type { Node, RelationOperator } from './expression.ts'
import { ParseError, SumParser } from './parse-sum.ts'
import { mixedQuantity } from './quantities.ts'
import { MathTokenizer, type NumberStyle } from './tokens.ts'

export { ParseError } from './parse-sum.ts'

const RELATIONS = new Set<string>(['=', '!=', '<', '<=', '>', '>=', '~', 'in', '≡', 'to'])
/** Of a relation without a left side these still say something: `> 3` is no 3. */
const BOUNDS = new Set<string>(['!=', '<', '<=', '>', '>='])
const UNNAMED: Node = { kind: 'symbol', name: 'x' }
const SET_OPERATIONS = new Set<string>(['union', 'intersection', 'difference'])
const SEPARATORS = new Set<string>([',', ';', 'and', 'or', '\\\\'])

type Join = { items: Node[]; joined?: 'and' | 'or' }

/** The grammar above sums. Precedence from low to high: separators, relations, ratio, set operations, sums. */
class AnswerParser extends SumParser {
  /** A whole answer; anything left over is an error. */
  answer(): Node {
    const node = this.list(() => this.peek().type === 'eof')
    if (this.peek().type !== 'eof') throw new ParseError(`nothing can follow before ${this.peek().value}`)
    return node
  }

  /** Clauses up to a closing bracket, as one node: the clause itself, or a bare list. */
  protected override list(ends: () => boolean): Node {
    const { items, joined } = this.clauses(ends)
    if (items.length === 1) return items[0]
    const whole = items
      .slice(1)
      .reduce<Node | null>((sum, item) => sum && mixedQuantity(sum, item), items[0] ?? null)
    if (whole) return whole
    return { kind: 'group', open: '', close: '', items, ...(joined && { joined }) }
  }

  protected override clauses(ends: () => boolean): Join {
    const result: Join = { items: [] }
    this.descend(() => {
      while (!ends() && this.peek().type !== 'eof') {
        if (this.takeOperator('=>')) {
          if (!ends()) result.items = []
        } else if (this.isOperator(SEPARATORS)) {
          const { value } = this.next()
          if (value === 'and' || value === 'or') result.joined = value
        } else {
          const start = this.position
          result.items.push(this.clause())
          if (this.position === start) throw new ParseError(`cannot read ${this.peek().value}`)
          if (
            !ends() &&
            !this.isOperator(SEPARATORS) &&
            !this.isOperator(new Set(['=>'])) &&
            this.peek().type !== 'eof'
          )
            throw new ParseError(`unexpected ${this.peek().value}`)
        }
      }
    })
    return result
  }

  private clause(): Node {
    const operands: Node[] = []
    const operators: RelationOperator[] = []
    if (this.isOperator(BOUNDS)) operands.push(UNNAMED)
    else if (!this.isOperator(RELATIONS)) operands.push(this.ratio())
    while (this.isOperator(RELATIONS)) {
      const operator = this.next().value as RelationOperator
      if (operands.length > 0) operators.push(operator)
      operands.push(this.ratio())
    }
    return operators.length === 0 ? operands[0] : { kind: 'relation', operators, operands }
  }

  private ratio(): Node {
    const parts = [this.setOperation()]
    while (!this.inSet && this.takeOperator(':')) parts.push(this.setOperation())
    return parts.length === 1 ? parts[0] : { kind: 'ratio', parts }
  }

  private setOperation(): Node {
    let left = this.sum()
    while (this.isOperator(SET_OPERATIONS)) {
      const operator = this.next().value as 'union' | 'intersection' | 'difference'
      left = { kind: 'setOperation', operator, left, right: this.sum() }
    }
    return left
  }
}

/**
 * Reads one cleaned answer (see clean.ts).
 * @throws ParseError where it is not mathematics that this parser knows; BudgetSpent
 */
export const parse = (source: string, reading: NumberStyle, budget: Budget): Node =>
  new AnswerParser(new MathTokenizer(source, reading, budget).run(), budget).answer()
