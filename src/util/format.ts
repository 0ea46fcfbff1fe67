/** @file Numbers for people: shares, differences in points, intervals, counts, bytes, durations. */

/** What stands where there is no value. */
export const NONE = '–'
const MINUS = '−'

const signed = (value: number, text: string): string => (value < 0 ? `${MINUS}${text}` : text)

/** 0.6234 -> `62.3`: a share in percent, for places that say so. */
export const percentNumber = (share: number): string => signed(share, (Math.abs(share) * 100).toFixed(1))

/** 0.6234 -> `62.3%`. */
export const percent = (share: number | null | undefined): string =>
  typeof share === 'number' ? `${percentNumber(share)}%` : NONE

/** 0.6234 -> `62%`. */
export const wholePercent = (share: number): string => `${Math.round(100 * share)}%`

/** 0.213 -> `+21.3`: a difference of two shares, in percentage points. */
export const points = (difference: number): string => {
  const text = (Math.abs(difference) * 100).toFixed(1)
  if (Number(text) === 0) return '±0.0'
  return `${difference < 0 ? MINUS : '+'}${text}`
}

/** `59.1 to 65.4%`. */
export const percentInterval = ([low, high]: readonly [number, number]): string =>
  `${percentNumber(low)} to ${percent(high)}`

/** `+17.9 to +24.7`. */
export const pointsInterval = ([low, high]: readonly [number, number]): string =>
  `${points(low)} to ${points(high)}`

/** About four significant digits, without an exponent where that can be read. */
export const number = (value: number | null | undefined): string => {
  if (typeof value !== 'number') return NONE
  const size = Math.abs(value)
  if (Number.isInteger(value)) return signed(value, size.toLocaleString('en'))
  if (size >= 1000) return signed(value, Math.round(size).toLocaleString('en'))
  if (size >= 100) return signed(value, size.toFixed(0))
  if (size >= 10) return signed(value, size.toFixed(1))
  return size >= 0.001
    ? signed(value, size.toFixed(3).replace(/0$/, ''))
    : signed(value, size.toExponential(1))
}

/** Three significant digits, without an exponent where that can be read. */
export const threeDigits = (value: number): string => {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(1)
  return String(Number(value.toPrecision(3)))
}

/** 12345.6 -> `12,346`. */
export const formatInteger = (value: number): string => Math.round(value).toLocaleString('en')

/** `3.10 billion`, `850 thousand`. */
export const formatCount = (count: number): string => {
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
  const words = { notation: 'compact', compactDisplay: 'long', ...digits } as const
  return count < 1000 ? String(count) : count.toLocaleString('en', words)
}

/** `1.5 GB`, `320 MB`. */
export const formatBytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`

/** `8 s`, `2 min 05 s`, `1 h 03 min`. */
export const formatDuration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return seconds > 0 && seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`
}

/** `1 rollout`, `3 rollouts`. */
export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`

/** Those of some texts that there are, with something between them. */
export const joinKnown = (texts: readonly (string | false | null | undefined)[], between: string): string =>
  texts.filter(text => text).join(between)

/** With a capital first letter. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

// Control characters but for line feed and tab, those of eight bits included, and marks that reverse the order of letters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text with every control character written out, as JSON writes it: ESC is `\\u001b`. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or a quoted attribute. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, mark => ESCAPES[mark])
