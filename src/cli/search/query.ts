/** @file `gradus search query INDEX "words"`. */

import { type Hit, MAX_TOP, SearchIndex } from '../../search/index.ts'
import { UsageError } from '../../util/errors.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface QueryOptions {
  top: number
  json?: boolean
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const shown = ({ id, title, snippet, score }: Hit, index: number): string =>
  `${index + 1}. [${oneLine(id)}]${title === undefined ? '' : ` ${oneLine(title)}`} (${score.toFixed(2)})\n   ${oneLine(snippet)}\n`

/** Prints the passages that match best. @returns the exit code @throws DataError for a file that is no index, or damaged */
export const searchQuery = (path: string, words: string, { top, json }: QueryOptions, io: Io): number => {
  if (top > MAX_TOP) throw new UsageError(`--top: expected at most ${MAX_TOP}, got ${top}`)
  if (words.trim() === '') throw new UsageError('words: expected something to look for, got nothing')
  const index = new SearchIndex(path)
  try {
    const hits = index.search(words, { top })
    if (json) printJson(io, { query: words, hits })
    else for (const [place, hit] of hits.entries()) io.out.write(shown(hit, place))
    if (hits.length === 0) io.err.write('gradus: no passage has any of these words\n')
    return EXIT.ok
  } finally {
    index.close()
  }
}
