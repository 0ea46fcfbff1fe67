/** @file Rules on citations: that there are some, that each leads to a listed source, that quotations are word for word. */

import { z } from 'zod'
import type { GradeItem } from '../grader.ts'
import { band, defineRule, graded, inBand, outcomeOfParts, type RuleOutcome } from './rule.ts'
import { fold, wordsOf } from './text.ts'

const sourceSchema = z.union([
  z.string(),
  z.object({
    id: z.union([z.string(), z.int()]).optional(),
    title: z.string().optional(),
    url: z.string().optional(),
    text: z.string().optional(),
  }),
])

const sourcesSchema = z.array(sourceSchema)

/** Parameters of rules that need sources. */
const sourceParameters = {
  /** Texts, addresses, or objects with id, title, url and text. */
  sources: sourcesSchema.optional(),
  /** Where the item's metadata has them, unless the rule gives them. */
  sourcesKey: z.string().min(1).default('sources'),
}

export interface CitedSource {
  /** What a citation calls it: its id, else its place from 1. */
  id: string
  url: string | null
  text: string
}

const isAddress = (text: string): boolean => /^https?:\/\/\S+$/.test(text.trim())

const sourceOf = (source: z.output<typeof sourceSchema>, index: number): CitedSource => {
  const given = typeof source === 'string' ? (isAddress(source) ? { url: source } : { text: source }) : source
  return {
    id: String(given.id ?? index + 1),
    url: given.url === undefined ? null : normaliseUrl(given.url),
    text: [given.title, given.text].filter(part => part !== undefined).join('\n'),
  }
}

interface SourceParams {
  sources?: z.output<typeof sourcesSchema>
  sourcesKey: string
}

/** The sources of an item; null where neither rule nor item has any that can be read. */
const citedSources = ({ sources, sourcesKey }: SourceParams, item: GradeItem): CitedSource[] | null => {
  if (sources !== undefined) return sources.map(sourceOf)
  const read = sourcesSchema.safeParse(item.metadata?.[sourcesKey])
  return read.success ? read.data.map(sourceOf) : null
}

/** What is said where a rule needs sources and has none. */
const noSources = (key: string) => ({
  met: null,
  explanation: `no sources: give them as the parameter sources or in the item's metadata.${key}`,
})

/** An address without what does not change where it leads: case of the host, www, fragment, closing slash. */
const normaliseUrl = (address: string): string => {
  try {
    const { protocol, host, pathname, search } = new URL(address)
    const bare = `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`
    return protocol === 'http:' || protocol === 'https:' ? bare : `${protocol}${bare}`
  } catch {
    return address
  }
}

const style = z.enum(['numbered', 'links', 'any']).default('any')
type Style = z.output<typeof style>

interface Citations {
  /** Numbers cited in the body, each time: `[2]`, `[1, 3]`, `[4-6]`. */
  numbers: string[]
  /** Addresses cited in the body, normalised, each time. */
  links: string[]
  /** Numbers and addresses that the response's own list of sources has. */
  listedNumbers: Set<string>
  listedLinks: Set<string>
}

const NUMBERED = /\[(\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,20})\]/g
const LINK = /https?:\/\/[^\s<>"'`\]]+/g
const LIST_HEADING =
  /^(?:#{1,6} +|\*\*|__)?(?:references?|sources?|bibliography|works cited|citations?|literature)(?:\*\*|__)?:?(?:\*\*|__)?$/i
const LIST_ENTRY = /^\s*(?:[-*•]\s{0,4})?\[?(\d{1,4})(?:\]:?|[.):])\s/
const DEFINITION = /^ {0,3}\[(\d{1,4})\]:\s/
const LONGEST_RANGE = 100

const expand = (list: string): string[] =>
  list.split(/[,;]/).flatMap(part => {
    const [from, to = from] = part.split(/[–-]/).map(Number)
    if (!(to >= from && to - from < LONGEST_RANGE)) return [String(from), String(to)]
    return Array.from({ length: to - from + 1 }, (_, step) => String(from + step))
  })

const linksIn = (line: string): string[] =>
  Array.from(line.matchAll(LINK), ([address]) => normaliseUrl(trimAddress(address)))

/** Drops the punctuation of the sentence around an address, and a parenthesis that was opened before it. */
const trimAddress = (address: string): string => {
  let end = address.length
  while (end > 0 && /[.,;:!?)*_]/.test(address[end - 1])) {
    if (address[end - 1] === ')' && address.slice(0, end).includes('(')) break
    end--
  }
  return address.slice(0, end)
}

/** Splits a response into its text and its list of sources, and finds what both name. */
const findCitations = (text: string): Citations => {
  const found: Citations = { numbers: [], links: [], listedNumbers: new Set(), listedLinks: new Set() }
  const lines = text.split('\n')
  const heading = lines.findLastIndex(line => line.length < 80 && LIST_HEADING.test(line.trim()))
  for (const [index, line] of lines.entries()) {
    const entry = heading >= 0 && index > heading ? LIST_ENTRY.exec(line) : DEFINITION.exec(line)
    if (entry) found.listedNumbers.add(entry[1])
    if (entry || (heading >= 0 && index > heading)) {
      for (const link of linksIn(line)) found.listedLinks.add(link)
    } else {
      for (const [, list] of line.matchAll(NUMBERED)) found.numbers.push(...expand(list))
      found.links.push(...linksIn(line))
    }
  }
  return found
}

const cited = ({ numbers, links }: Citations, kind: Style): string[] => [
  ...(kind === 'links' ? [] : numbers.map(number => `[${number}]`)),
  ...(kind === 'numbered' ? [] : links),
]

const citationsRule = defineRule({
  name: 'citations',
  about: 'Cites so many times, by number or by link; with distinct, so many different sources.',
  params: { ...band, style, distinct: z.boolean().default(false) },
  compile:
    ({ style: kind, distinct, min, max }) =>
    text => {
      const all = cited(findCitations(text), kind)
      const limits = { min: min ?? (max === undefined ? 1 : 0), max }
      return inBand(distinct ? new Set(all).size : all.length, limits, 'citations')
    },
})

/** Names of what may be cited: the response's own list, the sources given, or both. */
const citable = (found: Citations, sources: readonly CitedSource[], from: 'own' | 'given' | 'either') => {
  const own = from !== 'given'
  const given = from !== 'own'
  return new Set([
    ...(own ? [...found.listedNumbers].map(number => `[${number}]`) : []),
    ...(own ? found.listedLinks : []),
    ...(given ? sources.map(({ id }) => `[${id.replace(/^\[|\]$/g, '')}]`) : []),
    ...(given ? sources.flatMap(({ url }) => url ?? []) : []),
  ])
}

const resolveRule = defineRule({
  name: 'citations_resolve',
  about:
    "Every citation leads to a source that is listed: in the response's own list, among the given ones, or either.",
  params: {
    style,
    from: z.enum(['own', 'given', 'either']).default('either'),
    min: z.int().min(0).default(1),
    ...sourceParameters,
    graded,
  },
  uses: ['metadata'],
  compile: params => (text, item) => {
    const sources = params.from === 'own' ? [] : citedSources(params, item)
    if (sources === null && params.from === 'given') return noSources(params.sourcesKey)
    const found = findCitations(text)
    const all = [...new Set(cited(found, params.style))]
    const known = citable(found, sources ?? [], params.from)
    return judgeParts(all, each => known.has(each), params, 'citations')
  },
})

/** Too few parts are a failure; otherwise each part must pass. */
const judgeParts = (
  parts: readonly string[],
  passes: (part: string) => boolean,
  { min, graded: partial }: { min: number; graded: boolean },
  what: string,
): RuleOutcome => {
  if (parts.length < min)
    return { met: false, ...(partial && { credit: 0 }), explanation: `${parts.length} ${what}` }
  const failed = parts.filter(part => !passes(part))
  if (parts.length === 0) return { met: true, ...(partial && { credit: 1 }) }
  return outcomeOfParts(parts.length - failed.length, parts.length, partial, failed)
}

/** Spans in double quotes, paragraph by paragraph; a quote that is never closed is none. */
const quotedSpans = (text: string): string[] =>
  text.split(/\n[ \t]*\n/).flatMap(paragraph => {
    const pieces = paragraph.replace(/[“”„«»]/g, '"').split('"')
    return pieces.filter((_, index) => index % 2 === 1 && index < pieces.length - 1)
  })

const EDGES = /^[\s.,;:!?]+/
const trimEdges = (text: string): string =>
  [...[...text.replace(EDGES, '')].reverse().join('').replace(EDGES, '')].reverse().join('')

/** The parts of a quotation between its omissions (`...`, `[...]`), folded. */
const quotedParts = (quote: string): string[] =>
  fold(quote)
    .split(/\[ ?\.{3} ?\]|\.{3}/)
    .map(trimEdges)
    .filter(part => part !== '')

/** Whether a source has the parts of a quotation, one after the other. */
const hasInOrder = (source: string, parts: readonly string[]): boolean => {
  let from = 0
  for (const part of parts) {
    const at = source.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return parts.length > 0
}

const quotesRule = defineRule({
  name: 'quotes_verbatim',
  about:
    'Every quotation of at least minWords words stands word for word in a source; ... may leave something out.',
  params: {
    minWords: z.int().min(1).default(4),
    min: z.int().min(0).default(1),
    /** The conversation counts as a source too. */
    prompt: z.boolean().default(false),
    ...sourceParameters,
    graded,
  },
  uses: ['prompt', 'metadata'],
  compile: params => (text, item) => {
    const given = citedSources(params, item)
    if (given === null && !params.prompt) return noSources(params.sourcesKey)
    const messages = params.prompt ? item.prompt.map(({ content }) => content) : []
    const sources = [...(given ?? []).map(source => source.text), ...messages].map(each => fold(each))
    const quotes = quotedSpans(text).filter(quote => wordsOf(quote).length >= params.minWords)
    const stands = (quote: string) => {
      const parts = quotedParts(quote)
      return sources.some(source => hasInOrder(source, parts))
    }
    return judgeParts(quotes, stands, params, 'quotations')
  },
})

export const CITATION_RULES = [citationsRule, resolveRule, quotesRule]
