/** @file Figures in a monitor's sentences. */

/** 0.123 -> `12.3%`. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)}%`

/** Three significant digits, without an exponent where that can be read. */
export const figure = (value: number): string => {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(1)
  return String(Number(value.toPrecision(3)))
}
