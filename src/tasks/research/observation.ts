/** @file What tools say, made fit to be read by an agent: no longer than a budget, and nothing in it can act. */

import { z } from 'zod'
import type { Snippet, ToolResult } from '../../tools/tool.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { escapeUntrusted } from '../../util/untrusted.ts'
import type { ToolCallOutcome } from './outcome.ts'

/** Passages of one answer that are looked at. */
const MAX_SNIPPETS = 100
const MAX_ID = 100
const MAX_TITLE = 300

/** How far back a better place to cut is looked for: this share of what is kept. */
const LOOK_BACK = 0.2

/** The end of the last line, sentence or word of a text, in this order, if there is one near its end; else its end. */
const boundary = (head: string): number => {
  const from = Math.floor(head.length * (1 - LOOK_BACK))
  const line = head.lastIndexOf('\n')
  if (line >= from) return line
  const sentence = head.lastIndexOf('. ')
  if (sentence >= from) return sentence + 1
  const word = head.lastIndexOf(' ')
  return word >= from ? word : head.length
}

/** No half of a character and no half of an entity at the end. */
const wholeEnd = (head: string): string => head.replace(/(?:[\ud800-\udbff]|&[#\w]{0,8})$/, '')

/** A text cut to at most so many characters, at the end of a line, sentence or word, with a note that it was. */
export const clip = (text: string, maxChars: number, whole: number = text.length): string => {
  if (text.length <= maxChars && whole <= text.length) return text
  const note = `\n[cut here: the whole has ${whole} characters]`
  const head = text.slice(0, Math.max(0, maxChars - note.length))
  const kept = wholeEnd(head.slice(0, boundary(head)))
  return maxChars < note.length ? wholeEnd(text.slice(0, maxChars)) : kept + note
}

/**
 * A stranger's text, safe and within a budget: characters without a visible form are removed, and whatever could pass for a tag, a
 * control token or a speaker is written as an entity.
 */
export const safeText = (text: string, maxChars: number): string => {
  // Escaping makes texts longer, hiding characters makes them shorter; what is beyond this is never shown.
  const near = text.length > 4 * maxChars ? wholeEnd(text.slice(0, 4 * maxChars)) : text
  const escaped = escapeUntrusted(near)
  return near === text ? clip(escaped, maxChars) : clip(escaped, maxChars, text.length)
}

/** In an attribute: one line of plain characters. */
const safeId = (id: string): string => id.replace(/[^\p{L}\p{N}._:/#@+-]+/gu, '_').slice(0, MAX_ID)

const snippetSchema = z.object({
  id: z.union([z.string(), z.number()]).transform(String),
  title: z.string().nullish(),
  text: z.string(),
})
const resultSchema = z.object({
  text: z.string(),
  snippets: z
    .unknown()
    .transform(value => (Array.isArray(value) ? value.slice(0, MAX_SNIPPETS) : value))
    .pipe(z.array(snippetSchema))
    .optional(),
})

/** What a tool answered, looked at. @throws DataError for anything but a text with passages */
export const readResult = (value: unknown): ToolResult => {
  const { text, snippets } = parseWith(resultSchema, value, 'answer', DataError)
  return {
    text,
    ...(snippets && {
      snippets: snippets.map(({ id, title, text }): Snippet => ({ id, text, ...(title && { title }) })),
    }),
  }
}

const OPENING_CHARS = 20

/** A passage as it is shown; null where there is too little room for it. */
const showSnippet = ({ id, title, text }: Snippet, room: number): string | null => {
  const shownId = safeId(id)
  const head = title ? `${safeText(title.replace(/\s+/g, ' '), MAX_TITLE)}\n` : ''
  const left = room - shownId.length - head.length - OPENING_CHARS - '</snippet>'.length
  if (left < Math.min(200, text.length)) return null
  return `<snippet id="${shownId}">\n${head}${safeText(text, left)}\n</snippet>`
}

/** Whether a text is the passages over again, with their ids and titles: search tools say them in both ways. */
const repeats = (text: string, snippets: readonly Snippet[]): boolean => {
  const said = snippets.reduce(
    (sum, { id, title = '', text }) => sum + id.length + title.length + text.length,
    0,
  )
  if (snippets.length === 0 || text.length > 2 * said + 100) return false
  let rest = text
  for (const { id, title = '', text: own } of snippets)
    for (const part of [own, `[${id}]`, title]) rest = rest.replace(part, '')
  return rest.trim() === ''
}

const NOTHING = 'The tool has nothing to say to this.'

/**
 * The text of what a tool answered, with the passages that are in it, whole or cut; the last ones are left out first. A text that
 * only repeats the passages is left out: they are shown as they are to be cited, and once.
 */
export const showResult = (
  { text, snippets = [] }: ToolResult,
  maxChars: number,
): { text: string; snippets: Snippet[] } => {
  const isBare = text.trim() === '' || repeats(text, snippets)
  const parts = isBare ? [] : [safeText(text.trim(), maxChars)]
  const shown: Snippet[] = []
  let room = maxChars - (parts[0]?.length ?? 0)
  for (const snippet of snippets) {
    const written = showSnippet(snippet, room - 1)
    if (written === null) break
    room -= written.length + 1
    parts.push(written)
    shown.push({ ...snippet, id: safeId(snippet.id) })
  }
  const leftOut = snippets.length - shown.length
  if (leftOut > 0) parts.push(`[${leftOut} more passages left out]`)
  return { text: parts.length > 0 ? parts.join('\n') : NOTHING, snippets: shown }
}

/** The tags around what is said to a turn; they name what went wrong with a call. */
export const observationTags = (outcome: ToolCallOutcome = 'output'): { open: string; close: string } => ({
  open: `<tool_output${outcome === 'output' ? '' : ` error="${outcome}"`}>\n`,
  close: '\n</tool_output>',
})

/** What is said to a turn as it stands in a trajectory's text. @param text made safe */
export const writeObservation = (text: string, outcome?: ToolCallOutcome): string => {
  const { open, close } = observationTags(outcome)
  return `\n${open}${text}${close}\n`
}
