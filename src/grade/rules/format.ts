/** @file Rules on the form of a response: tags, sections, headings, lists, code blocks. */

import { z } from 'zod'
import { band, bandIsSensible, defineRule, graded, inBand, outcomeOfParts, type RuleOutcome } from './rule.ts'
import { fold, splitCode } from './text.ts'

const name = z.string().min(1).max(80)
const BAND_WANTED = 'min or max, and min not above max; say how many there should be'

interface TagsWanted {
  tags: readonly string[]
  order: boolean
  once: boolean
}

/** Where a tag's element ends, or what is wrong with it; it may begin at `from` at the earliest. */
const findElement = (text: string, tag: string, from: number, once: boolean): number | string => {
  const open = text.indexOf(`<${tag}>`, from)
  if (open < 0) return `<${tag}>`
  const close = text.indexOf(`</${tag}>`, open)
  if (close < 0) return `</${tag}>`
  if (once && text.indexOf(`<${tag}>`) !== text.lastIndexOf(`<${tag}>`)) return `a single <${tag}>`
  return text.slice(open + tag.length + 2, close).trim() === '' ? `text in <${tag}>` : close
}

const checkTags = (text: string, { tags, order, once }: TagsWanted, partial: boolean): RuleOutcome => {
  const missing: string[] = []
  let from = 0
  for (const tag of tags) {
    const end = findElement(text, tag, from, once)
    if (typeof end === 'string') missing.push(end)
    else if (order) from = end
  }
  return outcomeOfParts(tags.length - missing.length, tags.length, partial, missing)
}

const tagsRule = defineRule({
  name: 'tags',
  about: 'Has each tag, opened, closed and not empty; with order, one after the other.',
  params: {
    tags: z.array(name).min(1),
    order: z.boolean().default(false),
    once: z.boolean().default(true),
    graded,
  },
  compile: params => text => checkTags(text, params, params.graded),
})

const LONGEST_HEADING = 200

/** The words of a line that stands as a heading: Markdown's, a line in bold, or a short line that ends in a colon. */
const headingOf = (line: string): { text: string; level: number } | null => {
  const trimmed = line.trim()
  if (trimmed.length > LONGEST_HEADING) return null
  const hashes = /^(#{1,6})\s+(\S.*)$/.exec(trimmed)
  if (hashes) return { text: headingText(hashes[2]), level: hashes[1].length }
  const bold = /^\*\*([^*]{1,120})\*\*:?$/.exec(trimmed) ?? /^__([^_]{1,120})__:?$/.exec(trimmed)
  if (bold) return { text: headingText(bold[1]), level: 0 }
  return /^[^:]{1,80}:$/.test(trimmed) ? { text: headingText(trimmed), level: 0 } : null
}

/** Without numbering, emphasis, a closing colon and closing hashes. */
const headingText = (text: string): string =>
  fold(text.replace(/[*_`]/g, ''))
    .replace(/^(?:\d{1,3}|[ivx]{1,5}|[a-z])[.)] /, '')
    .replace(/[\s#:]+$/, '')

const headingsIn = (text: string) => splitCode(text).lines.flatMap(line => headingOf(line) ?? [])

const sectionsRule = defineRule({
  name: 'sections',
  about: 'Has a section under each heading; a list of alternatives stands for one heading.',
  params: {
    headings: z.array(z.union([name, z.array(name).min(1)])).min(1),
    order: z.boolean().default(false),
    graded,
  },
  compile: ({ headings, order, graded: partial }) => {
    const wanted = headings.map(heading => [heading].flat().map(headingText))
    return text => {
      const found = headingsIn(text).map(heading => heading.text)
      const missing: string[] = []
      let from = 0
      for (const names of wanted) {
        const at = found.findIndex((heading, index) => index >= (order ? from : 0) && names.includes(heading))
        if (at < 0) missing.push(names[0])
        else from = at + 1
      }
      return outcomeOfParts(wanted.length - missing.length, wanted.length, partial, missing)
    }
  },
})

const headingsRule = defineRule({
  name: 'headings',
  about: 'Has so many Markdown headings, of one level or of any.',
  params: { ...band, level: z.int().min(1).max(6).optional() },
  require: [bandIsSensible, BAND_WANTED],
  compile: ({ level, ...limits }) => {
    const counts = (each: { level: number }) => (level === undefined ? each.level > 0 : each.level === level)
    return text => inBand(headingsIn(text).filter(counts).length, limits, 'headings')
  },
})

const LIST_ITEM = { bullet: /^\s*[-*+•‣▪]\s+\S/, numbered: /^\s*\d{1,4}[.)]\s+\S/ }

const listRule = defineRule({
  name: 'list',
  about: 'Has so many items in bulleted or numbered lists.',
  params: { ...band, kind: z.enum(['bullet', 'numbered', 'any']).default('any') },
  require: [bandIsSensible, BAND_WANTED],
  compile: ({ kind, ...limits }) => {
    const patterns = kind === 'any' ? Object.values(LIST_ITEM) : [LIST_ITEM[kind]]
    return text => {
      const items = splitCode(text).lines.filter(line => patterns.some(pattern => pattern.test(line)))
      return inBand(items.length, limits, 'items')
    }
  },
})

const codeBlockRule = defineRule({
  name: 'code_block',
  about: 'Has so many closed code fences, of one language or of any.',
  params: { ...band, language: name.optional() },
  require: [bandIsSensible, BAND_WANTED],
  compile: ({ language, ...limits }) => {
    const wanted = language?.toLowerCase()
    return text => {
      const blocks = splitCode(text).blocks.filter(
        block => block.closed && (wanted === undefined || block.language.toLowerCase() === wanted),
      )
      return inBand(blocks.length, limits, 'code blocks')
    }
  },
})

export const FORMAT_RULES = [tagsRule, sectionsRule, headingsRule, listRule, codeBlockRule]
