/** @file Durations in buckets that grow by a tenth: quantiles of millions of values in a kilobyte. */

const GROWTH = Math.log(1.1)
const SMALLEST_MS = 0.01
const BUCKETS = 240

const bucketOf = (ms: number): number =>
  ms <= SMALLEST_MS ? 0 : Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / SMALLEST_MS) / GROWTH))

/** Upper edge of a bucket. */
const edgeMs = (bucket: number): number => SMALLEST_MS * Math.exp(bucket * GROWTH)

export interface DurationSummary {
  count: number
  /** Null before the first value. */
  meanMs: number | null
  /** Within a tenth above the true value. */
  p50Ms: number | null
  p99Ms: number | null
  maxMs: number | null
}

export class DurationHistogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #count = 0
  #sumMs = 0
  #maxMs = 0

  record(ms: number): void {
    this.#counts[bucketOf(ms)]++
    this.#count++
    this.#sumMs += ms
    if (ms > this.#maxMs) this.#maxMs = ms
  }

  /** Quantile `q` in [0, 1]; null before the first value. */
  quantileMs(q: number): number | null {
    if (this.#count === 0) return null
    let left = Math.max(1, Math.ceil(q * this.#count))
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]
      if (left <= 0) return Math.min(edgeMs(bucket), this.#maxMs)
    }
    return this.#maxMs
  }

  summary(): DurationSummary {
    const seen = this.#count > 0
    return {
      count: this.#count,
      meanMs: seen ? this.#sumMs / this.#count : null,
      p50Ms: this.quantileMs(0.5),
      p99Ms: this.quantileMs(0.99),
      maxMs: seen ? this.#maxMs : null,
    }
  }
}
