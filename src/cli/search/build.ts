/** @file `gradus search build FILES... --out INDEX`. */

import { buildIndex, buildSchema, readDocuments } from '../../search/index.ts'
import { UsageError } from '../../util/errors.ts'
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
  const given = {
    ...(maxChars !== undefined && { maxChars }),
    ...(k1 !== undefined && { k1 }),
    ...(b !== undefined && { b }),
  }
  const result = buildSchema.safeParse(given)
  if (result.success) return given
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
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort())
  const keys = { id: options.idKey, title: options.titleKey, text: options.textKey }
  const documents = readDocuments(files, keys, (path, why) =>
    io.err.write(`gradus: ${path}: left out: ${why}\n`),
  )
  const onPassages = (passages: number) => {
    if (!options.json && passages % TOLD_EVERY === 0) io.err.write(`${passages} passages\n`)
  }
  const startMs = performance.now()
  try {
    const built = await buildIndex(options.out, documents, settings, {
      onPassages,
      signal: stop.signal,
      from: files.join(', '),
    })
    const seconds = (performance.now() - startMs) / 1000
    if (options.json) printJson(io, { index: options.out, ...built, seconds })
    else
      io.out.write(
        `${options.out}: ${built.documents} documents, ${built.passages} passages, ${built.terms} different words, ${(built.bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s\n`,
      )
    return EXIT.ok
  } catch (error) {
    if (!stop.signal.aborted) throw error
    io.err.write('gradus: interrupted; no index was written\n')
    return EXIT.interrupted
  } finally {
    release()
  }
}
