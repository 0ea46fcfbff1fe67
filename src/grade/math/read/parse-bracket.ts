/** @file Reads what stands in brackets or rows: groups, intervals, sets, absolute values, matrices, systems. */

import { Cursor } from './cursor.ts'
import type { Node } from './expression.ts'

const OPENING = new Set(['(', '[', '{', '\\{', '|', '|(', 'floor(', 'ceil('])
const CLOSING = new Set([')', ']', '}', '\\}'])
const MATRICES = /^(?:[pbvBV]?matrix|array|smallmatrix|tabular)$/

/** Knows what a bar means where it is read: it opens an absolute value, closes one, or says "such that". */
export abstract class BracketParser extends Cursor {
  /** Inside `\{ ... \}`, where `|` and `:` say "such that". */
  protected inSet = false
  private bars = 0

  protected abstract atom(): Node
  protected abstract sum(): Node
  protected abstract list(ends: () => boolean): Node
  protected abstract clauses(ends: () => boolean): { items: Node[]; joined?: 'and' | 'or' }

  protected opensBracket(): boolean {
    const isBar = this.peekOperator('|') && (this.bars > 0 || this.inSet)
    return this.isOperator(OPENING) && !isBar
  }

  protected bracket(): Node {
    if (!this.isOperator(OPENING)) return this.fail()
    const open = this.next().value
    if (open === '{') return this.braces()
    if (open === 'floor(' || open === 'ceil(') return this.enclosed(open.slice(0, -1), open.replace('(', ')'))
    if (open === '|' || open === '|(') return this.absolute(open === '|' ? '|' : '|)')
    return this.group(open === '\\{' ? '{' : (open as '(' | '['))
  }

  private enclosed(name: string, end: string): Node {
    const node: Node = { kind: 'call', name, args: [this.sum()] }
    return this.takeOperator(end) ? node : this.fail()
  }

  private absolute(end: string): Node {
    this.bars++
    const node = this.enclosed('abs', end)
    this.bars--
    return node
  }

  private braces(): Node {
    const node = this.peekOperator('}') ? null : this.list(() => this.peekOperator('}'))
    if (!this.takeOperator('}')) this.fail()
    return node ?? this.atom()
  }

  private group(open: '(' | '[' | '{'): Node {
    const wasInSet = this.inSet
    const bars = this.bars
    this.inSet = open === '{'
    this.bars = 0
    const { items, joined } = this.clauses(() => this.isOperator(CLOSING) || this.isBuilder())
    const node = this.isBuilder() ? this.builder() : null
    this.inSet = wasInSet
    this.bars = bars
    const close = this.next().value.replace('\\', '')
    if (close !== ')' && close !== ']' && close !== '}') return this.fail()
    if (node) return node
    if ((open === '{') !== (close === '}')) return this.fail()
    if (items.length === 1 && open !== '{' && !joined && (open === '(') === (close === ')')) return items[0]
    return { kind: 'group', open, close, items }
  }

  private isBuilder(): boolean {
    return this.inSet && this.peekOperator('|', 'mid', ':')
  }

  /** `\{ x \mid condition \}` stands for its condition. */
  private builder(): Node {
    this.next()
    return this.list(() => this.peekOperator('\\}'))
  }

  protected skipBraces(): Node {
    this.next()
    const node = this.list(() => this.peekOperator('}'))
    return this.takeOperator('}') ? node : this.fail()
  }

  protected environment(name: string): Node {
    const end = () => this.peek().type === 'end' || this.peek().type === 'eof'
    const rows: Node[][] = [[]]
    if (!MATRICES.test(name)) {
      const node = this.list(end)
      this.next()
      return node
    }
    while (!end()) {
      if (this.takeOperator('\\\\')) rows.push([])
      else if (!this.takeOperator('&')) rows.at(-1)!.push(this.cell(end))
    }
    this.next()
    const node = this.matrixOrSystem(rows.filter(row => row.length > 0))
    return name === 'vmatrix' && node.kind === 'matrix' ? { kind: 'call', name: 'det', args: [node] } : node
  }

  private cell(end: () => boolean): Node {
    const cellEnd = () => end() || this.peekOperator('\\\\', '&')
    const start = this.position
    const node = this.list(cellEnd)
    return this.position === start ? this.fail() : node
  }

  /** An array of relations, one a row, is a system; everything else is a matrix. */
  private matrixOrSystem(rows: Node[][]): Node {
    if (rows.length === 0 || rows.some(row => row.length !== rows[0].length)) return this.fail()
    const isSystem = rows.every(row => row.length === 1 && row[0].kind === 'relation')
    if (isSystem) return { kind: 'group', open: '', close: '', items: rows.map(row => row[0]), joined: 'and' }
    return { kind: 'matrix', rows }
  }
}
