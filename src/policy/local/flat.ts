/** @file Flat float32 memory for parameters, gradients and optimiser state, with WebAssembly SIMD kernels that work on it in place. */
import { NumericError, ShapeError } from '../../util/errors.ts'
import { kernelMemory, loadKernels, MAX_PAGES, PAGE_BYTES } from '../../util/kernels.ts'

/** What assembly/flat.ts exports. Pointers are byte offsets into the memory, counts are float32 elements. */
interface Kernels {
  adamw(
    param: number,
    grad: number,
    m: number,
    v: number,
    n: number,
    lr: number,
    beta1: number,
    beta2: number,
    eps: number,
    weightDecay: number,
    biasCorr1: number,
    biasCorr2: number,
    gradScale: number,
  ): void
  dot(a: number, b: number, n: number): number
  sum(ptr: number, n: number): number
  sumSquares(ptr: number, n: number): number
  addTo(dst: number, src: number, n: number): void
  scale(ptr: number, n: number, factor: number): void
  fill(ptr: number, n: number, value: number): void
  hasNonFinite(ptr: number, n: number): number
  maximum(ptr: number, n: number): number
  argmax(ptr: number, n: number): number
  expRow(ptr: number, n: number, inverseTemperature: number, top: number, out: number): number
  sampleRow(weights: number, n: number, u: number): number
}

/** A cache line; also enough for the widest vector loads of the tensor runtime that reads these views. */
const ALIGN_FLOATS = 16
/** Offset 0 stays unused, so that a pointer of 0 is always a mistake. */
const FIRST_FLOAT = ALIGN_FLOATS
/** Floats copied into wasm memory at a time when adding an array from outside: 64 KiB stays in the second-level cache. */
const STAGING_FLOATS = 16_384
/** Lowest temperature: logits are divided by it in single precision. */
const COLDEST = 1e-6

/** Largest `floats` that {@link FlatBuffer.create} accepts: WebAssembly memory ends at 4 GiB. */
const MAX_FLATBUFFER_FLOATS = (MAX_PAGES * PAGE_BYTES) / 4 - FIRST_FLOAT - STAGING_FLOATS

/** Floats that `n` take up in a {@link FlatBuffer}, its alignment included: sum these to size one. */
export const alignedFloats = (n: number): number => Math.ceil(n / ALIGN_FLOATS) * ALIGN_FLOATS

/** A range of a {@link FlatBuffer}: the typed array over it, and its place for the kernels. */
export class FlatSpan {
  readonly buffer: FlatBuffer
  /** Byte offset in the memory of `buffer`. */
  readonly pointer: number
  readonly length: number
  /** View onto the memory itself, never detached: an onnxruntime tensor may be made over it without copying. */
  readonly view: Float32Array<ArrayBuffer>

  constructor(buffer: FlatBuffer, pointer: number, length: number) {
    this.buffer = buffer
    this.pointer = pointer
    this.length = length
    this.view = new Float32Array(buffer.bytes, pointer, length)
  }

  /** Elements start .. start+length of this span. Throws ShapeError when they do not lie inside it. */
  sub(start: number, length: number): FlatSpan {
    if (!(start >= 0 && length >= 0 && start + length <= this.length)) {
      throw new ShapeError(`span of ${this.length} floats has no range [${start}, ${start + length})`)
    }
    return new FlatSpan(this.buffer, this.pointer + 4 * start, length)
  }
}

/** Four spans of equal length in the same {@link FlatBuffer}: a parameter, its gradient, and AdamW's two moments. */
export interface AdamWSpans {
  param: FlatSpan
  grad: FlatSpan
  m: FlatSpan
  v: FlatSpan
}

/** Settings of one AdamW step. `step` counts from 1; `gradScale` multiplies the gradient on the fly (norm clipping), default 1. */
export interface AdamWStep {
  step: number
  lr: number
  beta1: number
  beta2: number
  eps: number
  weightDecay: number
  gradScale?: number
}

/**
 * One block of WebAssembly memory of fixed size, handed out as aligned spans that stay valid for its lifetime, and the kernels
 * that work on them. A model beyond {@link MAX_FLATBUFFER_FLOATS} (4 GiB with its optimiser state) takes several: kernels only
 * need the spans of one call to share a buffer, so put each tensor's param, grad, m and v together (see {@link planShards}).
 */
export class FlatBuffer {
  /** The memory. Neither shared nor transferable: views of it can be read by the runtime but not moved to another thread. */
  readonly bytes: ArrayBuffer
  readonly #kernels: Kernels
  readonly #staging: FlatSpan
  readonly #endFloat: number
  #nextFloat: number

  private constructor(floats: number) {
    const pages = Math.ceil(((FIRST_FLOAT + STAGING_FLOATS + floats) * 4) / PAGE_BYTES)
    const memory = kernelMemory(pages, pages)
    this.bytes = memory.buffer
    this.#kernels = loadKernels<Kernels>('flat', memory)
    this.#staging = new FlatSpan(this, FIRST_FLOAT * 4, STAGING_FLOATS)
    this.#nextFloat = FIRST_FLOAT + STAGING_FLOATS
    this.#endFloat = this.#nextFloat + floats
  }

  /** A buffer of zeros with room for `floats` float32 (count each span by {@link alignedFloats}). Throws ShapeError when too big. */
  static create(floats: number): FlatBuffer {
    if (!(Number.isInteger(floats) && floats >= 0 && floats <= MAX_FLATBUFFER_FLOATS)) {
      throw new ShapeError(`flat buffer: expected 0 to ${MAX_FLATBUFFER_FLOATS} floats, got ${floats}`, {
        hint: 'divide the tensors over several buffers (planShards)',
      })
    }
    return new FlatBuffer(alignedFloats(floats))
  }

  /** Floats not yet handed out. */
  get freeFloats(): number {
    return this.#endFloat - this.#nextFloat
  }

  /** The next `n` floats, zero, 64-byte aligned. Spans are never given back. Throws ShapeError when the buffer is full. */
  alloc(n: number): FlatSpan {
    if (!(Number.isInteger(n) && n >= 0 && n <= this.freeFloats)) {
      throw new ShapeError(`flat buffer: asked for ${n} floats, ${this.freeFloats} are free`)
    }
    const span = new FlatSpan(this, this.#nextFloat * 4, n)
    this.#nextFloat += alignedFloats(n)
    return span
  }

  /**
   * One AdamW step in place, decoupled weight decay, with the semantics of torch.optim.AdamW (amsgrad off). The gradient is
   * read, not cleared. Throws ShapeError when the spans do not fit together, NumericError for a step below 1.
   */
  adamw(spans: AdamWSpans, settings: AdamWStep): void {
    const { param, grad, m, v } = spans
    const { step, lr, beta1, beta2, eps, weightDecay, gradScale = 1 } = settings
    this.#check('adamw', param, grad, m, v)
    if (!(step >= 1)) throw new NumericError(`adamw: expected a step counted from 1, got ${step}`)
    this.#kernels.adamw(
      param.pointer,
      grad.pointer,
      m.pointer,
      v.pointer,
      param.length,
      lr,
      beta1,
      beta2,
      eps,
      weightDecay,
      1 - beta1 ** step,
      1 - beta2 ** step,
      gradScale,
    )
  }

  /** Sum of squares in float64. */
  sumSquares(x: FlatSpan): number {
    this.#check('sumSquares', x)
    return this.#kernels.sumSquares(x.pointer, x.length)
  }

  /** Sum in float64. */
  sum(x: FlatSpan): number {
    this.#check('sum', x)
    return this.#kernels.sum(x.pointer, x.length)
  }

  /** Inner product in float64. */
  dot(a: FlatSpan, b: FlatSpan): number {
    this.#check('dot', a, b)
    return this.#kernels.dot(a.pointer, b.pointer, a.length)
  }

  /** dst += src, both in this buffer. */
  addTo(dst: FlatSpan, src: FlatSpan): void {
    this.#check('addTo', dst, src)
    this.#kernels.addTo(dst.pointer, src.pointer, dst.length)
  }

  /** dst += src for an array from outside (an output of the tensor runtime), staged through the cache piece by piece. */
  accumulate(dst: FlatSpan, src: Float32Array): void {
    this.#check('accumulate', dst)
    if (src.length !== dst.length) {
      throw new ShapeError(`accumulate: expected ${dst.length} floats, got ${src.length}`)
    }
    for (let start = 0; start < src.length; start += STAGING_FLOATS) {
      const count = Math.min(STAGING_FLOATS, src.length - start)
      this.#staging.view.set(src.subarray(start, start + count))
      this.#kernels.addTo(dst.pointer + 4 * start, this.#staging.pointer, count)
    }
  }

  /** x *= factor */
  scale(x: FlatSpan, factor: number): void {
    this.#check('scale', x)
    this.#kernels.scale(x.pointer, x.length, factor)
  }

  /** x = value */
  fill(x: FlatSpan, value: number): void {
    this.#check('fill', x)
    this.#kernels.fill(x.pointer, x.length, value)
  }

  /** Whether any element is NaN or infinite. */
  hasNonFinite(x: FlatSpan): boolean {
    this.#check('hasNonFinite', x)
    return this.#kernels.hasNonFinite(x.pointer, x.length) !== 0
  }

  /** Index of the first largest element; -1 when the span is empty or has a NaN. */
  argmax(x: FlatSpan): number {
    this.#check('argmax', x)
    return this.#kernels.argmax(x.pointer, x.length)
  }

  /**
   * Softmax weights of one row of logits [V] at a temperature: weights[i] = exp((logits[i] - max) / temperature), not normalised
   * ({@link sampleRow} needs no normalising), relative error below 2e-7 for the same argument; `weights` may be `logits` itself.
   * Returns the log-sum-exp of logits / temperature, so that log p(i) = logits[i] / temperature - the result. Throws
   * NumericError for NaN, for +infinity, for a row of -infinity alone, and for a temperature below 1e-6.
   */
  softmaxRow(logits: FlatSpan, temperature: number, weights: FlatSpan): number {
    this.#check('softmaxRow', logits, weights)
    if (!(temperature >= COLDEST && temperature < Infinity)) {
      throw new NumericError(`softmaxRow: expected a temperature from ${COLDEST} on, got ${temperature}`, {
        hint: 'temperature 0 takes the likeliest token',
      })
    }
    const top = this.#kernels.maximum(logits.pointer, logits.length)
    if (!Number.isFinite(top))
      throw new NumericError(`softmaxRow: the largest logit is ${top}`, {
        hint: 'the weights are no usable numbers any more: go on from an earlier checkpoint, with a lower learning rate',
      })
    const total = this.#kernels.expRow(logits.pointer, logits.length, 1 / temperature, top, weights.pointer)
    return top / temperature + Math.log(total)
  }

  /**
   * Draws an index with probability weights[i] / sum by inversion, u uniform in [0, 1); an element of weight 0 is never drawn.
   * Throws NumericError when no weight is positive or one is NaN.
   */
  sampleRow(weights: FlatSpan, u: number): number {
    this.#check('sampleRow', weights)
    const index = this.#kernels.sampleRow(weights.pointer, weights.length, u)
    if (index < 0) throw new NumericError('sampleRow: expected weights with a positive, finite sum')
    return index
  }

  #check(kernel: string, first: FlatSpan, ...others: FlatSpan[]): void {
    if (first.buffer !== this) throw new ShapeError(`${kernel}: a span of another flat buffer`)
    for (const span of others) {
      if (span.buffer !== this) throw new ShapeError(`${kernel}: a span of another flat buffer`)
      if (span.length !== first.length) {
        throw new ShapeError(
          `${kernel}: spans of ${first.length} and ${span.length} floats do not go together`,
        )
      }
    }
  }
}

/**
 * Assigns items (a tensor with its optimiser state, in floats) to as few buffers as keep their order: returns one list of item
 * indices per buffer. Throws ShapeError when one item alone exceeds `limitFloats`.
 */
export const planShards = (
  itemFloats: readonly number[],
  limitFloats: number = MAX_FLATBUFFER_FLOATS,
): number[][] => {
  const shards: number[][] = []
  let used = Infinity
  for (const [index, floats] of itemFloats.entries()) {
    if (floats > limitFloats) {
      throw new ShapeError(`item ${index} takes ${floats} floats, a flat buffer holds at most ${limitFloats}`)
    }
    if (used + floats > limitFloats) {
      shards.push([])
      used = 0
    }
    shards[shards.length - 1].push(index)
    used += floats
  }
  return shards
}
