/** @file The sources that a response may cite: given with the rule, or with the item. */

import { z } from 'zod'
import type { GradeItem } from '../grader.ts'

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
export const sourceParameters = {
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
export const citedSources = (
  { sources, sourcesKey }: SourceParams,
  item: GradeItem,
): CitedSource[] | null => {
  if (sources !== undefined) return sources.map(sourceOf)
  const read = sourcesSchema.safeParse(item.metadata?.[sourcesKey])
  return read.success ? read.data.map(sourceOf) : null
}

/** What is said where a rule needs sources and has none. */
export const noSources = (key: string) => ({
  met: null,
  explanation: `no sources: give them as the parameter sources or in the item's metadata.${key}`,
})

/** An address without what does not change where it leads: case of the host, www, fragment, closing slash. */
export const normaliseUrl = (address: string): string => {
  try {
    const { protocol, host, pathname, search } = new URL(address)
    const bare = `${host.replace(/^www\./, '')}${pathname.replace(/\/$/, '')}${search}`
    return protocol === 'http:' || protocol === 'https:' ? bare : `${protocol}${bare}`
  } catch {
    return address
  }
}
