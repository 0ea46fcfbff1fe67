/** @file Matrices and their sums, differences and products. */

import { type Node, type NodeOf, negated } from '../read/expression.ts'
import { exactValue } from './exact.ts'
import type { ScalarRules } from './scalars.ts'

const MAX_ENTRIES = 400

type Matrix = NodeOf<'matrix'>

const zip = (a: Matrix, b: Matrix, join: (x: Node, y: Node) => Node): Matrix | null => {
  if (a.rows.length !== b.rows.length || a.rows[0].length !== b.rows[0].length) return null
  return { kind: 'matrix', rows: a.rows.map((row, i) => row.map((entry, j) => join(entry, b.rows[i][j]))) }
}

const sum = (x: Node, y: Node): Node => ({ kind: 'add', terms: [x, y] })
const product = (x: Node, y: Node): Node => ({ kind: 'multiply', factors: [x, y] })

const scaled = (matrix: Matrix, factor: Node): Matrix => ({
  kind: 'matrix',
  rows: matrix.rows.map(row => row.map(entry => product(factor, entry))),
})

const multiplied = (a: Matrix, b: Matrix): Matrix | null => {
  if (a.rows[0].length !== b.rows.length || a.rows.length * b.rows[0].length > MAX_ENTRIES) return null
  const entry = (row: Node[], j: number) => row.map((x, k) => product(x, b.rows[k][j])).reduce(sum)
  return { kind: 'matrix', rows: a.rows.map(row => b.rows[0].map((_, j) => entry(row, j))) }
}

/** The matrix that an expression of matrices comes to; null where it is none, or the shapes do not fit. */
export const matrixOf = (node: Node, rules: ScalarRules): Matrix | null => {
  rules.budget.spend()
  if (node.kind === 'matrix') return node
  if (node.kind === 'add')
    return fold(
      node.terms.map(term => matrixOf(term, rules)),
      (a, b) => zip(a, b, sum),
    )
  if (node.kind === 'multiply') return productOf(node.factors, rules)
  if (node.kind === 'power') return power(node, rules)
  return null
}

const fold = (matrices: (Matrix | null)[], join: (a: Matrix, b: Matrix) => Matrix | null): Matrix | null =>
  matrices.reduce((a, b) => (a && b ? join(a, b) : null))

/** Scalars among the factors scale the product of the matrices. */
const productOf = (factors: readonly Node[], rules: ScalarRules): Matrix | null => {
  let result: Matrix | null = null
  const scalars: Node[] = []
  for (const factor of factors) {
    const matrix = matrixOf(factor, rules)
    if (!matrix) scalars.push(factor)
    else {
      result = result ? multiplied(result, matrix) : matrix
      if (!result) return null
    }
  }
  return result && scalars.reduce<Matrix>(scaled, result)
}

const power = ({ base, exponent }: NodeOf<'power'>, rules: ScalarRules): Matrix | null => {
  const matrix = matrixOf(base, rules)
  if (!matrix) return null
  if (exponent.kind === 'symbol' && exponent.name === 'T') return transposed(matrix)
  const value = exactValue(exponent, rules.budget)
  if (value?.d !== 1n || value.n < 1n || value.n > 8n) return null
  return fold(
    Array.from({ length: Number(value.n) }, () => matrix),
    multiplied,
  )
}

const transposed = ({ rows }: Matrix): Matrix => ({
  kind: 'matrix',
  rows: rows[0].map((_, j) => rows.map(row => row[j])),
})

/** The determinant of a small matrix, as an expression. */
export const determinant = ({ rows }: Matrix): Node | null => {
  if (rows.length !== rows[0].length || rows.length > 4) return null
  if (rows.length === 1) return rows[0][0]
  const terms = rows[0].map((entry, j) => {
    const minor = determinant({
      kind: 'matrix',
      rows: rows.slice(1).map(row => row.filter((_, k) => k !== j)),
    })
    const term = product(entry, minor!)
    return j % 2 === 0 ? term : negated(term)
  })
  return { kind: 'add', terms }
}

/** The entries of a row or column, for comparison with a tuple. */
export const vectorOf = ({ rows }: Matrix): Node[] | null =>
  rows.length === 1 ? rows[0] : rows.every(row => row.length === 1) ? rows.map(row => row[0]) : null
