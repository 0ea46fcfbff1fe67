/** @file Hides the final answer of a response from whoever is to judge the way to it (outcome leak). */

/** What stands in place of an answer. */
const HIDDEN = '[hidden]'

const BOX = /\\f?box(?:ed)?(?![a-z])[ \t]*/g

/** Behind the brace that closes the one at `open`; the end of the text where none does. */
const closing = (text: string, open: number): number => {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** Behind the content of a box that begins at `from`: a group in braces, or a word of TeX without them. */
const boxEnd = (text: string, from: number): number => {
  if (text[from] === '{') return closing(text, from)
  WORD.lastIndex = from
  return from + (WORD.exec(text)?.[0].length ?? 0)
}
const WORD = /-?[\w.]{1,40}|/y

const maskBoxes = (text: string): string => {
  let masked = ''
  let done = 0
  for (const match of text.matchAll(BOX)) {
    // A box within a box is hidden with it.
    if (match.index < done) continue
    masked += `${text.slice(done, match.index)}\\boxed{${HIDDEN}}`
    done = boxEnd(text, match.index + match[0].length)
  }
  return masked + text.slice(done)
}

const maskTagged = (text: string): string => {
  const parts = text.split(/<answer>/i)
  return parts
    .map((part, index) => {
      if (index === 0) return part
      const end = part.search(/<\/answer>/i)
      return `<answer>${HIDDEN}${end < 0 ? '' : part.slice(end)}`
    })
    .join('')
}

const ANNOUNCED = /\banswer(?: is\b| ?:|[*_]{1,3} ?:)[ *_:]{0,4}/gi

/** The rest of the line behind the last "answer is" or "answer:". */
const maskAnnounced = (text: string): string => {
  const last = [...text.matchAll(ANNOUNCED)].at(-1)
  if (last === undefined) return text
  const from = last.index + last[0].length
  const end = text.indexOf('\n', from)
  return `${text.slice(0, from)}${HIDDEN}${end < 0 ? '' : text.slice(end)}`
}

/**
 * The text with a placeholder in every `\boxed{}` and every `<answer>`; where it has neither, behind the last "answer is". What
 * the thinking itself computes stays: hiding that would hide the thinking.
 */
export const maskAnswers = (text: string): string => {
  const masked = maskTagged(maskBoxes(text))
  return masked === text ? maskAnnounced(text) : masked
}
