/** @file Texts cut to a length, with the cut stated: a judge must know that something is missing, and how much. */

/** Least characters of a cut text: below that a cut says more than the text. */
export const LEAST_CHARACTERS = 200

/** What stands in place of what was cut. */
const cutNote = (characters: number): string => `\n[... ${characters} characters are left out here ...]\n`

/** The beginning and the end of a text, two thirds and one third of the room; the text itself where it fits. @param most at least LEAST_CHARACTERS */
export const cutMiddle = (text: string, most: number): string => {
  if (text.length <= most) return text
  const room = most - cutNote(text.length).length
  const end = Math.floor(room / 3)
  const [head, tail] = endsOf(text, room - end, end)
  return `${head}${cutNote(text.length - head.length - tail.length)}${tail}`
}

/** So many characters of a text's beginning and of its end, without half of a surrogate pair. */
export const endsOf = (text: string, first: number, last: number): [head: string, tail: string] => [
  text.slice(0, first).replace(/[\ud800-\udbff]$/, ''),
  text.slice(text.length - last).replace(/^[\udc00-\udfff]/, ''),
]

/**
 * The most characters that each text may keep so that all of them fit: short ones stay whole, what they do not need goes to
 * the long ones, and all that are cut are cut to the same length.
 */
export const fairLength = (lengths: readonly number[], room: number): number => {
  let left = room
  const sorted = [...lengths].sort((a, b) => a - b)
  for (const [i, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - i))
    if (length > share) return share
    left -= length
  }
  return sorted.at(-1) ?? 0
}
