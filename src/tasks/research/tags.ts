/** @file Tags of the research protocol in a text: where they stand, whatever else is in it. */

/** Elements that give a trajectory its form. */
export type TagName =
  | 'think'
  | 'structured_plan'
  | 'state_evaluation'
  | 'review'
  | 'answer'
  | 'call_tool'
  | 'tool_output'

/** A tag of the protocol. Offsets are UTF-16 units, the end exclusive. */
export interface Tag {
  name: TagName
  closes: boolean
  start: number
  end: number
}

/** Tags by how they are written; a chat template's own names of calls and of what tools say count as ours. */
const NAMES: ReadonlyMap<string, TagName> = new Map<string, TagName>([
  ...(['think', 'structured_plan', 'state_evaluation', 'review', 'answer'] as const).map(
    name => [name, name] as const,
  ),
  ['call_tool', 'call_tool'],
  ['tool_call', 'call_tool'],
  ['tool_output', 'tool_output'],
  ['tool_response', 'tool_output'],
])

const LESS = 60
const GREATER = 62
const SLASH = 47

const isNamePart = (code: number): boolean => (code >= 97 && code <= 122) || code === 95
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

/** An open tag may have attributes, a closing one white space; neither holds another `<`. */
const endOfTag = (text: string, from: number, to: number, closes: boolean): number | null => {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at)
    if (code === GREATER) return at + 1
    if (code === LESS || (!isSpace(code) && (closes || at === from))) return null
  }
  return null
}

/** A tag of any name that begins here; null where none does. Looks no further than the next `<`. */
const tagAt = (text: string, start: number, to: number) => {
  const closes = text.charCodeAt(start + 1) === SLASH
  const nameStart = closes ? start + 2 : start + 1
  let at = nameStart
  while (at < to && isNamePart(text.charCodeAt(at))) at++
  if (at === nameStart) return null
  const end = endOfTag(text, at, to, closes)
  return end === null ? null : { written: text.slice(nameStart, at), closes, start, end }
}

/** Calls back for every tag of lower-case letters within [from, to), in order. Time grows with the text alone. */
const eachTag = (
  text: string,
  from: number,
  to: number,
  visit: (tag: { written: string; closes: boolean; start: number; end: number }) => void,
): void => {
  // A search in the whole text would go on behind `to`, and a text may have as many parts as characters.
  const part = text.slice(0, to)
  for (let at = part.indexOf('<', from); at >= 0; at = part.indexOf('<', at + 1)) {
    const tag = tagAt(text, at, to)
    if (tag !== null) visit(tag)
  }
}

/** The protocol's tags that lie within [from, to), in order. */
export const findTags = (text: string, from = 0, to: number = text.length): Tag[] => {
  const tags: Tag[] = []
  eachTag(text, from, to, ({ written, ...tag }) => {
    const name = NAMES.get(written)
    if (name !== undefined) tags.push({ name, ...tag })
  })
  return tags
}

/** For each tag the index of the first closing tag of its name behind it, -1 where none follows. */
export const nextClosings = (tags: readonly { name: string; closes: boolean }[]): Int32Array => {
  const next = new Int32Array(tags.length)
  const seen = new Map<string, number>()
  for (let i = tags.length - 1; i >= 0; i--) {
    next[i] = seen.get(tags[i].name) ?? -1
    if (tags[i].closes) seen.set(tags[i].name, i)
  }
  return next
}

/** An element with what is inside it, without white space at its ends. */
export interface Inner {
  name: string
  text: string
}

/**
 * Elements of these names within a text, in order, none within another: an element ends with the first closing tag of its name.
 * One that is never closed is none.
 */
export const innerElements = (text: string, names: ReadonlySet<string>): Inner[] => {
  const tags: { name: string; closes: boolean; start: number; end: number }[] = []
  eachTag(text, 0, text.length, ({ written, ...tag }) => {
    if (names.has(written)) tags.push({ name: written, ...tag })
  })
  const next = nextClosings(tags)
  const found: Inner[] = []
  for (let i = 0; i < tags.length; i++) {
    const closing = next[i]
    if (tags[i].closes || closing < 0) continue
    found.push({ name: tags[i].name, text: text.slice(tags[i].end, tags[closing].start).trim() })
    i = closing
  }
  return found
}
