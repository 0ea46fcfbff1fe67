/** @file `retry-after`: how long a server asks to be left alone. */

import type { ResponseHeaders } from './exchange.ts'

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

/**
 * Milliseconds to wait, from `retry-after-ms` (some providers) or `retry-after` (RFC 9110 10.2.3: seconds, or a date);
 * undefined where there is neither or it cannot be read. A date in the past is 0.
 * @param dateMs now, as milliseconds since 1970
 */
export const retryAfterMs = (headers: ResponseHeaders, dateMs: number): number | undefined => {
  const exact = Number(single(headers['retry-after-ms']) ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const text = single(headers['retry-after'])?.trim()
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - dateMs)
}
