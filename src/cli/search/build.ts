/** @file `gradus search build FILES... --out INDEX`. */

import { buildIndex, buildSchema, type Hit, MAX_TOP, readDocuments, SearchIndex } from '../../search/index.ts'
import { UsageError } from '../../util/errors.ts'
import { unlessInterrupted } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface BuildOptions {
  out: string
  idKey: string
  titleKey: string
  textKey: string
  maxChars?: number
  k1?: number
  b?: number
  json?: boolean
}

const TOLD_EVERY = 100_000

const settingsOf = ({ maxChars, k1, b }: BuildOptions) => {
  const given = { maxChars, k1, b }
  const result = buildSchema.safeParse(given)
  if (result.success) return result.data
  const { path, message } = result.error.issues[0]
  const option = path[0] === 'maxChars' ? '--max-chars' : `--${String(path[0])}`
  throw new UsageError(`${option}: ${message}`)
}

/**
 * Builds an index and says what is in it. @returns the exit code
 * @throws UsageError for an option, DataError for a file that cannot be read or written
 */
export const searchBuild = async (
  files: readonly string[],
  options: BuildOptions,
  io: Io,
): Promise<number> => {
  const settings = settingsOf(options)
  const keys = { id: options.idKey, title: options.titleKey, text: options.textKey }
  const documents = readDocuments(files, keys, (path, why) =>
    io.err.write(`gradus: ${path}: left out: ${why}\n`),
  )
  const onPassages = (passages: number) => {
    if (!options.json && passages % TOLD_EVERY === 0) io.err.write(`${passages} passages\n`)
  }
  const startMs = performance.now()
  const { result: built } = await unlessInterrupted(io, signal =>
    buildIndex(options.out, documents, settings, { onPassages, signal, from: files.join(', ') }),
  )
  if (built === null) {
    io.err.write('gradus: interrupted; no index was written\n')
    return EXIT.interrupted
  }
  const seconds = (performance.now() - startMs) / 1000
  if (options.json) printJson(io, { index: options.out, ...built, seconds })
  else
    io.out.write(
      `${options.out}: ${built.documents} documents, ${built.passages} passages, ${built.terms} different words, ${(built.bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s\n`,
    )
  return EXIT.ok
}

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
