/** @file Links of Markdown pages that lead to a file, for the test of the packed package. */

import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Paths, relative to the package, that a page links to; addresses and places in the page itself are left out. */
export const linkedFiles = (root: string, page: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target]) => target)
    .filter(target => !/^[a-z]+:/.test(target))
    .map(target => normalize(join(dirname(page), target)))
