/**
 * @file A SIMD kernel for nearest vectors: inner products of one vector of signed bytes with many.
 *
 * Pointers are byte offsets into a memory that the host allocates. Nothing here allocates and nothing has static data.
 */

/**
 * Writes the inner products of `query` with `count` vectors that lie one after the other, as int32.
 * `dims` is a multiple of 16; no byte is -128, so that two products fit into 16 bits together.
 */
export function products(query: usize, vectors: usize, dims: i32, count: i32, out: usize): void {
  for (; count > 0; count--) {
    let sums = i32x4.splat(0)
    let at = query
    for (let left = dims; left > 0; left -= 16) {
      const a = v128.load(at)
      const b = v128.load(vectors)
      const pairs = i16x8.add(i16x8.extmul_low_i8x16_s(a, b), i16x8.extmul_high_i8x16_s(a, b))
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_s(pairs))
      at += 16
      vectors += 16
    }
    store<i32>(
      out,
      i32x4.extract_lane(sums, 0) +
        i32x4.extract_lane(sums, 1) +
        i32x4.extract_lane(sums, 2) +
        i32x4.extract_lane(sums, 3),
    )
    out += 4
  }
}
