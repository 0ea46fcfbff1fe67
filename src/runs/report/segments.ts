/** @file A response in its parts: thinking, tool calls and what came back, other elements by their tags, and plain text between. */

export interface ResponseSegment {
  kind: 'thinking' | 'call' | 'output' | 'element' | 'text'
  /** Name of the element; empty for plain text. */
  tag: string
  text: string
  /** Its end is missing: the response stops in it. */
  open?: true
}

const THINKING = new Set(['think', 'thinking', 'thought', 'reasoning'])
const CALLS = new Set(['tool_call', 'call_tool', 'function_call'])
const OUTPUTS = new Set(['tool_output', 'tool_response', 'function_output', 'observation'])

const kindOf = (tag: string): ResponseSegment['kind'] => {
  if (THINKING.has(tag)) return 'thinking'
  if (CALLS.has(tag)) return 'call'
  return OUTPUTS.has(tag) ? 'output' : 'element'
}

const OPENING = /<([a-z][\w-]{1,40})(?:\s[^<>]{0,200})?>/gi
const CLOSING = /<\/([a-z][\w-]{1,40})>/gi

/** Where each element ends, by its name, the last end first: found once, however many openings there are. */
const endsIn = (text: string): Map<string, number[]> => {
  const ends = new Map<string, number[]>()
  for (const { 1: tag, index } of text.matchAll(CLOSING)) {
    const own = ends.get(tag.toLowerCase())
    if (own === undefined) ends.set(tag.toLowerCase(), [index])
    else own.push(index)
  }
  for (const own of ends.values()) own.reverse()
  return ends
}

/** The first end from a place on, places coming in order; -1 where there is none. */
const nextEnd = (ends: number[] | undefined, from: number): number => {
  while (ends !== undefined && ends.length > 0 && ends.at(-1)! < from) ends.pop()
  return ends?.at(-1) ?? -1
}

/** More parts than anyone reads; what follows is one text. */
const MOST_SEGMENTS = 400

/**
 * Parts of a text, in order. An element ends at the first closing tag of its name; one that is never closed is text, but for
 * thinking, which then lasts to the end. Joined they are the text, tags and blank lines around them apart.
 */
export const segmentsOf = (text: string): ResponseSegment[] => {
  const found: ResponseSegment[] = []
  let at = 0
  const plain = (to: number) => {
    const piece = text.slice(at, to)
    if (piece.trim() !== '') found.push({ kind: 'text', tag: '', text: piece.trim() })
  }
  // A template may have written the opening tag of thinking into the prompt.
  const bare = /^(?:(?!<think)[\s\S])*?<\/think(?:ing)?>/i.exec(text)
  if (bare !== null) {
    const end = bare[0].lastIndexOf('</')
    found.push({ kind: 'thinking', tag: 'think', text: bare[0].slice(0, end).trim() })
    at = bare[0].length
  }
  const ends = endsIn(text)
  OPENING.lastIndex = at
  for (let match = OPENING.exec(text); match !== null; match = OPENING.exec(text)) {
    if (found.length >= MOST_SEGMENTS) break
    const tag = match[1].toLowerCase()
    const begin = match.index + match[0].length
    const end = nextEnd(ends.get(tag), begin)
    if (end < 0 && kindOf(tag) !== 'thinking') continue
    plain(match.index)
    const inside = text.slice(begin, end < 0 ? text.length : end).trim()
    found.push({ kind: kindOf(tag), tag, text: inside, ...(end < 0 && { open: true as const }) })
    at = end < 0 ? text.length : end + tag.length + 3
    OPENING.lastIndex = at
  }
  plain(text.length)
  return found
}
