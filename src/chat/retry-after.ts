/** @file `retry-after`: how long a server asks to be left alone. */

import type { ResponseHeaders } from './exchange.ts'

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

/** Now, as the server's own `date` header says it; a date of its making is to be read by its own clock. */
const serverDateMs = (headers: ResponseHeaders): number => Date.parse(single(headers.date) ?? '')

/**
 * Milliseconds to wait, from `retry-after-ms` (some providers) or `retry-after` (RFC 9110 10.2.3: seconds, or a date);
 * undefined where there is neither or it cannot be read. A date in the past is 0. There is no upper bound: whoever waits sets
 * one of its own.
 * @param dateMs now, as milliseconds since 1970, where the server does not say what it holds for now
 * @example
 * retryAfterMs({ 'retry-after': '2' }, 0) // 2000
 */
export const retryAfterMs = (headers: ResponseHeaders, dateMs: number): number | undefined => {
  const exact = Number(single(headers['retry-after-ms']) ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return exact
  const text = single(headers['retry-after'])?.trim()
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  if (Number.isNaN(date)) return undefined
  const nowMs = serverDateMs(headers)
  return Math.max(0, date - (Number.isNaN(nowMs) ? dateMs : nowMs))
}
