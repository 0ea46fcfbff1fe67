/** @file Instructions about visible form: lists, titles, sections, JSON, placeholders (IFEval). */

import { z } from 'zod'
import { tryJson } from '../../util/json.ts'
import { countSchema, instruction, phrase } from './definition.ts'
import { BLANK, isBlank, literally, strip, trimWhere } from './text.ts'

const matches = (text: string, pattern: RegExp): string[] => text.match(pattern) ?? []
const notBlank = (texts: readonly string[]): number => texts.filter(text => !isBlank(text)).length

/** Lines that open with a hyphen, and lines that open with one asterisk; one that is nothing else takes the next line. */
const countBullets = (response: string): number => {
  const lines = response.split('\n').map(line => trimWhere(line, isBlank, 'start'))
  let starred = 0
  for (let i = 0; i < lines.length; i++) {
    const isAlone = lines[i] === '*' && i + 1 < lines.length
    if (isAlone || /^\*[^*]/.test(lines[i])) starred++
    if (isAlone) i++
  }
  return starred + lines.filter(line => line.startsWith('-')).length
}

/** `[...]` on one line each, not nested. */
const countPlaceholders = (response: string): number =>
  response.split('\n').reduce((sum, line) => {
    let n = 0
    for (let at = line.indexOf('['); at >= 0; n++) {
      const close = line.indexOf(']', at)
      if (close < 0) break
      at = line.indexOf('[', close)
    }
    return sum + n
  }, 0)

/** `<<...>>` on one line, not blank. */
const hasTitle = (response: string): boolean =>
  response.split('\n').some(line => {
    const from = line.indexOf('<<')
    const to = line.lastIndexOf('>>')
    if (from < 0 || to < from + 2) return false
    const bracket = (character: string) => character === '<'
    const inner = trimWhere(line.slice(from, to), bracket, 'start')
    return !isBlank(trimWhere(inner, character => character === '>', 'end'))
  })

const ANSWERS = ['My answer is yes.', 'My answer is no.', 'My answer is maybe.']

/** What stands inside a Markdown code fence around the whole text. */
const unfenced = (text: string): string =>
  ['```json', '```Json', '```JSON', '```']
    .reduce((inner, fence) => (inner.startsWith(fence) ? inner.slice(fence.length) : inner), strip(text))
    .replace(/```$/, '')

const isJson = (text: string): boolean => tryJson(strip(unfenced(text))) !== undefined

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
    { num_placeholders: countSchema },
    (response, { num_placeholders }) => countPlaceholders(response) >= num_placeholders,
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
    { num_bullets: countSchema },
    (response, { num_bullets }) => countBullets(response) === num_bullets,
  ),

  /** `detectable_format:constrained_response`: says `My answer is yes.` (or `no.`, or `maybe.`). */
  instruction('detectable_format:constrained_response', {}, response =>
    ANSWERS.some(answer => response.includes(answer)),
  ),

  /** `detectable_format:number_highlighted_sections` {num_highlights}: at least so many `*...*` or `**...**`. */
  instruction(
    'detectable_format:number_highlighted_sections',
    { num_highlights: countSchema },
    (response, { num_highlights }) => {
      const single = matches(response, /\*[^\n*]*\*/g).map(text => text.replaceAll('*', ''))
      const double = matches(response, /\*\*[^\n*]*\*\*/g).map(text => text.replaceAll('*', ''))
      return notBlank(single) + notBlank(double) >= num_highlights
    },
  ),

  /** `detectable_format:multiple_sections` {section_spliter, num_sections}: at least so many `SPLITTER 1`. */
  instruction(
    'detectable_format:multiple_sections',
    { section_spliter: phrase, num_sections: countSchema },
    (response, { section_spliter, num_sections }) => {
      const heading = new RegExp(`${literally(strip(section_spliter))}[${BLANK}]?\\p{Nd}+`, 'gu')
      return matches(response, heading).length >= num_sections
    },
  ),

  /** `detectable_format:json_format`: the whole response is JSON, in a code fence or not. */
  instruction('detectable_format:json_format', {}, isJson),

  /** `detectable_format:title`: a title in `<<...>>`. */
  instruction('detectable_format:title', {}, hasTitle),

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
