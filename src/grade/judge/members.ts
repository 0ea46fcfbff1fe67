/** @file The members of a JSON text as they stand there: keys that an object has twice are both seen, which JSON.parse hides. */

export interface Member {
  /** Number of the object that it belongs to, in the order in which objects open. */
  object: number
  /** With escapes undone. */
  key: string
  /** A string, number, boolean or null; undefined for an object or a list. */
  value: unknown
}

const QUOTE = 34
const BACKSLASH = 92

/** Behind the string that begins at `from`. */
const stringEnd = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

const WHITE = /[ \t\n\r]*/y
const SCALAR = /[^\s,\]}]+/y

const behind = (pattern: RegExp, text: string, from: number): number => {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

const scalarAt = (text: string, from: number): unknown => {
  const first = text[from]
  if (first === '{' || first === '[') return undefined
  const end = first === '"' ? stringEnd(text, from) : behind(SCALAR, text, from)
  return JSON.parse(text.slice(from, end))
}

/** Every member of every object of a text that JSON.parse accepts, in order. */
export const membersOf = (text: string): Member[] => {
  const found: Member[] = []
  const open: number[] = []
  let objects = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') open.push(character === '{' ? objects++ : -1)
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = stringEnd(text, at)
      const colon = behind(WHITE, text, end)
      if (text[colon] === ':') {
        const value = scalarAt(text, behind(WHITE, text, colon + 1))
        found.push({ object: open.at(-1) ?? -1, key: JSON.parse(text.slice(at, end)) as string, value })
      }
      at = end - 1
    }
  }
  return found
}
