/** @file Rounding as Python and IEEE 754 do it: halves go to the even neighbour. */

/**
 * Rounds to the nearest integer, halves to even: 2.5 -> 2, 3.5 -> 4, -2.5 -> -2. `Math.round` would give 3, 4, -2,
 * which differs from every Python implementation of the methods built here (RuscaRL Eq. 3: `n_show`).
 */
export const roundHalfToEven = (x: number): number => {
  const below = Math.floor(x)
  const fraction = x - below
  if (fraction < 0.5) return below
  if (fraction > 0.5) return below + 1
  if (fraction !== 0.5) return x // NaN and infinities pass through
  return below % 2 === 0 ? below : below + 1
}
