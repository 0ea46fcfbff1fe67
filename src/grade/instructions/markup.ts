/** @file Instructions about visible form: lists, titles, sections, JSON, placeholders (IFEval). */

import { z } from 'zod'
import { count, instruction, phrase } from './definition.ts'
import { BLANK, isBlank, literally, strip } from './text.ts'

const matches = (text: string, pattern: RegExp): string[] => text.match(pattern) ?? []
const notBlank = (texts: readonly string[]): number => texts.filter(text => !isBlank(text)).length

/** Lines that open with one asterisk, and lines that open with a hyphen; blank lines above belong to them. */
const STARRED = new RegExp(`(?<![^\\n])[${BLANK}]*\\*[^*][^\\n]*`, 'gu')
const DASHED = new RegExp(`(?<![^\\n])[${BLANK}]*-[^\\n]*`, 'gu')

const ANSWERS = ['My answer is yes.', 'My answer is no.', 'My answer is maybe.']

/** What stands inside a Markdown code fence around the whole text. */
const unfenced = (text: string): string =>
  ['```json', '```Json', '```JSON', '```']
    .reduce((inner, fence) => (inner.startsWith(fence) ? inner.slice(fence.length) : inner), strip(text))
    .replace(/```$/, '')

const isJson = (text: string): boolean => {
  try {
    JSON.parse(strip(unfenced(text)))
    return true
  } catch {
    return false
  }
}

/** Pattern of a postscript marker in lower-case text; the two usual ones may be spaced. */
const postscript = (marker: string): RegExp => {
  if (marker === 'P.P.S') return /p\.\s?p\.\s?s/u
  if (marker === 'P.S.') return /p\.\s?s\./u
  return new RegExp(literally(marker.toLowerCase()), 'u')
}

const CHANGEABLE = /\*[^\n]*\*/u

export const markupInstructions = [
  /** `detectable_content:number_placeholders` {num_placeholders}: at least so many `[...]`. */
  instruction(
    'detectable_content:number_placeholders',
    { num_placeholders: count },
    (response, { num_placeholders }) => matches(response, /\[[^\n]*?\]/g).length >= num_placeholders,
  ),

  /** `detectable_content:postscript` {postscript_marker}: the marker occurs, in any case. */
  instruction(
    'detectable_content:postscript',
    { postscript_marker: phrase },
    (response, { postscript_marker }) => postscript(strip(postscript_marker)).test(response.toLowerCase()),
  ),

  /** `detectable_format:number_bullet_lists` {num_bullets}: exactly so many lines that open with `*` or `-`. */
  instruction(
    'detectable_format:number_bullet_lists',
    { num_bullets: count },
    (response, { num_bullets }) =>
      matches(response, STARRED).length + matches(response, DASHED).length === num_bullets,
  ),

  /** `detectable_format:constrained_response`: says `My answer is yes.` (or `no.`, or `maybe.`). */
  instruction('detectable_format:constrained_response', {}, response =>
    ANSWERS.some(answer => response.includes(answer)),
  ),

  /** `detectable_format:number_highlighted_sections` {num_highlights}: at least so many `*...*` or `**...**`. */
  instruction(
    'detectable_format:number_highlighted_sections',
    { num_highlights: count },
    (response, { num_highlights }) => {
      const single = matches(response, /\*[^\n*]*\*/g).map(text => text.replaceAll('*', ''))
      const double = matches(response, /\*\*[^\n*]*\*\*/g).map(text => text.replaceAll('*', ''))
      return notBlank(single) + notBlank(double) >= num_highlights
    },
  ),

  /** `detectable_format:multiple_sections` {section_spliter, num_sections}: at least so many `SPLITTER 1`. */
  instruction(
    'detectable_format:multiple_sections',
    { section_spliter: phrase, num_sections: count },
    (response, { section_spliter, num_sections }) => {
      const heading = new RegExp(`${literally(strip(section_spliter))}[${BLANK}]?\\p{Nd}+`, 'gu')
      return matches(response, heading).length >= num_sections
    },
  ),

  /** `detectable_format:json_format`: the whole response is JSON, in a code fence or not. */
  instruction('detectable_format:json_format', {}, isJson),

  /** `detectable_format:title`: a title in `<<...>>`. */
  instruction('detectable_format:title', {}, response =>
    matches(response, /<<[^\n]+>>/g).some(title => !isBlank(title.replace(/^<+/, '').replace(/>+$/, ''))),
  ),

  /**
   * `detectable_format:rephrasing` {original_message}: differs from the message only between asterisks. In IFEval's
   * code, not in its data.
   */
  instruction(
    'detectable_format:rephrasing',
    {
      original_message: z
        .string()
        .refine(
          text => CHANGEABLE.test(text),
          'a message with a part *between asterisks*; mark what may change',
        ),
    },
    (response, { original_message }) => {
      const kept = (text: string) => text.replace(new RegExp(CHANGEABLE, 'gu'), '')
      return CHANGEABLE.test(response) && kept(response) === kept(original_message)
    },
  ),
]
