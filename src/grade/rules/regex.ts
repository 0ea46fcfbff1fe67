/** @file The rule `regex`: a pattern is found, or found so many times. */

import { z } from 'zod'
import { BoundedRegex, MAX_PATTERN, RegexTimeout } from './bounded-regex.ts'
import { band, defineRule, inBand } from './rule.ts'

/** What is wrong with a pattern, or null. */
const patternFault = (source: string, flags: string): string | null => {
  try {
    new RegExp(source, flags)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const regexRule = defineRule({
  name: 'regex',
  about:
    'Matches a JavaScript regular expression; with min and max, so many times. A search that takes too long has no verdict.',
  params: {
    pattern: z.string().min(1).max(MAX_PATTERN),
    flags: z
      .string()
      .regex(/^(?!.*(.).*\1)[imsu]*$/, 'some of i, m, s, u, each once; leave out the others')
      .default('u'),
    /** The whole text must match, not a part of it. */
    whole: z.boolean().default(false),
    min: band.min,
    max: band.max,
  },
  require: [
    ({ pattern, flags }) => patternFault(pattern, flags) === null,
    'a pattern that JavaScript can read with these flags; try it in a console',
  ],
  compile: ({ pattern, flags, whole, min, max }) => {
    const regex = new BoundedRegex(whole ? `^(?:${pattern})$` : pattern, flags)
    const least = min ?? (max === undefined ? 1 : 0)
    const enough = max === undefined ? Math.max(1, least) : max + 1
    return text => {
      try {
        const found = regex.count(text, enough)
        return inBand(found, { min: least, max }, found === enough ? 'matches or more' : 'matches')
      } catch (error) {
        if (error instanceof RegexTimeout) return { met: null, explanation: error.message }
        throw error
      }
    }
  },
})

export const REGEX_RULES = [regexRule]
