/** @file Rules on what is mentioned: any, all or none of some terms, their order, how a response begins and ends. */

import { z } from 'zod'
import { band, bandIsSensible, defineRule, graded, inBand, outcomeOfParts } from './rule.ts'
import { fold, indexOfTerm } from './text.ts'

const text = z.string().trim().min(1).max(1_000)
/** A term, or several ways to say one thing. */
const term = z.union([text, z.array(text).min(1)])
const terms = z.array(term).min(1)

const spelling = { caseSensitive: z.boolean().default(false), wholeWords: z.boolean().default(true) }

interface Spelling {
  caseSensitive: boolean
  wholeWords: boolean
}

type Term = string | string[]

/** Offset of a term's first mention, in whichever of its forms; -1 without one. */
type Finder = (folded: string) => number

const finderOf = (wanted: Term, { caseSensitive, wholeWords }: Spelling): Finder => {
  const forms = [wanted].flat().map(form => fold(form, caseSensitive))
  return folded => {
    const found = forms.map(form => indexOfTerm(folded, form, wholeWords)).filter(at => at >= 0)
    return found.length === 0 ? -1 : Math.min(...found)
  }
}

const nameOf = (wanted: Term): string => [wanted].flat()[0]

const containsRule = defineRule({
  name: 'contains',
  about: 'Mentions all, any or none of some terms; a list of alternatives stands for one term.',
  params: { all: terms.optional(), any: terms.optional(), none: terms.optional(), ...spelling, graded },
  require: [
    ({ all, any, none }) => (all ?? any ?? none) !== undefined,
    'at least one of all, any, none; say which terms matter',
  ],
  compile: ({ all = [], any = [], none = [], graded: partial, ...how }) => {
    const named = (wanted: readonly Term[]) =>
      wanted.map(each => ({ name: nameOf(each), find: finderOf(each, how) }))
    const [finders, anyFinders, noneFinders] = [named(all), named(any), named(none)]
    const parts = finders.length + (any.length > 0 ? 1 : 0) + noneFinders.length
    return response => {
      const folded = fold(response, how.caseSensitive)
      const missing = finders.filter(({ find }) => find(folded) < 0).map(each => each.name)
      if (anyFinders.length > 0 && anyFinders.every(({ find }) => find(folded) < 0))
        missing.push(`any of ${anyFinders.map(each => each.name).join(' / ')}`)
      for (const { name, find } of noneFinders) if (find(folded) >= 0) missing.push(`absence of ${name}`)
      return outcomeOfParts(parts - missing.length, parts, partial, missing)
    }
  },
})

const orderRule = defineRule({
  name: 'mention_order',
  about: 'Mentions each term, first mentions in this order.',
  params: { terms: z.array(term).min(2), ...spelling },
  compile: ({ terms: wanted, ...how }) => {
    const finders = wanted.map(each => finderOf(each, how))
    return response => {
      const folded = fold(response, how.caseSensitive)
      const places = finders.map(find => find(folded))
      const absent = places.indexOf(-1)
      if (absent >= 0) return { met: false, explanation: `missing: ${nameOf(wanted[absent])}` }
      const late = places.findIndex((place, index) => index > 0 && place < places[index - 1])
      return late < 0 || { met: false, explanation: `${nameOf(wanted[late])} comes too early` }
    }
  },
})

const countRule = defineRule({
  name: 'mention_count',
  about: 'Mentions at least and at most so many of some terms, each counted once.',
  params: { terms, ...band, ...spelling },
  require: [bandIsSensible, 'min or max, and min not above max; say how many of the terms there should be'],
  compile: ({ terms: wanted, min, max, ...how }) => {
    const finders = wanted.map(each => finderOf(each, how))
    return response => {
      const folded = fold(response, how.caseSensitive)
      const found = finders.filter(find => find(folded) >= 0).length
      return inBand(found, { min, max }, `of ${wanted.length} terms`)
    }
  },
})

const edgeRule = (name: 'starts_with' | 'ends_with', about: string) =>
  defineRule({
    name,
    about,
    params: { any: z.array(text).min(1), caseSensitive: spelling.caseSensitive },
    compile: ({ any, caseSensitive }) => {
      const wanted = any.map(each => fold(each, caseSensitive))
      return response => {
        const folded = fold(response, caseSensitive)
        return wanted.some(each => (name === 'starts_with' ? folded.startsWith(each) : folded.endsWith(each)))
      }
    },
  })

export const MENTION_RULES = [
  containsRule,
  orderRule,
  countRule,
  edgeRule('starts_with', 'Begins with one of some texts.'),
  edgeRule('ends_with', 'Ends with one of some texts.'),
]
