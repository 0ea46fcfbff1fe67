/** @file Dimensions of a shape: a number, or a product of named sizes that are known only when the graph runs. */

import { ShapeError } from '../util/errors.ts'

/** A size: a number, or text such as `'B'`, `'8*B*T'` or `'(1+S)'`, in canonical form. */
export type Dim = number | string
export type Shape = readonly Dim[]

interface Monomial {
  factor: number
  names: string[]
}

const parse = (dim: Dim): Monomial => {
  if (typeof dim === 'number') return { factor: dim, names: [] }
  const names = dim.split('*')
  const factor = Number(names[0])
  return Number.isNaN(factor) ? { factor: 1, names } : { factor, names: names.slice(1) }
}

const print = ({ factor, names }: Monomial): Dim => {
  if (names.length === 0 || factor === 0) return factor
  const product = [...names].sort().join('*')
  return factor === 1 ? product : `${factor}*${product}`
}

/** The product of dimensions. */
export const product = (dims: Shape): Dim =>
  print(
    dims.map(parse).reduce((a, b) => ({ factor: a.factor * b.factor, names: [...a.names, ...b.names] }), {
      factor: 1,
      names: [],
    }),
  )

/** a / b when b divides a whatever the names stand for, else null. */
export const quotient = (a: Dim, b: Dim): Dim | null => {
  const top = parse(a)
  const bottom = parse(b)
  if (bottom.factor === 0 || top.factor % bottom.factor !== 0) return null
  const names = [...top.names]
  for (const name of bottom.names) {
    const at = names.indexOf(name)
    if (at < 0) return null
    names.splice(at, 1)
  }
  return print({ factor: top.factor / bottom.factor, names })
}

/** The sum of dimensions; symbolic sums become one opaque name, with inner products written with a dot. */
export const sum = (dims: Shape): Dim => {
  if (dims.length === 1) return dims[0]
  if (dims.every(dim => typeof dim === 'number')) return dims.reduce<number>((a, b) => a + (b as number), 0)
  const terms = dims.map(dim =>
    String(dim)
      .replaceAll('*', '.')
      .replace(/^\((.*)\)$/, '$1'),
  )
  return `(${terms.sort().join('+')})`
}

/** Text of a shape for messages: `[B, T, 256]`. */
export const showShape = (shape: Shape): string => `[${shape.join(', ')}]`

export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((dim, i) => dim === b[i])

/**
 * The shape that two shapes broadcast to (NumPy's rule).
 * @throws ShapeError naming the op and both shapes.
 */
export const broadcast = (op: string, a: Shape, b: Shape): Shape => {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const x = a[i - rank + a.length] ?? 1
    const y = b[i - rank + b.length] ?? 1
    if (x === y || y === 1) return x
    if (x === 1) return y
    throw new ShapeError(
      `${op}: shapes ${showShape(a)} and ${showShape(b)} do not broadcast (${x} against ${y})`,
    )
  })
}

const evaluateName = (name: string, sizes: ReadonlyMap<string, number>): number => {
  if (name.startsWith('('))
    return name
      .slice(1, -1)
      .split('+')
      .reduce((total, term) => total + evaluate(term.replaceAll('.', '*'), sizes), 0)
  const size = sizes.get(name)
  if (size === undefined) throw new ShapeError(`dimension ${name} is not bound by any input`)
  return size
}

/** The number that a dimension stands for, given the sizes of its names. */
export const evaluate = (dim: Dim, sizes: ReadonlyMap<string, number>): number => {
  const numeric = Number(dim)
  if (!Number.isNaN(numeric)) return numeric
  const { factor, names } = parse(dim)
  return names.reduce((total, name) => total * evaluateName(name, sizes), factor)
}

const mismatch = (input: string, declared: Shape, actual: readonly number[], detail: string): ShapeError =>
  new ShapeError(`input ${input}: expected ${showShape(declared)}, got ${showShape(actual)} (${detail})`)

/**
 * Learns the sizes of names from one actual shape; `checkShape` afterwards holds every dimension against them.
 * @throws ShapeError when the ranks differ.
 */
export const bindShape = (
  input: string,
  declared: Shape,
  actual: readonly number[],
  sizes: Map<string, number>,
): void => {
  if (declared.length !== actual.length)
    throw mismatch(input, declared, actual, `rank ${actual.length} instead of ${declared.length}`)
  declared.forEach((dim, i) => {
    const { factor, names } = parse(dim)
    const [name] = names
    if (names.length === 1 && !name.startsWith('(') && !sizes.has(name)) sizes.set(name, actual[i] / factor)
  })
}

/** @throws ShapeError naming the input, both shapes and the dimension that differs. */
export const checkShape = (
  input: string,
  declared: Shape,
  actual: readonly number[],
  sizes: ReadonlyMap<string, number>,
): void => {
  declared.forEach((dim, i) => {
    const expected = evaluate(dim, sizes)
    if (expected !== actual[i])
      throw mismatch(input, declared, actual, `${dim} is ${expected}, not ${actual[i]}`)
  })
}
