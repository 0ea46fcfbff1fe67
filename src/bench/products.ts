/** @file The matrix products of a graph, taken out of it and run alone: what a step would take if nothing else were to do. */

import { evaluate } from '../tensor/dim.ts'
import {
  concat,
  constant,
  Executable,
  type ExecutableOptions,
  input,
  matmul,
  reshape,
  slice,
  type Tensor,
  type Values,
} from '../tensor/index.ts'
import { Rng } from '../util/rng.ts'

interface Factor {
  dims: readonly number[]
  transposed: boolean
}

/** A matrix product with all sizes known. */
export interface Product {
  a: Factor
  b: Factor & { fixed: boolean }
  alpha: number
}

interface Attributes {
  transposeA: boolean
  transposeB: boolean
  alpha: number
}

/** Tensors that a tensor is computed from. */
const parentsOf = ({ source }: Tensor): readonly Tensor[] => {
  if (source.kind === 'call') return source.call.inputs
  return source.kind === 'custom' ? [source.of] : []
}

/** Sums over an axis are written as products with a column of ones; they are no matrix products. */
const isRowSum = ({ a: _, b }: Product): boolean => b.fixed && b.dims[b.dims.length - 1] === 1

/**
 * All matrix products that the outputs need, each once, with the sizes of named dimensions filled in.
 * @throws ShapeError for a name without a size
 */
export const productsOf = (
  outputs: readonly Tensor[],
  sizes: Readonly<Record<string, number>>,
): Product[] => {
  const known = new Map(Object.entries(sizes))
  const dimsOf = (tensor: Tensor) => tensor.shape.map(dim => evaluate(dim, known))
  const seen = new Set<Tensor>()
  const calls = new Set<unknown>()
  const products: Product[] = []
  const waiting = [...outputs]
  for (let tensor = waiting.pop(); tensor !== undefined; tensor = waiting.pop()) {
    if (seen.has(tensor)) continue
    seen.add(tensor)
    waiting.push(...parentsOf(tensor))
    const { source } = tensor
    if (source.kind !== 'call' || source.call.op.name !== 'matmul' || calls.has(source.call)) continue
    calls.add(source.call)
    const [a, b] = source.call.inputs
    const { transposeA, transposeB, alpha } = source.call.attributes as Attributes
    products.push({
      a: { dims: dimsOf(a), transposed: transposeA },
      b: { dims: dimsOf(b), transposed: transposeB, fixed: b.source.kind === 'constant' },
      alpha,
    })
  }
  return products.filter(product => !isRowSum(product))
}

const elements = (dims: readonly number[]): number => dims.reduce((all, dim) => all * dim, 1)

/** Multiplications and additions of a product. */
export const flopOf = ({ a, b }: Product): number => {
  const columns = b.dims[b.dims.length - (b.transposed ? 2 : 1)]
  const [rows, inner] = [2, 1].map(back => a.dims[a.dims.length - back])
  const batch = Math.max(elements(a.dims.slice(0, -2)), elements(b.dims.slice(0, -2)))
  return 2 * batch * rows * inner * columns
}

/** Inputs of a graph of products: factors of one shape are shared, but no two products have both in common. */
class Factors {
  readonly values: Record<string, { data: Float32Array; dims: number[] }> = {}
  readonly #inputs = new Map<string, Tensor>()
  readonly #used = new Map<string, number>()
  readonly #rng = new Rng('products')

  /** How often a pair of shapes was asked for before, so that equal products are not computed once for all. */
  nth(product: Product): number {
    const key = JSON.stringify(product)
    const n = this.#used.get(key) ?? 0
    this.#used.set(key, n + 1)
    return n
  }

  variable(dims: readonly number[], n: number): Tensor {
    const name = `f${dims.join('x')}n${n}`
    const known = this.#inputs.get(name)
    if (known) return known
    this.values[name] = { data: this.#draw(dims), dims: [...dims] }
    const made = input(name, dims)
    this.#inputs.set(name, made)
    return made
  }

  fixed(dims: readonly number[]): Tensor {
    return constant(this.#draw(dims), dims)
  }

  #draw(dims: readonly number[]): Float32Array {
    return Float32Array.from({ length: elements(dims) }, () => this.#rng.normal())
  }
}

/** One number of a product, so that hardly anything leaves the runtime. */
const cornerOf = (x: Tensor): Tensor => {
  const flat = reshape(x, [elements(x.shape as number[])])
  return slice(flat, 0, 0, 1)
}

/**
 * Seconds of all products, one after the other in one graph that holds nothing else.
 * @returns what measures it; the first call compiles nothing, but warms up
 */
export const productRunner = async (
  products: readonly Product[],
  running: ExecutableOptions,
): Promise<() => Promise<number>> => {
  const factors = new Factors()
  const corners = products.map(product => {
    const { a, b, alpha } = product
    const n = factors.nth(product)
    const left = factors.variable(a.dims, 0)
    // Another right factor for each repetition, as each layer has weights of its own.
    const right = b.fixed ? factors.fixed(b.dims) : factors.variable(b.dims, n + 1)
    const options = { transposeA: a.transposed, transposeB: b.transposed, alpha }
    return cornerOf(matmul(left, right, options))
  })
  const graph = await Executable.compile({ corners: concat(corners, 0) }, running)
  const values: Values = factors.values
  return async () => {
    const start = performance.now()
    await graph.run(values)
    return (performance.now() - start) / 1000
  }
}
