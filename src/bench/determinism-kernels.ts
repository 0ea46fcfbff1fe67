/** @file The WebAssembly kernels and the choice of tokens as cases of `gradus bench determinism`, each beside plain arithmetic. */

import { FlatBuffer } from '../policy/local/flat.ts'
import { TokenChooser } from '../policy/local/token-choice.ts'
import { Rng } from '../util/rng.ts'

/** The result of every run is compared bit by bit. */
export interface RepeatedCase {
  /** Makes what a run needs anew, and does it; returns all that came of it. */
  run: (threads: number) => Promise<Uint8Array>
  /** Largest relative difference from another way to compute the same, where there is one. */
  fromReference?: () => Promise<number> | number
}

/** Not a multiple of any vector's width, so that the ends are computed too. */
const LENGTH = 250_003
const VOCABULARY = 32_003

const random = (seed: string, length: number): Float32Array => {
  const rng = new Rng(seed)
  return Float32Array.from({ length }, () => rng.normal())
}

const inputs = {
  a: random('a', LENGTH),
  b: random('b', LENGTH),
  c: random('c', LENGTH),
  d: random('d', LENGTH),
}

/** Four spans with the numbers above, in memory of their own. */
const spans = () => {
  const buffer = FlatBuffer.create(4 * (LENGTH + 16))
  const [a, b, c, d] = Object.values(inputs).map(values => {
    const span = buffer.alloc(LENGTH)
    span.view.set(values)
    return span
  })
  return { buffer, a, b, c, d }
}

const bytesOf = (values: Float32Array | Float64Array) =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice()

const relative = (found: ArrayLike<number>, expected: ArrayLike<number>): number => {
  let [difference, largest] = [0, 0]
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs(found[i] - expected[i]))
    largest = Math.max(largest, Math.abs(expected[i]))
  }
  return difference === 0 ? 0 : difference / largest
}

type Spans = ReturnType<typeof spans>

/** A kernel that gives a number, or leaves its result in a span. */
const kernel = (
  work: (spans: Spans) => unknown,
  expected: (values: typeof inputs) => ArrayLike<number>,
  left: 'a' | 'b' = 'a',
): RepeatedCase => {
  const result = (): Float32Array | Float64Array => {
    const own = spans()
    const found = work(own)
    return typeof found === 'number' ? Float64Array.of(found) : own[left].view
  }
  return {
    run: async () => bytesOf(result()),
    fromReference: () => relative(result(), expected(inputs)),
  }
}

const total = (values: Float32Array, f = (x: number) => x) => values.reduce((sum, x) => sum + f(x), 0)

const STEP = { step: 3, lr: 1e-2, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0.1, gradScale: 0.5 }

const plainAdamw = ({ a, b, c, d }: typeof inputs): Float64Array => {
  const { step, lr, beta1, beta2, eps, weightDecay, gradScale } = STEP
  return Float64Array.from(a, (param, i) => {
    const gradient = b[i] * gradScale
    const m = beta1 * c[i] + (1 - beta1) * gradient
    const v = beta2 * d[i] ** 2 + (1 - beta2) * gradient ** 2
    const size = Math.sqrt(v / (1 - beta2 ** step)) + eps
    return param * (1 - lr * weightDecay) - ((lr / (1 - beta1 ** step)) * m) / size
  })
}

const softmaxOf = (row: Float32Array, temperature: number): Float64Array => {
  const top = row.reduce((x, y) => Math.max(x, y))
  return Float64Array.from(row, x => Math.exp((x - top) / temperature))
}

/** The first index whose running sum exceeds u times the whole. */
const drawn = (weights: ArrayLike<number>, u: number): number => {
  const target = u * Array.from(weights).reduce((sum, x) => sum + x, 0)
  let sum = 0
  for (let i = 0; i < weights.length; i++) {
    sum += weights[i]
    if (sum > target) return i
  }
  return -1
}

const choices = (): Float64Array => {
  const chooser = new TokenChooser(VOCABULARY)
  const rng = new Rng('choices')
  const settings = [
    { temperature: 1, topK: 0, topP: 1, alternatives: 4 },
    { temperature: 0.7, topK: 50, topP: 0.9 },
    { temperature: 0, topK: 0, topP: 1 },
  ]
  return Float64Array.from(
    settings.flatMap((options, i) => {
      const { token, logprob, top = [] } = chooser.choose(random(`row ${i}`, VOCABULARY), options, rng.next())
      return [token, logprob, ...top.flatMap(other => [other.token, other.logprob])]
    }),
  )
}

/** Every kernel of `FlatBuffer` by its name, and the choice of tokens. */
export const KERNEL_CASES: Readonly<Record<string, RepeatedCase>> = {
  'kernel/adamw': kernel(({ buffer, a, b, c, d }) => {
    // Second moments are squares.
    d.view.forEach((x, i) => {
      d.view[i] = x ** 2
    })
    buffer.adamw({ param: a, grad: b, m: c, v: d }, STEP)
  }, plainAdamw),
  'kernel/sumSquares': kernel(
    ({ buffer, a }) => buffer.sumSquares(a),
    ({ a }) => [total(a, x => x * x)],
  ),
  'kernel/sum': kernel(
    ({ buffer, a }) => buffer.sum(a),
    ({ a }) => [total(a)],
  ),
  'kernel/dot': kernel(
    ({ buffer, a, b }) => buffer.dot(a, b),
    ({ a, b }) => [a.reduce((sum, x, i) => sum + x * b[i], 0)],
  ),
  'kernel/addTo': kernel(
    ({ buffer, a, b }) => buffer.addTo(a, b),
    ({ a, b }) => Float64Array.from(a, (x, i) => x + b[i]),
  ),
  'kernel/accumulate': kernel(
    ({ buffer, a }) => buffer.accumulate(a, inputs.b),
    ({ a, b }) => Float64Array.from(a, (x, i) => x + b[i]),
  ),
  'kernel/scale': kernel(
    ({ buffer, a }) => buffer.scale(a, 0.75),
    ({ a }) => Float64Array.from(a, x => 0.75 * x),
  ),
  'kernel/fill': kernel(
    ({ buffer, a }) => buffer.fill(a, 0.5),
    ({ a }) => new Float64Array(a.length).fill(0.5),
  ),
  'kernel/hasNonFinite': kernel(
    ({ buffer, a, b }) => {
      b.view[LENGTH - 2] = NaN
      return Number(buffer.hasNonFinite(b)) - Number(buffer.hasNonFinite(a))
    },
    () => [1],
  ),
  'kernel/argmax': kernel(
    ({ buffer, a }) => buffer.argmax(a),
    ({ a }) => [a.indexOf(a.reduce((x, y) => Math.max(x, y)))],
  ),
  'kernel/softmaxRow': kernel(
    ({ buffer, a, b }) => {
      buffer.softmaxRow(a, 0.7, b)
    },
    ({ a }) => softmaxOf(a, 0.7),
    'b',
  ),
  'kernel/sampleRow': kernel(
    ({ buffer, a, b }) => {
      buffer.softmaxRow(a, 1, b)
      return buffer.sampleRow(b, 0.4321)
    },
    ({ a }) => [drawn(softmaxOf(a, 1), 0.4321)],
  ),
  'token choice': { run: async () => bytesOf(choices()) },
}
