/**
 * @file Names of files for names that clients chose. No two names share one, whatever the file system does with capitals, and
 * none can be taken for something else that lies beside it: an entry, a temporary file.
 */

import { createHash } from 'node:crypto'

/** Small letters and digits; a dot before a digit alone, so that nothing ends like a file's type. */
const PLAIN = /^[a-z0-9_][a-z0-9_-]*(?:\.[0-9][a-z0-9_-]*)*$/
const LONGEST_PLAIN = 100
const SHOWN = 40
const DIGITS = 24

/** A plain name is its own; of another one its letters, and a digest that tells it from all others. */
export const fileNameOf = (name: string): string => {
  if (PLAIN.test(name) && name.length <= LONGEST_PLAIN) return name
  const shown = name
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .slice(0, SHOWN)
  // No plain name begins like this.
  return `~${shown}~${createHash('sha256').update(name).digest('hex').slice(0, DIGITS)}`
}
