/** @file How intricate a JSON text is: parsing megabytes of brackets takes seconds and hundreds of megabytes on the thread that serves. */

/** Shorter texts are parsed in a moment whatever they hold. */
const HARMLESS_CHARACTERS = 256 * 1024
/** Deeper than any answer is nested. */
const MOST_DEPTH = 64
/** Objects and lists together: log-probs with twenty alternatives a token have some eighty thousand in eight megabytes. */
const MOST_PARTS = 400_000

const QUOTE = 34
const BACKSLASH = 92

/** Whether a text is nested deeper, or has more objects and lists, than an answer of its kind. Looks at large texts only. */
export const isTooIntricate = (text: string): boolean => {
  if (text.length <= HARMLESS_CHARACTERS) return false
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (code === 0x5b || code === 0x7b) {
      parts++
      if (++depth > MOST_DEPTH || parts > MOST_PARTS) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/** Place of the quote that ends the string begun at `from`. */
const stringEnd = (text: string, from: number): number => {
  let at = text.indexOf('"', from + 1)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at
}

const isEscaped = (text: string, quote: number): boolean => {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
