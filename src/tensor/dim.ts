/** @file Dimensions of a shape: numbers, and sums and products of named sizes that are known only when the graph runs. */

import { ShapeError } from '../util/errors.ts'

/** A size: a number, or text such as `'B'`, `'8*B*T'` or `'P*S+1'`, always written in the same way. */
export type Dim = number | string
export type Shape = readonly Dim[]

/** A polynomial: factor of each product of names; the constant's product is ''. */
type Terms = Map<string, number>

const parseTerm = (text: string): [string, number] => {
  const names = text.split('*')
  const factor = Number(names[0])
  return Number.isNaN(factor) ? [names.join('*'), 1] : [names.slice(1).join('*'), factor]
}

/** What names were parsed to: graphs ask for the same few in every run. */
const parsed = new Map<string, ReadonlyMap<string, number>>()

const parse = (dim: Dim): ReadonlyMap<string, number> => {
  if (typeof dim === 'number') return new Map([['', dim]])
  const known = parsed.get(dim)
  if (known) return known
  const terms = new Map(dim.split('+').map(parseTerm))
  parsed.set(dim, terms)
  return terms
}

const print = (terms: ReadonlyMap<string, number>): Dim => {
  const live = [...terms].filter(([, factor]) => factor !== 0).sort(([a], [b]) => (a < b ? 1 : -1))
  const texts = live.map(([names, factor]) => (factor === 1 && names ? names : [factor, names].join('*')))
  if (live.every(([names]) => names === '')) return live[0]?.[1] ?? 0
  return texts.map(text => text.replace(/\*$/, '')).join('+')
}

const addTerm = (terms: Terms, names: string, factor: number) =>
  terms.set(names, (terms.get(names) ?? 0) + factor)

const multiply = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Terms => {
  const result: Terms = new Map()
  for (const [namesA, factorA] of a)
    for (const [namesB, factorB] of b) {
      const names = [...namesA.split('*'), ...namesB.split('*')].filter(name => name !== '')
      addTerm(result, names.sort().join('*'), factorA * factorB)
    }
  return result
}

/** The product of dimensions. */
export const product = (dims: Shape): Dim =>
  print(dims.map(parse).reduce<ReadonlyMap<string, number>>(multiply, new Map([['', 1]])))

/** The sum of dimensions. */
export const sumDims = (dims: Shape): Dim => {
  const total: Terms = new Map()
  for (const dim of dims) for (const [names, factor] of parse(dim)) addTerm(total, names, factor)
  return print(total)
}

/** a / b when b, a product, divides a whatever the names stand for, else null. */
export const quotient = (a: Dim, b: Dim): Dim | null => {
  const [[divisor, factor], ...more] = parse(b)
  if (more.length > 0 || factor === 0) return null
  const result: Terms = new Map()
  for (const [names, count] of parse(a)) {
    if (count === 0) continue
    const rest = withoutNames(names, divisor)
    if (rest === null || count % factor !== 0) return null
    result.set(rest, count / factor)
  }
  return print(result)
}

const withoutNames = (names: string, divisor: string): string | null => {
  const rest = names.split('*')
  for (const name of divisor === '' ? [] : divisor.split('*')) {
    const at = rest.indexOf(name)
    if (at < 0) return null
    rest.splice(at, 1)
  }
  return rest.join('*')
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

/** The number that a dimension stands for, given the sizes of its names. @throws ShapeError for a name without a size. */
export const evaluate = (dim: Dim, sizes: ReadonlyMap<string, number>): number => {
  if (typeof dim === 'number') return dim
  let total = 0
  for (const [names, factor] of parse(dim))
    total += names.split('*').reduce((value, name) => value * (name === '' ? 1 : sizeOf(name, sizes)), factor)
  return total
}

const sizeOf = (name: string, sizes: ReadonlyMap<string, number>): number => {
  const size = sizes.get(name)
  if (size === undefined) throw new ShapeError(`dimension ${name} is not bound by any input`)
  return size
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
    const [[name, factor], ...more] = parse(dim)
    const isOneName = name !== '' && !name.includes('*') && more.length === 0
    if (isOneName && !sizes.has(name)) sizes.set(name, Math.floor(actual[i] / factor))
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
